"""T10 of the privacy design, for twins of counts: every mistake that we know of makes a check fail."""

import math
from fractions import Fraction

import pytest
from checks import check_fork, check_unseedable
from mutation import load_mutant
from twin_paths import check_twin_audit, totals_of

import privacy.twin.selection

ONE = 1_000_000
NOISED = "noised = [total + drawn for total, drawn in zip(totals, noise, strict=True)]"
ONE_SCALE = "return Fraction(self.rows * len(self.cells) * MICRO, self.micro_epsilon)"
PAIR_SCALE = "return Fraction(self.rows * self.wanted * MICRO, self.shares[2])"


def fails_the_audit(mutant, mechanism, others, person, *, size=500):
    """500 a side prove 2.7 at most: enough where the mistake gives all away at an epsilon of 1."""
    with pytest.raises(AssertionError, match="an attacker proves epsilon"):
        check_twin_audit(mechanism, others, person, size=size, modules=mutant)


def column_counts(mutant, cells=(3,), rows=1):
    return mutant.twin.ColumnCounts(cells, ONE, rows)


def patterns(mutant, epsilon=1, cells=(2, 2), rows=1):
    return mutant.twin.Patterns(cells, epsilon * ONE, rows, nominal_size=10**6)


# --- columns ------------------------------------------------------------------------------------------------


def test_no_noise():
    mutant = load_mutant("twin.column_counts", old=NOISED, new="noised = list(totals)")
    fails_the_audit(mutant, column_counts(mutant), [(0,)], [(1,)])


def test_a_tenth_of_the_noise():
    mutant = load_mutant("twin.column_counts", old=ONE_SCALE, new=ONE_SCALE.replace("MICRO,", "MICRO, 10 *"))
    fails_the_audit(mutant, column_counts(mutant), [(0,)], [(1,)])


def test_the_exact_number_of_rows():
    """As if a table had to add up: the first count makes the sum what len(data) says."""
    exact = NOISED + "\n    noised[0] += sum(totals[: cells[0]]) - sum(noised[: cells[0]])"
    mutant = load_mutant("twin.column_counts", old=NOISED, new=exact)
    with pytest.raises(AssertionError, match="an attacker proves epsilon"):
        # a histogram with one cell of nobody's data is the number of rows
        check_twin_audit(column_counts(mutant, (1, 2)), [(0, 0)], [(0, 1)], size=500, modules=mutant)


def test_a_domain_taken_from_the_data():
    """A category that one person has shows up with that person, whatever its count is noised to."""
    there = "noised = [total + drawn if total else 0 for total, drawn in zip(totals, noise, strict=True)]"
    mutant = load_mutant("twin.column_counts", old=NOISED, new=there)
    fails_the_audit(mutant, column_counts(mutant), [(0,)] * 30, [(2,)])


def test_columns_that_do_not_share_epsilon():
    mutant = load_mutant("twin.column_counts", old=ONE_SCALE, new=ONE_SCALE.replace("len(self.cells) * ", ""))
    # each of eight gets all of epsilon: 2.3 of 1, deviation 0.17
    fails_the_audit(mutant, column_counts(mutant, (2,) * 8), [(0,) * 8], [(1,) * 8], size=1_000)


def test_rows_per_person_forgotten():
    mutant = load_mutant("twin.column_counts", old=ONE_SCALE, new=ONE_SCALE.replace("self.rows * ", ""))
    fails_the_audit(mutant, column_counts(mutant, rows=4), [(0,)], [(1,)] * 4)


# --- pairs --------------------------------------------------------------------------------------------------


def test_pairs_without_noise():
    mutant = load_mutant("twin.patterns", old="(counts.ravel() + noise)", new="counts.ravel()")
    fails_the_audit(mutant, patterns(mutant), [(0, 0)] * 40, [(1, 1)])


def test_pairs_with_a_tenth_of_the_noise():
    mutant = load_mutant("twin.patterns", old=PAIR_SCALE, new=PAIR_SCALE.replace("MICRO,", "MICRO, 10 *"))
    fails_the_audit(mutant, patterns(mutant), [(0, 0)] * 40, [(1, 1)])


def test_pairs_that_do_not_share_epsilon():
    mutant = load_mutant("twin.patterns", old=PAIR_SCALE, new=PAIR_SCALE.replace("self.wanted * ", ""))
    of_four = patterns(mutant, 3, (2, 2, 2, 2))
    fails_the_audit(mutant, of_four, [(0, 0, 0, 0)] * 90, [(0, 0, 0, 0)], size=2_500)


def test_the_rows_of_a_person_forgotten_in_pairs():
    mutant = load_mutant("twin.patterns", old=PAIR_SCALE, new=PAIR_SCALE.replace("self.rows * ", ""))
    fails_the_audit(mutant, patterns(mutant, rows=8), [(0, 0)] * 40, [(1, 1)] * 8, size=1_500)


def test_cells_of_pairs_that_only_data_has():
    mutant = load_mutant(
        "twin.patterns", old="(counts.ravel() + noise)", new="(counts.ravel() + noise * (counts.ravel() > 0))"
    )
    fails_the_audit(mutant, patterns(mutant), [(0, 0)] * 40, [(1, 1)])


def test_every_step_takes_all_of_epsilon():
    mutant = load_mutant(
        "twin.patterns",
        old="return ones, choice, self.micro_epsilon - ones - choice",
        new="return self.micro_epsilon, self.micro_epsilon, self.micro_epsilon",
    )
    fails_the_audit(mutant, patterns(mutant, 2), [(0, 0)] * 40, [(1, 1)], size=4_000)


# --- the choice ---------------------------------------------------------------------------------------------


def check_choice(selection, *, size=4_000):
    """Two scores that one row turns over, at epsilon 1: neither may become e times as likely."""
    scale = Fraction(2)

    def share(scores):
        return sum(selection.noisy_best(scores, scale=scale) == 0 for _ in range(size)) / size

    above, below = share([6, 5]), share([5, 6])
    assert above <= math.e * below * 1.2, (
        f"a row makes a choice {above / max(below, 1e-9):.1f} times as likely"
    )


def test_the_choice_keeps_its_epsilon():
    check_choice(privacy.twin.selection)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("score + drawn for", "score for"),
        ("unbounded(check_scale(scale))", "unbounded(check_scale(scale / 10))"),
        ("score + drawn for", "score + noise[0].item() for"),
    ],
)
def test_a_choice_with_too_little_noise(old, new):
    mutant = load_mutant("twin.selection", old=old, new=new)
    with pytest.raises(AssertionError, match="a row makes a choice"):
        check_choice(mutant.twin_selection)


def test_scores_over_the_exact_total():
    """A row then moves what is expected of independent columns too: a score by more than one."""
    mutant = load_mutant(
        "twin.selection",
        old="    total = max(float(first.sum()), 1.0)\n",
        new="    total = float(counts.sum())\n    first, second = counts.sum(axis=1), counts.sum(axis=0)\n",
    )
    score = mutant.twin_selection.dependence
    np = mutant.twin_selection.np
    counts = np.array([[400, 3], [5, 60]])
    noisy = np.array([403.0, 65.0]), np.array([405.0, 63.0])
    moved = {
        abs(score(counts + extra, *noisy, noise=Fraction(0)) - score(counts, *noisy, noise=Fraction(0)))
        for extra in ([[1, 0], [0, 0]], [[0, 1], [0, 0]], [[0, 0], [1, 0]], [[0, 0], [0, 1]])
    }
    assert max(moved) > 1


def test_noise_that_a_seed_repeats():
    """The draws of rows in the place of noise."""
    mutant = load_mutant(
        "twin.column_counts",
        old="noise = sample(scale, sum(cells), keystream=keystream).tolist()",
        new="rng = __import__('numpy').random\n    noise = rng.laplace(0, float(scale), sum(cells)).round()"
        ".astype(int).tolist()",
    )
    mechanism = mutant.twin.ColumnCounts((9, 9), 1_000)
    totals = totals_of(mechanism, [(0, 0)] * 9)
    with pytest.raises(AssertionError, match="noise follows a seed"):
        check_unseedable(lambda: mechanism.release(totals).document())
    with pytest.raises(AssertionError, match="noise repeats after a fork"):
        check_fork(lambda: repr(mechanism.release(totals).document()).encode())

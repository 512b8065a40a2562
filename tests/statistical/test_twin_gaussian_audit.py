"""T1, T2 and T10 of the privacy design for twins with Gaussian noise: what is drawn, proven, and caught."""

import math

import numpy as np
import pytest
from checks import check_discrete_gaussian, check_fork, check_uncorrelated, check_unseedable
from gaussian_twin_checks import check_spent
from mutation import load_mutant
from twin_paths import REAL, check_twin_audit, totals_of

import privacy.twin
import privacy.twin.gaussian
import privacy.twin.gaussian_columns
import privacy.twin.gaussian_patterns
import privacy.twin.selection
from privacy.twin import GaussianColumns, GaussianLoss, GaussianPatterns

ONE = 1_000_000
DELTA = 10**9
WIDE = 10**16
"""A delta of .01: the largest, whose noise is narrow enough for an audit to have power."""

ROWS = [(0, 0, 0), (1, 1, 1)] * 300

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def columns(modules, cells=(3, 3, 3), epsilon=1, rows=1, delta=DELTA, parts=1):
    return modules.twin.GaussianColumns(cells, modules.twin.GaussianLoss(epsilon * ONE, delta, parts), rows)


def patterns(modules, cells=(3, 3, 3), epsilon=1, rows=1, delta=DELTA, parts=1, nominal_size=10**6):
    loss = modules.twin.GaussianLoss(epsilon * ONE, delta, parts)
    return modules.twin.GaussianPatterns(cells, loss, rows, nominal_size=nominal_size)


# --- what is spent ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [columns, patterns])
@pytest.mark.parametrize("epsilon", [1, 10, 30])
def test_draws_spend_the_promise_and_no_more(make, epsilon):
    for more in ({}, {"rows": 4}, {"parts": 3}, {"delta": WIDE}):
        assert 0.9 < check_spent(REAL, make(REAL, epsilon=epsilon, **more), ROWS) <= 1.0001


def test_a_tree_alone_spends_no_more_either():
    assert 0.99 < check_spent(REAL, patterns(REAL, nominal_size=10), ROWS) <= 1.0001


SHARES = "return ones, choice, whole - ones - choice"
HALF = ("twin.gaussian", "rows**2 / (2 * rho)", "rows**2 / (4 * rho)")
MUTANTS = [
    HALF,  # as if rho were twice as large
    ("twin.gaussian", "exact = tables * rows**2", "exact = rows**2"),
    ("twin.gaussian", "exact = tables * rows**2", "exact = tables * rows"),
    ("twin.gaussian", "(whole - _UNSPENT) // self.parts", "whole - _UNSPENT"),
    ("twin.gaussian", "square = 8 * rho / wanted", "square = 8 * rho"),
    ("twin.gaussian_patterns", SHARES, "return ones, choice, whole - ones"),
    ("twin.gaussian_patterns", SHARES, "return (whole,) * 3"),
    ("twin.gaussian_patterns", "variance_of(self.wanted, rows", "variance_of(1, rows"),
    ("twin.selection", "rate = epsilon / (2 * rows)", "rate = epsilon"),
    ("twin.gaussian_patterns", "(counts.ravel() + noise)", "counts.ravel()"),
]
"""Module, text, and the mistake that replaces it. The last one draws noise and does not add it."""


@pytest.mark.parametrize(("module", "old", "new"), MUTANTS[:-1])
def test_a_mistake_in_what_is_spent(module, old, new):
    mutant = load_mutant(module, old=old, new=new)
    with pytest.raises(AssertionError, match="over its share"):
        check_spent(mutant, patterns(mutant, rows=4, parts=3), ROWS)


def test_noise_of_twice_the_rho_is_noticed():
    """Of columns, too: what is spent can fail to be enough."""
    with pytest.MonkeyPatch.context() as patch:
        real = privacy.twin.gaussian_columns.variance_of
        patch.setattr(
            privacy.twin.gaussian_columns,
            "variance_of",
            lambda tables, *, rows, rho: real(tables, rows=rows, rho=2 * rho),
        )
        with pytest.raises(AssertionError, match="over its share"):
            check_spent(REAL, columns(REAL), ROWS)


# --- T2 -----------------------------------------------------------------------------------------------------


def test_patterns_prove_no_more_than_epsilon():
    """The person is the only one in two rare cells. Gaussian noise proves its epsilon only in tails that few
    releases reach."""
    mechanism = patterns(REAL, (2, 2), epsilon=8, delta=WIDE)
    assert check_twin_audit(mechanism, [(0, 0)] * 40, [(1, 1)], size=800) > 0.4


@pytest.mark.deep("more columns and epsilons of what one audit of patterns asks with every run")
@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("nominal_size", [200, 10**6])
def test_three_thousand_gaussian_twins_of_two_hundred_people(epsilon, nominal_size):
    """Three columns, the canary alone in a cell of each; a tree alone, and pairs beyond it."""
    people = [tuple(row) for row in np.random.default_rng(1).integers(0, 2, size=(200, 3)).tolist()]
    loss = GaussianLoss(epsilon * ONE, WIDE)
    mechanism = GaussianPatterns((3, 3, 3), loss, nominal_size=nominal_size)
    check_twin_audit(mechanism, people, [(2, 2, 2)])
    check_twin_audit(GaussianColumns((3, 3, 3), loss), people, [(2, 2, 2)])


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        MUTANTS[-1],
        (
            "twin.gaussian_columns",
            "noised = [total + drawn for total, drawn in zip(totals, noise, strict=True)]",
            "noised = list(totals)",
        ),
        (
            "twin.gaussian_columns",
            "noised = [total + drawn for total, drawn in zip(totals, noise, strict=True)]",
            "noised = [total + drawn if total else 0 for total, drawn in zip(totals, noise, strict=True)]",
        ),
        (
            "twin.gaussian_patterns",
            "(counts.ravel() + noise)",
            "(counts.ravel() + noise * (counts.ravel() > 0))",
        ),
    ],
)
def test_counts_without_noise(module, old, new):
    mutant = load_mutant(module, old=old, new=new)
    with pytest.raises(AssertionError, match="an attacker proves epsilon"):
        check_twin_audit(patterns(mutant, (2, 2)), [(0, 0)] * 200, [(1, 1)], size=500, modules=mutant)


# --- T1, T5 -------------------------------------------------------------------------------------------------


def test_noise_of_every_count_is_discrete_gaussian_of_the_stated_variance():
    mechanism = patterns(REAL, (2, 2))
    totals = totals_of(mechanism, [(0, 0), (0, 1), (1, 0), (1, 1)] * 5_000)
    counts = [mechanism.release(totals) for _ in range(400)]
    ones = np.array([count for each in counts for column in each.ones for count in column]) - 10_000
    pairs = np.array([count for each in counts for pair in each.pairs for count in pair.counts]) - 5_000
    parameters = mechanism.parameters()
    for noise, name in ((ones, "noise_variance"), (pairs, "pair_noise_variance")):
        check_discrete_gaussian(lambda _, noise=noise: noise, variance=int(parameters[name]), size=len(noise))
    check_uncorrelated(ones.reshape(-1, 2))
    check_uncorrelated(np.column_stack([ones.reshape(-1, 4)[:, 0], pairs.reshape(-1, 4)[:, 0]]))


def test_noise_follows_no_seed_and_no_fork():
    for mechanism in (columns(REAL, (9, 9)), patterns(REAL, (4, 4, 4))):
        totals = totals_of(mechanism, [(0,) * len(mechanism.cells)] * 100)

        def draw(mechanism=mechanism, totals=totals):
            return mechanism.release(totals).document()

        check_unseedable(draw)
        check_fork(lambda draw=draw: repr(draw()).encode()[:4_000])


# --- the choice ---------------------------------------------------------------------------------------------


def check_choice(selection, *, size=3_000):
    """Two scores that one row turns over, at rate 1/2: neither may become more than e times as likely."""

    def share(scores):
        rate = privacy.twin.selection.Fraction(1, 2)
        return sum(selection.exponential_best(scores, rate=rate) == 0 for _ in range(size)) / size

    above, below = share([6, 5]), share([5, 6])
    assert above <= math.e * below * 1.2, (
        f"a row makes a choice {above / max(below, 1e-9):.1f} times as likely"
    )


def test_the_choice_keeps_its_epsilon():
    check_choice(privacy.twin.selection)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("position = stream.below(len(scores))", "position = scores.index(most)"),
        ("behind = (most - scores[position]) * rate", "behind = (most - scores[position]) * rate * 10"),
    ],
)
def test_a_choice_with_too_little_chance(old, new):
    mutant = load_mutant("twin.selection", old=old, new=new)
    with pytest.raises(AssertionError, match="a row makes a choice"):
        check_choice(mutant.twin_selection)

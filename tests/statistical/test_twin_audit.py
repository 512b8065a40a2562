"""T1, T2 and T5 of the privacy design, on the whole release path of twins of counts."""

from fractions import Fraction

import numpy as np
import pytest
from checks import check_distribution, check_fork, check_uncorrelated, check_unseedable
from twin_paths import check_twin_audit, release_many, totals_of

from privacy.twin import ColumnCounts, Patterns

ONE = 1_000_000

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def patterns(cells, epsilon, rows=1, nominal_size=10**6):
    return Patterns(cells, epsilon * ONE, rows, nominal_size=nominal_size)


# --- T2 -----------------------------------------------------------------------------------------------------


def test_column_counts_prove_their_epsilon():
    """A person is in one cell of each column: only all columns together prove epsilon."""
    assert check_twin_audit(ColumnCounts((2, 2), 2 * ONE), [(0, 0)] * 5, [(1, 1)], size=2_000) > 0.6


def test_all_rows_that_a_person_may_have():
    assert check_twin_audit(ColumnCounts((3,), 2 * ONE, rows=4), [(0,)], [(1,)] * 4, size=2_000) > 0.6


def test_patterns_prove_no_more_than_epsilon():
    """The person is the only one in two rare cells."""
    assert check_twin_audit(patterns((2, 2), 4), [(0, 0)] * 40, [(1, 1)], size=1_500) > 0.8


# --- T1, T5 -------------------------------------------------------------------------------------------------


def test_noise_of_every_count_is_discrete_laplace_of_the_stated_scale():
    mechanism = patterns((2, 2), 1)
    totals = totals_of(mechanism, [(0, 0), (0, 1), (1, 0), (1, 1)] * 5_000)
    counts = [mechanism.release(totals) for _ in range(500)]
    columns = np.array([count for each in counts for column in each.ones for count in column]) - 10_000
    pairs = np.array([count for each in counts for pair in each.pairs for count in pair.counts]) - 5_000
    check_distribution(lambda _: columns, scale=Fraction(2, 1) / Fraction(45, 100), size=len(columns))
    check_distribution(lambda _: pairs, scale=Fraction(1, 1) / Fraction(45, 100), size=len(pairs))
    check_uncorrelated(columns.reshape(-1, 2))
    check_uncorrelated(np.column_stack([columns.reshape(-1, 4)[:, 0], pairs.reshape(-1, 4)[:, 0]]))


def test_noise_follows_no_seed_and_no_fork():
    for mechanism in (ColumnCounts((9, 9), 1_000), patterns((4, 4, 4), 1)):
        totals = totals_of(mechanism, [(0,) * len(mechanism.cells)] * 100)

        def draw(mechanism=mechanism, totals=totals):
            return mechanism.release(totals).document()

        check_unseedable(draw)
        check_fork(lambda draw=draw: repr(draw()).encode()[:4_000])


# --- T2, at length ------------------------------------------------------------------------------------------


@pytest.mark.deep("more columns and epsilons of what the three audits at the top ask")
@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("nominal_size", [200, 10**6])
def test_three_thousand_twins_of_two_hundred_people(epsilon, nominal_size):
    """Three columns, the canary alone in a cell of each; a tree alone, and pairs beyond it."""
    rng = np.random.default_rng(1)
    people = [tuple(row) for row in rng.integers(0, 2, size=(200, 3)).tolist()]
    mechanism = patterns((3, 3, 3), epsilon, nominal_size=nominal_size)
    check_twin_audit(mechanism, people, [(2, 2, 2)])
    check_twin_audit(ColumnCounts((3, 3, 3), epsilon * ONE), people, [(2, 2, 2)])


@pytest.mark.deep("other people and their rows, of whom the audit of patterns at the top has one")
@pytest.mark.parametrize(
    ("person", "others"),
    [
        ([(1, 1, 1)], [(0, 0, 0)] * 40),
        ([(1, 0, 1)], []),
        ([(0, 0, 0)] * 3, [(0, 1, 0)] * 20),
        ([(1, 1, 0), (0, 1, 1), (1, 0, 1)], [(0, 0, 0), (1, 1, 1)] * 10),
    ],
)
def test_one_person_of_patterns(person, others):
    bounds = [
        check_twin_audit(patterns((2, 2, 2), epsilon, len(person)), others, person, size=5_000)
        for epsilon in (2, 8)
    ]
    assert bounds[1] > 0.2, "the audit lost its power"


@pytest.mark.deep("test_twin_mutants asks the choice itself; this sees it through the release")
def test_which_pair_is_chosen_proves_no_more_than_its_share():
    """The choice alone, with all of the attention on it: two pairs that one person puts in order."""
    mechanism = patterns((2, 2, 2), 40, nominal_size=10)
    one, other = (
        totals_of(mechanism, rows)
        for rows in ([(0, 0, 0), (1, 1, 1)] * 3 + [(1, 1, 0)], [(0, 0, 0), (1, 1, 1)] * 3)
    )
    firsts = [
        np.mean([mechanism.release(each).pairs[0].columns == (0, 1) for _ in range(5_000)])
        for each in (one, other)
    ]
    share = mechanism.shares[1] / ONE / mechanism.wanted
    assert 0.05 < abs(np.log(firsts[0] / firsts[1])) <= share


def test_releases_are_numbers_of_one_shape():
    """Whatever was chosen: an audit compares like with like."""
    mechanism = patterns((2, 3, 2), 1, nominal_size=10)
    drawn = release_many(mechanism, totals_of(mechanism, []), 20)
    assert drawn.shape == (20, 7 + 3 + 6 + 4 + 6)

"""T1, T2, T3, T5 and T6 of the privacy design, on the whole release path of every kind of trusted query."""

from fractions import Fraction

import numpy as np
import pytest
from checks import (
    check_fork,
    check_fresh_noise,
    check_independent_outputs,
    check_no_fine_bits,
    check_small_noise,
    check_standard_laplace,
    check_uncorrelated,
    check_unseedable,
)
from epsilon_audit import LARGE
from length import at_length
from release_paths import drawn_in_batches
from trusted_paths import (
    NoisedSums,
    check_quantile_audit,
    check_query_audit,
    release_many,
    sums_of,
    totals_of,
)

import privacy.trusted.noisy_sums
from privacy.grid import OutputGrid
from privacy.trusted import (
    Count,
    Covariance,
    Groups,
    Histogram,
    LinearRegression,
    Mean,
    Quantile,
    Sum,
    Variance,
)
from privacy.trusted.quantile import CELL_BITS

GRID = OutputGrid.build(0, 1)
TOP, MIDDLE, BOTTOM = GRID.cells, GRID.cells // 2, 0
ONE = 1_000_000

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


# --- T2 -----------------------------------------------------------------------------------------------------


def test_count_proves_its_epsilon():
    assert check_query_audit(Count(ONE), [], [()]) > 0.5  # 0.75, deviation 0.04


def test_sum_proves_its_epsilon():
    assert check_query_audit(Sum(GRID, ONE), [], [[TOP]]) > 0.4  # 0.65, deviation 0.045


@pytest.mark.parametrize("edges", [1, 4])
def test_histogram_whatever_the_number_of_bins(edges):
    inner = tuple(GRID.cells * (edge + 1) // (edges + 1) for edge in range(edges))
    assert check_query_audit(Histogram(GRID, inner, ONE), [], [[TOP]]) > 0.5  # 0.75, deviation 0.04


@pytest.mark.parametrize("groups", [[0, 0], [0, 1]])
def test_two_rows_of_one_person_in_one_group_or_in_two(groups):
    """Rows in two groups cost what two rows in one do: their loss adds up."""
    query = Groups(Count(ONE, rows=2), groups=2)
    assert check_query_audit(query, [], [[group] for group in groups], size=LARGE) > 0.5


def test_all_rows_that_a_person_may_have():
    assert check_query_audit(Sum(GRID, ONE, rows=5), [], [[TOP]] * 5) > 0.4  # as a sum of one row


# These are slow to work out: the audit sees what they are worked out from, which says even more.


@pytest.mark.parametrize("units", [TOP, BOTTOM])
def test_mean(units):
    others = [[MIDDLE]] * 20
    # 0.67, deviation 0.05
    assert check_query_audit(NoisedSums(Mean(GRID, ONE)), others, [[units]], size=LARGE) > 0.38


# at epsilon 3, as one of five sums alone proves little of it
OF_SUMS = [
    (Variance(GRID, 3 * ONE), [[MIDDLE]] * 20, [[TOP]]),
    (Variance(GRID, 3 * ONE), [[MIDDLE]] * 20, [[MIDDLE]]),
    (Covariance((GRID, GRID), 3 * ONE), [[MIDDLE, MIDDLE]] * 20, [[TOP, TOP]]),
    (LinearRegression((GRID, GRID), 3 * ONE), [[BOTTOM, BOTTOM], [TOP, TOP]] * 10, [[TOP, BOTTOM]]),
]


@pytest.mark.parametrize(("query", "others", "person"), OF_SUMS)
def test_noised_sums_prove_no_more_than_epsilon(query, others, person):
    # 1.5 and more, deviation 0.16 at most
    assert check_query_audit(NoisedSums(query), others, person, size=LARGE) > 0.7


@pytest.mark.deep("says less than the two tests beside it, which together say it of every release")
@pytest.mark.parametrize(("query", "others", "person"), OF_SUMS)
def test_what_is_worked_out_from_noised_sums(query, others, person):
    check_query_audit(query, others, person, size=800)


@pytest.mark.parametrize(
    "query", [Mean(GRID, ONE), *(query for query, *_ in OF_SUMS[1:])], ids=lambda query: query.kind
)
def test_a_release_is_worked_out_from_noised_sums_alone(query, monkeypatch):
    """Whatever the exact sums were: with the same noised ones, the same release."""
    noised = tuple(1_000 * bound + 17 for bound in sums_of(query).bounds)
    monkeypatch.setattr("privacy.trusted.noisy_sums.NoisySums.release", lambda *_, **__: noised)
    releases = [query.release([amount] * query.width) for amount in (0, 5, -(10**9))]
    assert releases[0] == releases[1] == releases[2]


QUANTILE = Quantile(GRID, (Fraction(1, 2),), ONE)
LOW = TOP // 5
"""A heap with a fifth of the range below it, where the median is a fifth as likely as it can be."""


def test_the_cell_of_a_quantile():
    """One person more, at the top, and the middle rank moves across most of the range."""
    assert check_quantile_audit(QUANTILE, [LOW], [TOP]) > 0.15  # 0.43, deviation 0.05


def test_quantiles_are_worked_out_from_their_cells_alone(monkeypatch):
    """Whatever was counted: with the same cells drawn, the same release."""
    query = Quantile(GRID, (Fraction(1, 4), Fraction(1, 2)), ONE)
    drawn = iter([70, 3] * 2)
    monkeypatch.setattr(Quantile, "_draw", lambda *_, **__: next(drawn))
    releases = [query.release(totals_of(query, rows)) for rows in ([], [[LOW]] * 9)]
    assert releases[0] == releases[1]
    assert [output.value for output in releases[0]] == [GRID.value(cell << CELL_BITS) for cell in (3, 70)]


@pytest.mark.deep("says less than the two tests before it, which together say it of every release")
def test_quantile():
    check_query_audit(QUANTILE, [[LOW]], [[TOP]], size=400)


# --- T1, T3 -------------------------------------------------------------------------------------------------


def noise_of_sums(n):
    """In units of 1/epsilon = 1,000."""
    return release_many(Sum(GRID, 1_000), [], n)[:, 0] / 1_000


def noise_of_means(n):
    """Of a thousand people in the middle, in units of (R/2)/(epsilon/2)/1000."""
    return (release_many(Mean(GRID, ONE), [[MIDDLE]] * 1_000, n)[:, 0] - 0.5) * 1_000


def noise_of_squares(n):
    """The variance of a thousand people at the bounds is 1/4 and cannot be more: only that of less is
    whole."""
    query = Variance(GRID, ONE)
    apart = GRID.snap(0.5 + np.sqrt(1 / 8)), GRID.snap(0.5 - np.sqrt(1 / 8))
    rows = [[units] for units in apart] * 500
    # with (R/2)^2 = 1/4, the sum of squares has scale 3 * (1/4)/2 a thousand times over; the mean hardly adds
    return (release_many(query, rows, n)[:, 0] - 1 / 8) * 1_000 / (3 / 8)


@pytest.mark.parametrize("noise", [noise_of_sums, noise_of_means])
def test_noise_is_laplace_of_the_claimed_scale(noise):
    with drawn_in_batches(privacy.trusted.noisy_sums):
        check_standard_laplace(noise)
        check_small_noise(noise, scale=1.0)


def test_noise_of_the_variance():
    # two sums and a square of a third: about Laplace, by its mean magnitude and its small draws
    with drawn_in_batches(privacy.trusted.noisy_sums):
        drawn = noise_of_squares(at_length(2_000))
    assert 0.85 < np.abs(drawn).mean() < 1.2
    check_small_noise(lambda n: drawn[:n], scale=1.0)


def test_noise_of_every_bin():
    edges = (MIDDLE,)
    with drawn_in_batches(privacy.trusted.noisy_sums):
        drawn = release_many(Histogram(GRID, edges, 1_000), [], at_length(4_000))[:, :2] / 1_000
    for column in drawn.T:
        check_standard_laplace(lambda _, column=column: column)


# --- T5 -----------------------------------------------------------------------------------------------------


def test_noise_is_used_once():
    check_fresh_noise(noise_of_sums)


def test_groups_do_not_share_noise():
    query = Groups(Sum(GRID, 1_000), groups=2)
    with drawn_in_batches(privacy.trusted.noisy_sums):
        check_independent_outputs(lambda n: release_many(query, [], n)[:, :2])


def test_the_two_sums_of_a_mean_do_not_share_noise():
    query = Mean(GRID, ONE)
    rows = [[MIDDLE]] * 1_000

    def parts(n):
        drawn = release_many(query, rows, n)
        return np.column_stack([(drawn[:, 0] - 0.5) * drawn[:, 1], drawn[:, 1] - 1_000])

    with drawn_in_batches(privacy.trusted.noisy_sums):
        check_uncorrelated(parts(2_000))


@pytest.mark.parametrize(
    "query",
    [
        Sum(GRID, 1_000),
        Mean(GRID, 100_000),
        Quantile(GRID, (Fraction(1, 2),), 10_000),
        LinearRegression((GRID, GRID), ONE),
    ],
)
def test_noise_follows_no_seed_and_no_fork(query):
    totals = totals_of(query, [[MIDDLE] * len(query.grids)] * 100)

    def draw():
        # a quantile has 2^15 cells: two single releases are now and then the same
        return [output.value for _ in range(3) for output in query.release(totals)]

    check_unseedable(draw)
    check_fork(lambda: repr(draw()).encode())


# --- T6 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_fine_bits_never_occur(value):
    """The attack that hits a fifth of float releases (test_float_attacks)."""
    query = Sum(OutputGrid.build(-1, 2), ONE)
    with drawn_in_batches(privacy.trusted.noisy_sums):
        check_no_fine_bits(lambda n: release_many(query, [[query.grid.snap(value)]], n)[:, 0])

"""Where trusted queries begin to refuse, and the public constants that their numbers rest on."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from privacy.exponential import levels
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.trusted import Count, Covariance, Groups, Histogram, LinearRegression, Mean, Quantile
from privacy.trusted.noisy_sums import NoisySums
from privacy.trusted.query import MECHANISM, RELATION

MICRO = 10**6
UNIT, TEN = OutputGrid.build(-1, 1), OutputGrid.build(10, 20)
HALF = (Fraction(1, 2),)


class Silent(Keystream):
    """All ones: the noise is zero."""

    def words(self, n, dtype):
        fill = 0 if dtype is np.uint8 else np.iinfo(dtype).max
        return np.full(n, fill, dtype)


def without_noise(query, rows):
    contributions = [query.contribution(row) for row in rows]
    totals = [sum(added.get(place, 0) for added in contributions) for place in range(query.width)]
    return query.release(totals, keystream=Silent())


def test_what_the_certificate_says_of_every_query():
    assert (MECHANISM, RELATION) == ("trusted_query", "add or remove one privacy unit")


def test_the_largest_values_that_are_accepted():
    assert Count(micro_epsilon=MICRO, rows=1000).rows == 1000
    assert Groups(Count(micro_epsilon=MICRO), groups=1).width == 1
    assert Groups(Count(micro_epsilon=MICRO), groups=1000).width == 1000
    assert Covariance((UNIT,) * 16, micro_epsilon=100 * MICRO).width == 1 + 16 + 136
    twenty = tuple(Fraction(share, 21) for share in range(1, 21))
    assert len(Quantile(UNIT, twenty, micro_epsilon=10 * MICRO).steps) == 20
    assert Histogram(UNIT, edges=(1, UNIT.cells - 1), micro_epsilon=MICRO).width == 3
    assert Histogram(UNIT, edges=tuple(range(1, 1000)), micro_epsilon=MICRO).width == 1000


def test_one_more_is_refused():
    with pytest.raises(ValueError, match="2 to 16 columns"):
        Covariance((UNIT,) * 17, micro_epsilon=MICRO)
    with pytest.raises(ValueError, match="2 to 16 columns"):
        LinearRegression((UNIT,), micro_epsilon=MICRO)
    shares = tuple(Fraction(share, 22) for share in range(1, 22))
    with pytest.raises(ValueError, match="1 to 20 quantiles"):
        Quantile(UNIT, shares, micro_epsilon=10 * MICRO)
    for edges in [(0,), (UNIT.cells,), tuple(range(1, 1001)), ()]:
        with pytest.raises(ValueError, match="bins"):
            Histogram(UNIT, edges=edges, micro_epsilon=MICRO)


@pytest.mark.parametrize("micro_epsilon", [0, -1, 1.0])
def test_a_quantile_has_an_epsilon(micro_epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        Quantile(UNIT, HALF, micro_epsilon=micro_epsilon)


def test_sums_are_whole_numbers_every_one_of_them():
    with pytest.raises(ValueError, match="platform bug: the exact sums"):
        Mean(UNIT, micro_epsilon=MICRO).release([1, 2.0])


def test_the_widest_noise_of_a_sum():
    """2^48 units, whichever of the sums has them."""
    assert NoisySums((2**48,), rows=1, micro_epsilon=MICRO).scale(0) == 2**48
    for bounds in [(2**48 + 1,), (1, 2**48), (2**48, 1)]:
        with pytest.raises(ValueError, match="too wide for 64-bit integers"):
            NoisySums(bounds, rows=1, micro_epsilon=MICRO)


def test_the_longest_table_of_a_quantile():
    """At most 2^18 weights. A quantile n/D moves by max(n, D - n) for each row, here by 4 times 256."""
    fifth, both = (Fraction(1, 5),), (Fraction(1, 5), Fraction(1, 2))
    assert levels(Fraction(1_046_875, MICRO) / (2 * 4 * 256)) == 2**18
    assert Quantile(UNIT, fifth, micro_epsilon=1_046_875, rows=256).rows == 256
    assert Quantile(UNIT, both, micro_epsilon=2 * 1_046_875, rows=256).rows == 256
    for shares, micro_epsilon in [(fifth, 1_046_874), (both, 2 * 1_046_875 - 2)]:
        with pytest.raises(ValueError, match="too small for quantiles this fine"):
            Quantile(UNIT, shares, micro_epsilon=micro_epsilon, rows=256)


def test_columns_are_read_to_the_nearest_of_65537_values():
    query = Covariance((UNIT, TEN), micro_epsilon=MICRO)
    assert query.contribution([UNIT.cells, 0]) == {
        0: 1,
        1: 2**15,
        2: -(2**15),
        3: 2**30,
        4: -(2**30),
        5: 2**30,
    }
    for unit in range(0, TEN.cells, 104_729):
        nearest = floor(Fraction(2**16 * unit, TEN.cells) + Fraction(1, 2)) - 2**15
        assert query.contribution([0, unit])[2] == nearest


def test_one_person_is_divided_by_one():
    row = [UNIT.snap(0.5), TEN.snap(17.5)]
    *_, mean_x, mean_y, count = without_noise(Covariance((UNIT, TEN), micro_epsilon=MICRO), [row])
    assert (mean_x.value, mean_y.value, count.value) == (Fraction(1, 2), Fraction(35, 2), 1)


def test_a_variance_of_nothing_is_held_at_a_millionth_of_the_most():
    row = [UNIT.snap(0.5), TEN.snap(17.5)]
    *entries, _, _, _ = without_noise(Covariance((UNIT, TEN), micro_epsilon=MICRO), [row] * 10)
    assert [entry.value for entry in entries] == [Fraction(1, 2**20), 0, Fraction(25, 2**20)]


def test_a_singular_covariance_is_shrunk_by_a_sixty_fourth():
    """Two columns that are the same: of their covariance 63/64 is left, and of the variances all."""
    rows = [[UNIT.snap(value)] * 2 for value in (-0.9, -0.5, 0.25, 0.75)] * 100
    first, shared, second, *_ = without_noise(Covariance((UNIT, UNIT), micro_epsilon=MICRO), rows)
    assert first.value == second.value
    assert float(shared.value / first.value) == pytest.approx(63 / 64, abs=1e-6)


@pytest.mark.parametrize(
    ("query", "scale"),
    [
        (Covariance((UNIT, TEN), micro_epsilon=MICRO // 2), 12),
        (LinearRegression((UNIT, TEN), micro_epsilon=MICRO // 2), 10),
        (Mean(TEN, micro_epsilon=MICRO // 2), 4),
    ],
    ids=lambda case: getattr(case, "kind", ""),
)
def test_the_count_that_is_released_beside_states_its_own_noise(query, scale):
    row = [UNIT.middle, TEN.middle][-len(query.grids) :]
    count = without_noise(query, [row] * 500)[-1]
    assert (count.value, count.noise_scale) == (500, scale)

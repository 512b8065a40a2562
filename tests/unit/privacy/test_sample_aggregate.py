import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.discrete_gaussian import ceil_sqrt
from privacy.discrete_laplace import quantile
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.mechanism import NoisedOutput
from privacy.sample_aggregate import SampleAggregate

UNIT = OutputGrid.build(0, 1)
WIDE = OutputGrid.build(-3, 3)


class Silent(Keystream):
    """All ones: every bit of the noise fails, so the noise is zero. Lets a test see the arithmetic."""

    def words(self, n, dtype):
        fill = 0 if dtype is np.uint8 else np.iinfo(dtype).max
        return np.full(n, fill, dtype)


def make_aggregate(**overrides):
    return SampleAggregate(**{"grids": (UNIT, WIDE), "blocks": 4, "micro_epsilon": 1_000_000, **overrides})


def test_mean_without_noise_divides_by_the_fixed_number_of_blocks():
    aggregate = make_aggregate()
    blocks = [(UNIT.cells, WIDE.cells), (0, 0), None, None]
    unit, wide = aggregate.release(blocks, keystream=Silent())
    assert (unit.value, wide.value) == (Fraction(1, 2), 0)
    all_failed = aggregate.release([None] * 4, keystream=Silent())
    assert [output.value for output in all_failed] == [Fraction(1, 2), 0]


@given(st.lists(st.integers(0, UNIT.cells), min_size=2, max_size=9))
def test_value_is_the_exact_mean_rounded_to_the_grid(units):
    aggregate = make_aggregate(grids=(UNIT,), blocks=len(units))
    (output,) = aggregate.release([(unit,) for unit in units], keystream=Silent())
    assert output.value == UNIT.nearest(Fraction(sum(units), len(units)) * UNIT.step)
    assert (output.value / UNIT.step).denominator == 1


def test_scales_and_half_widths_are_in_natural_units():
    aggregate = make_aggregate()
    _, wide = aggregate.release([None] * 4)
    assert wide.noise_scale == Fraction(6 * 2, 4)
    units = quantile(Fraction(1, 20), aggregate.noise_scale(1))
    assert wide.half_width_95 == units * WIDE.step / 4 + WIDE.step / 2
    assert float(wide.half_width_95 / wide.noise_scale) == pytest.approx(2.9957, rel=1e-4)
    assert float(wide.half_width_99 / wide.noise_scale) == pytest.approx(4.6052, rel=1e-4)


def test_noise_may_leave_the_bounds():
    aggregate = make_aggregate(micro_epsilon=1_000)
    values = [aggregate.release([None] * 4)[0].value for _ in range(50)]
    assert min(values) < 0 < 1 < max(values)


RELEASE_REFUSES_MALFORMED_BLOCKS_WITHOUT_QUOTING_THEM = (
    [],
    [(0, 0)] * 3,
    [(0, 0)] * 5,
    [(0, 0)] * 3 + [(0,)],
    [(0, 0)] * 3 + [(0, 0, 0)],
    [(0, 0)] * 3 + [()],
    [(0, 0)] * 3 + [(-1, 0)],
    [(0, 0)] * 3 + [(0, WIDE.cells + 1)],
    [(0, 0)] * 3 + [(0.0, 0)],
    [(0, 0)] * 3 + [(True, 0)],
    [(0, 0)] * 3 + [(np.int64(123456), 0)],
    [(0, 0)] * 3 + [(None, 0)],
)


def test_release_refuses_malformed_blocks_without_quoting_them(subtests):
    for blocks in RELEASE_REFUSES_MALFORMED_BLOCKS_WITHOUT_QUOTING_THEM:
        with subtests.test(blocks=blocks):
            with pytest.raises(ValueError, match="platform bug") as refusal:
                make_aggregate().release(blocks)
            assert not re.search(r"\d", str(refusal.value))


def test_median_of_few_blocks_at_a_generous_epsilon():
    aggregate = make_aggregate(blocks=5, micro_epsilon=10**9, aggregator="median")
    unit, wide = aggregate.release([(7, 1), (900, 5), None, (500, 3), (400, 4)])
    # None is run 2, even, and counts as the lower bounds
    assert (unit.value, wide.value) == (UNIT.value(400), WIDE.value(3))
    assert unit == NoisedOutput(value=unit.value)


def test_failures_follow_the_outputs():
    aggregate = make_aggregate(count_failures=True, repeats=2)
    *outputs, failed = aggregate.release([None, (0, 0)] * 3 + [None] * 2, keystream=Silent())
    assert len(outputs) == 2
    assert failed.value == 5
    assert failed.noise_scale == 2 * 20
    assert failed.half_width_95 == quantile(Fraction(1, 20), Fraction(40))
    assert failed.half_width_99 == quantile(Fraction(1, 100), Fraction(40))
    wide = make_aggregate(count_failures=True, micro_epsilon=10_000).release([None] * 4)[-1]
    assert wide.half_width_99 == quantile(Fraction(1, 100), Fraction(2_000))


@pytest.mark.parametrize(
    "parameters", [{}, {"aggregator": "median"}, {"noise": "gaussian", "atto_delta": 10**12}]
)
def test_sampling_interval_is_as_wide_as_its_parts(parameters):
    """At a generous epsilon the quartiles are those of the blocks and only the blocks' spread is left."""
    aggregate = SampleAggregate(
        (UNIT,), blocks=101, micro_epsilon=10**9, interval="sampling", repeats=2, **parameters
    )
    (output,) = aggregate.release([(1_000 * block,) for block in range(101)] * 2)
    low, high = output.sampling_95
    assert low < output.value < high
    assert high - output.value == output.value - low
    spread = 50_000 / 1.349 / 101**0.5 * (1.2533 if parameters.get("aggregator") == "median" else 1)
    assert float((high - low) / 2 / UNIT.step) == pytest.approx(1.96 * spread, rel=0.05)


def test_noise_of_a_preview_is_in_units_of_the_sum():
    aggregate = make_aggregate(repeats=5)
    drawn = aggregate.draw_noise(1, 4_000, keystream=Keystream())
    assert np.abs(drawn).mean() == pytest.approx(float(aggregate.noise_scale(1)), rel=0.12)


@pytest.mark.parametrize("parameters", [{}, {"noise": "gaussian", "atto_delta": 10**12}, {"noise": "joint"}])
def test_sampling_interval_of_equal_runs_is_as_wide_as_bounds_allow(parameters):
    """Thirty equal outputs have equal quartiles at this epsilon, and halves of them could lie at both bounds:
    fifteen blocks with the mean 1/2 would then vary by 1/4."""
    aggregate = SampleAggregate(
        (UNIT,), blocks=15, micro_epsilon=200_000_000, interval="sampling", repeats=2, **parameters
    )
    (output,) = aggregate.release([(UNIT.middle,)] * 30)
    variance = aggregate.noises[0].variance / 30**2 + Fraction(UNIT.cells**2, 4 * 15)
    steps = ceil_sqrt(Fraction(196, 100) ** 2 * variance)
    assert output.sampling_95 == (output.value - steps * UNIT.step, output.value + steps * UNIT.step)

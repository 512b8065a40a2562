import dataclasses
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.discrete_laplace import _thresholds, quantile
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.loss import GuaranteeClass
from privacy.sample_aggregate import MAX_OUTPUTS, SampleAggregate

UNIT = OutputGrid.build(0, 1)
WIDE = OutputGrid.build(-3, 3)


class Silent(Keystream):
    """All ones: every bit of the noise fails, so the noise is zero. Lets a test see the arithmetic."""

    def words(self, n, dtype):
        fill = 0 if dtype is np.uint8 else np.iinfo(dtype).max
        return np.full(n, fill, dtype)


def make_aggregate(**overrides):
    return SampleAggregate(**{"grids": (UNIT, WIDE), "blocks": 4, "micro_epsilon": 1_000_000, **overrides})


def test_what_the_certificate_quotes():
    aggregate = make_aggregate()
    assert aggregate.guarantee is GuaranteeClass.PURE_DP
    assert (aggregate.mechanism, aggregate.aggregator) == ("sample_aggregate", "clipped_mean")
    assert aggregate.relation == "add or remove one privacy unit"


@given(st.integers(1, MAX_OUTPUTS), st.integers(1_000, 10**9))
def test_losses_of_all_outputs_sum_to_exactly_epsilon(outputs, micro_epsilon):
    aggregate = make_aggregate(grids=(WIDE,) * outputs, micro_epsilon=micro_epsilon)
    losses = [grid.cells / aggregate.noise_scale(k) for k, grid in enumerate(aggregate.grids)]
    assert sum(losses) == Fraction(micro_epsilon, 10**6)
    _thresholds(aggregate.noise_scale(0))  # every admissible scale can be drawn


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


def test_default_block_is_the_middle():
    assert make_aggregate().default_block() == (2**19, WIDE.cells // 2)


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


@pytest.mark.parametrize(
    "blocks",
    [
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
    ],
)
def test_release_refuses_malformed_blocks_without_quoting_them(blocks):
    with pytest.raises(ValueError, match="platform bug") as refusal:
        make_aggregate().release(blocks)
    assert not re.search(r"\d", str(refusal.value))


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ({"grids": ()}, "1 to 20"),
        ({"grids": (UNIT,) * 21}, "1 to 20"),
        ({"blocks": 1}, "from 2"),
        ({"blocks": 1_000_001}, "from 2"),
        ({"blocks": 2.0}, "from 2"),
        ({"micro_epsilon": 0}, "above zero"),
        ({"micro_epsilon": -1_000_000}, "above zero"),
        ({"micro_epsilon": 999}, "0.001"),
        ({"micro_epsilon": 1.0}, "integer"),
        ({"micro_epsilon": True}, "integer"),
    ],
)
def test_parameters_are_refused(overrides, reason):
    with pytest.raises(ValueError, match=reason):
        make_aggregate(**overrides)


def test_aggregate_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make_aggregate().blocks = 3

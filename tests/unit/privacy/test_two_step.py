"""A mean in two steps: its windows, what it releases, what it costs, and where it is worth it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privacy.cost import Cost, Currency
from privacy.grid import OutputGrid
from privacy.loss import GuaranteeClass
from privacy.sample_aggregate import SampleAggregate
from privacy.two_step import FIRST_SHARE, TwoStepMean, window_grid, wins

WIDE = OutputGrid.build(0, 1000)
OTHER = OutputGrid.build(-5, 3)
PEOPLE = 200


def two_step(**changed: Any) -> TwoStepMean:
    fields: dict[str, Any] = {
        "grids": (WIDE, OTHER), "blocks": PEOPLE, "micro_epsilon": 4_000_000, "spread_ratios": (100, 80),
        "people": PEOPLE,
    }  # fmt: skip
    return TwoStepMean(**{**fields, **changed})


def people(centre: float = 300) -> list[tuple[int, ...] | None]:
    """Blocks that spread by a hundredth of the range around a centre."""
    numbers = np.random.default_rng(5)
    first, second = numbers.normal(centre, 10, PEOPLE), numbers.normal(1, 0.1, PEOPLE)
    return [(WIDE.snap(float(a)), OTHER.snap(float(b))) for a, b in zip(first, second, strict=True)]


def test_a_window_has_room_for_the_noise_of_step_one_and_four_spreads() -> None:
    found = two_step(noise="laplace")
    noise = found.first.noises[0]
    assert noise is not None
    half = Fraction(noise.half_width(Fraction(1, 100)), PEOPLE) + 1
    assert 0 <= found.widths[0] - 2 * (half + 4 * Fraction(WIDE.cells, 100)) < 2
    assert found.first.micro_epsilon == 4_000_000 * FIRST_SHARE
    assert found.first.micro_epsilon + found.narrowed.micro_epsilon == 4_000_000


def test_both_steps_are_of_the_same_runs() -> None:
    """What one forgot its noise would not cover, or it would look at other people than the other."""
    asked = {"blocks": 100, "repeats": 3, "noise": "laplace", "weights": (2, 1), "people": PEOPLE + 7}
    found = two_step(**asked)
    for step in (found.first, found.narrowed, found.second((5, 9))):
        assert {name: getattr(step, name) for name in asked} == asked
        assert step.plan == found.plan
    with pytest.raises(ValueError, match="number of run outputs"):
        found.release(people()[:299])


def test_a_window_lies_around_the_first_release_within_the_bounds() -> None:
    found = two_step()
    middle = found.starts([Fraction(300), Fraction(0)])
    ends = [
        (float(grid.value(start)), float(grid.value(start + width)))
        for grid, start, width in zip(found.grids, middle, found.widths, strict=True)
    ]
    assert [sum(pair) / 2 for pair in ends] == pytest.approx([300, 0], abs=0.01)
    assert found.starts([Fraction(-900), Fraction(900)]) == (0, OTHER.cells - found.widths[1])


def test_wherever_a_window_lies_its_grid_divides_the_others_step() -> None:
    for width in (2, 1000, 2**19 + 1, 2**20 - 1, 2**20, WIDE.cells - 1):
        steps = {window_grid(WIDE, start, width).step for start in (0, 1, (WIDE.cells - width) // 2)}
        (step,) = steps
        assert (WIDE.step / step).denominator == 1
        found = window_grid(WIDE, 1, width)
        assert found.lower == WIDE.value(1)
        assert found.cells * found.step == width * WIDE.step


@pytest.mark.parametrize("noise", ["laplace", "joint"])
def test_the_values_are_means_within_released_windows(noise: str) -> None:
    found = two_step(noise=noise, micro_epsilon=900_000_000, spread_ratios=(1000, 80), count_failures=True)
    runs = people()
    runs[3] = None
    released = found.release(runs)
    assert len(released) == 2 + len(found.diagnostics) == 5
    assert found.diagnostics == ("failed_runs", "first_step_1", "first_step_2")
    start = found.starts([each.value for each in released[3:]])[0]
    # a tenth of the people lie outside of four thousandths around the middle, and are clipped
    filled = [start + found.widths[0] // 2 if run is None else run[0] for run in runs]
    clipped = [min(max(units, start), start + found.widths[0]) for units in filled]
    assert sum(a != b for a, b in zip(filled, clipped, strict=True)) > 20
    mean = WIDE.value(Fraction(sum(clipped), PEOPLE))
    half = released[0].half_width_99
    assert half is not None
    assert abs(released[0].value - mean) <= 3 * half
    assert half < 0.2
    assert released[2].value == pytest.approx(1, abs=0.5)


def test_both_steps_cost_what_was_asked_together() -> None:
    found = two_step()
    assert found.guarantee is GuaranteeClass.PURE_DP
    assert found.cost == Cost.of({Currency.EPSILON: 4_000_000})
    assert found.pico_rho == found.first.pico_rho + found.narrowed.pico_rho
    assert found.pico_rho < 8 * 10**12
    facts = found.parameters()
    assert facts["aggregators"] == ["two_step", "two_step"]
    assert facts["windows"] == list(found.widths)
    assert found.default(3) == (WIDE.middle, OTHER.middle)
    assert (found.resolved_noise, found.plan) == ("joint", found.first.plan)


REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"spread_ratios": (6, 80)}, "narrow enough"),
    ({"spread_ratios": (80,)}, "one entry of at least 1 per output"),
    ({"spread_ratios": (80, Fraction(1, 2))}, "one entry of at least 1 per output"),
    ({"grids": (), "spread_ratios": ()}, "for 1 to 20 outputs"),
    ({"micro_epsilon": 0}, "epsilon"),
    ({"blocks": 1, "people": 1}, "number of blocks"),
)


def test_what_makes_no_sense_is_refused(subtests: pytest.Subtests) -> None:
    for changed, words in REFUSED:
        with subtests.test(words), pytest.raises(ValueError, match=words):
            two_step(**changed)


def test_two_steps_win_where_bounds_are_wide_and_only_there() -> None:
    verdicts = {}
    for ratio in (30, 100, 1000):
        for aggregator in ("clipped_mean", "median"):
            found = TwoStepMean((WIDE,), 60, 2_000_000, spread_ratios=(ratio,), people=60)
            other = SampleAggregate((WIDE,), 60, 2_000_000, aggregator=aggregator, people=60)  # type: ignore[arg-type]
            verdicts[ratio, aggregator] = wins(found, other)
    assert verdicts[100, "clipped_mean"]
    assert verdicts[1000, "clipped_mean"]
    assert not verdicts[1000, "median"]
    many = TwoStepMean((WIDE,), 100_000, 2_000_000, spread_ratios=(30,), people=100_000)
    # so many people that noise is little beside the spread
    assert not wins(many, SampleAggregate((WIDE,), 100_000, 2_000_000, people=100_000))

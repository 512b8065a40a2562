"""The forecast of what follows from drawn means is that of releases of the same people."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privacy.grid import OutputGrid
from privacy.people import Part, Released, computed
from privacy.preview import TwinAnswers, forecast, forecast_interval
from privacy.preview.results import Wanted, forecast_results
from privacy.sample_aggregate import SampleAggregate

PEOPLE = 150
GRIDS = tuple(
    OutputGrid.build(*bounds) for bounds in ((0, 10), (0, 4), (-10, 10), (0, 25), (0, 4), (0, 10), (0, 10))
)
ABSENT = (GRIDS[0].middle, GRIDS[1].middle, GRIDS[2].middle, 0, 0)
PARTS = (
    *(Part(is_mean=True, absent=absent) for absent in ABSENT),
    Part(quantile=Fraction(1, 4)),
    Part(),
)
CENTRES = (Fraction(5), Fraction(2))
WANTED = (
    Wanted("total", (0,)), Wanted("covariance", (0, 1, 2), CENTRES),
    Wanted("correlation", (0, 1, 2, 3, 4), CENTRES),
)  # fmt: skip


def twin(*, spread: float = 1.0) -> TwinAnswers:
    numbers = np.random.default_rng(3)
    x = np.clip(numbers.normal(5, 2, PEOPLE), 0, 10)
    y = np.clip(2 + spread * (x - 5) / 4 + spread * numbers.normal(0, 0.4, PEOPLE), 0, 4)
    columns = (x, y, (x - 5) * (y - 2), (x - 5) ** 2, (y - 2) ** 2, x, x)
    runs = [
        tuple(grid.snap(float(cell)) for grid, cell in zip(GRIDS, row, strict=True))
        for row in zip(*columns, strict=True)
    ]
    means = [float(np.mean(column)) for column in columns]
    means[5] = float(np.quantile(x, 0.25))
    return TwinAnswers(numbers=tuple(means), blocks={1: (*runs[:-1], None)})


def asked(noise: str) -> SampleAggregate:
    return SampleAggregate(
        GRIDS, PEOPLE, 20_000_000, noise=noise, people=PEOPLE, parts=PARTS  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize("noise", ["laplace", "joint"])
def test_its_noise_is_that_of_releases(noise: str) -> None:
    mechanism, answers = asked(noise), twin()
    found = forecast_results(mechanism, WANTED, twin=answers, nominal_size=PEOPLE, replays=400)
    assert [round(row.on_twin, 6) for row in found[:1]] == [round(PEOPLE * answers.numbers[0], 6)]
    runs = answers.blocks[1]
    errors = []
    for _ in range(150):
        released = [
            Released(each.value, each.half_width_99 or Fraction(0)) for each in mechanism.release(runs)
        ]
        value = computed("covariance", released[:3], people=PEOPLE, centres=CENTRES).value
        errors.append(abs((value or 0) - found[1].on_twin))
    noised = float(np.quantile(errors, 0.95))
    assert noised <= found[1].error.within_95 * 1.3
    assert found[1].without_noise_95 < found[1].error.within_95
    assert found[2].on_twin == pytest.approx(0.78, abs=0.1)
    assert found[2].open_share == 0


def test_fewer_runs_than_people_are_moved_to_agree_with_the_whole() -> None:
    whole = twin()
    part = TwinAnswers(numbers=whole.numbers, blocks={1: whole.blocks[1][:60]})
    (row,) = forecast_results(asked("joint"), WANTED[1:2], twin=part, nominal_size=PEOPLE, replays=200)
    assert row.on_twin == pytest.approx(
        whole.numbers[2] - (whole.numbers[0] - 5) * (whole.numbers[1] - 2), abs=1e-9
    )


def test_noise_that_hides_the_spread_leaves_a_correlation_open() -> None:
    mechanism = SampleAggregate(GRIDS, PEOPLE, 200_000, noise="joint", people=PEOPLE, parts=PARTS)
    (row,) = forecast_results(mechanism, WANTED[2:], twin=twin(), nominal_size=PEOPLE, replays=200)
    assert row.open_share > 0.2
    with pytest.raises(ValueError, match="the same for everybody"):
        forecast_results(mechanism, WANTED[2:], twin=twin(spread=0), nominal_size=PEOPLE)


def test_a_quantile_is_replayed_at_its_own_rank() -> None:
    rows = forecast(
        asked("joint"), twin=twin(), nominal_size=PEOPLE, block_sizes=(1,), epsilons=(20_000_000,),
        aggregators=("clipped_mean",), replays=300,
    )  # fmt: skip
    assert rows[5].noise is None
    assert rows[5].error.within_95 < 1
    assert abs(rows[5].error.bias) < 0.2
    with pytest.raises(ValueError, match="is for means and medians"):
        forecast_interval(asked("joint"), twin=twin(), block_size=1, nominal_size=PEOPLE)

"""Error to expect of a correlation over people that is made of two means, from both columns on a twin.

Must never be given original data.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import StatisticsError, correlation, fmean, pstdev

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.people import SQUARES_MOST, Part, square
from privacy.preview.forecast import REPLAYS, Errors
from privacy.preview.results import Wanted, forecast_results
from privacy.preview.twin import TwinAnswers
from privacy.sample_aggregate import SampleAggregate

_DIGITS = 3
"""Of centres and spreads: what somebody would type."""


@dataclass(frozen=True)
class TwoMeans:
    """Centres and spreads as on the twin, and what the release says with them: both errors are those from
    `on_twin`, the plain correlation of the whole twin."""

    centres: tuple[float, float]
    spreads: tuple[float, float]
    on_twin: float
    error: Errors
    without_noise_95: float


def beside_luck(*each: tuple[Errors, float]) -> tuple[float, ...]:
    """Root mean square errors, each given with its 95 % error without noise, beside the luck of who is in the
    data, which they share: in squares, less the least without noise. What is below a quarter of that is not
    told apart."""
    common = min((quiet / 1.96) ** 2 for _, quiet in each)
    return tuple(math.sqrt(max(error.root_mean_square**2 - common, common / 16)) for error, _ in each)


def plain_correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """None where a column does not vary, or there are not two people."""
    try:
        return correlation(x, y)
    except StatisticsError:
        return None


def forecast_two_means(
    asked: SampleAggregate,
    x: Sequence[float],
    y: Sequence[float],
    *,
    without: Collection[int],
    nominal_size: int,
    replays: int = REPLAYS,
    keystream: Keystream | None = None,
) -> TwoMeans | None:
    """Of a release like `asked` that draws two means over people in place of the outputs `without`, at the
    same epsilon; None where a column does not vary, and where there are weights or a clip norm, of which
    nobody can say what they would be."""
    truth = plain_correlation(x, y)
    if truth is None or asked.weights is not None or asked.clip_norm is not None:
        return None
    centres, spreads = (fmean(x), fmean(y)), (pstdev(x), pstdev(y))
    centres, spreads = _typed(centres), _typed(spreads)
    release = _with_two_means(asked, without, nominal_size)
    *others, grid, _ = release.grids
    runs = tuple((0,) * len(others) + pair for pair in _squares(x, y, centres, spreads, grid))
    means = [float(grid.step) * fmean(run[place] for run in runs) for place in (-2, -1)]
    parts = (len(others), len(others) + 1)
    (row,) = forecast_results(
        release,
        [Wanted("correlation of squares", parts, truth=truth)],
        twin=TwinAnswers(numbers=(*(float(other.lower) for other in others), *means), blocks={1: runs}),
        nominal_size=nominal_size,
        replays=replays,
        keystream=keystream,
    )
    return TwoMeans(centres, spreads, truth, row.error, row.without_noise_95)


def _with_two_means(asked: SampleAggregate, without: Collection[int], people: int) -> SampleAggregate:
    kept = [place for place in range(len(asked.grids)) if place not in without]
    parts = asked.parts or (Part(),) * len(asked.grids)
    grid = OutputGrid.build(0, SQUARES_MOST)
    return replace(
        asked,
        grids=(*(asked.grids[place] for place in kept), grid, grid),
        parts=(*(parts[place] for place in kept), *(Part(is_mean=True, absent=0),) * 2),
        blocks=people,
        people=people,
    )


def _squares(
    x: Sequence[float],
    y: Sequence[float],
    centres: tuple[float, float],
    spreads: tuple[float, float],
    grid: OutputGrid,
) -> list[tuple[int, int]]:
    found = []
    for a, b in zip(x, y, strict=True):
        u, v = (a - centres[0]) / spreads[0], (b - centres[1]) / spreads[1]
        found.append((grid.snap(square(u, v)), grid.snap(square(u, -v))))
    return found


def _typed(pair: tuple[float, float]) -> tuple[float, float]:
    return float(f"{pair[0]:.{_DIGITS}g}"), float(f"{pair[1]:.{_DIGITS}g}")

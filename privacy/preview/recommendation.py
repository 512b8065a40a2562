"""Which epsilon, block size and aggregator to take, in words, from the forecasts alone.

The rule, in order. (1) At each epsilon the best choice is the one with the smallest error, all outputs taken
together, among those that meet what is wanted if any do, and of whose runs nine in ten succeed on the twin
if any do. Within a tenth of it the plainer choice wins: one that really ran on the twin, a mean, large
blocks, which are fewer runs; but of means what one has beside the luck of who is in the data must be within
a tenth too. (2) The epsilon is the smallest that meets what is wanted; or, if nothing is said, the smallest
at which the noise no longer matters much: it makes the error at most twice what no epsilon could lower.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from privacy.grid import OutputGrid
from privacy.loss import format_epsilon
from privacy.preview.forecast import Choice, Forecast
from privacy.preview.warnings import warnings_about

NOISE_MATTERS = 2.0
"""Error with noise over error without, up to which noise is not the trouble."""

SMALL_ENOUGH = 0.01
"""Share of the declared range below which an error is small, whatever it comes from."""

_PLAINER = 1.1
_FAILURES = 0.1
"""Share of the twin's blocks that may fail; what that does to the error is in the error."""


@dataclass(frozen=True)
class Recommendation:
    """`reached` says whether the choice does what was wanted; `reasons` are sentences for a person."""

    choice: Choice
    reached: bool
    reasons: tuple[str, ...]


def recommend(
    forecasts: Sequence[Forecast],
    *,
    grids: Sequence[OutputGrid],
    names: Sequence[str],
    wanted: Mapping[int, float] | None = None,
) -> Recommendation:
    """The choice to take among the forecasts, and why. `wanted` holds errors by output, 95 times in 100."""
    by_choice = _by_choice(forecasts)
    steps = [
        _best([rows for choice, rows in by_choice.items() if choice.micro_epsilon == micro], grids, wanted)
        for micro in sorted({choice.micro_epsilon for choice in by_choice})
    ]
    good = [rows for rows in steps if _is_enough(rows, grids, wanted)]
    taken = good[0] if good else steps[-1]
    reasons = (
        _why_epsilon(taken, steps, names, grids, wanted, reached=bool(good)),
        *_why_blocks(taken, by_choice, grids),
        *warnings_about(taken, names=names),
    )
    return Recommendation(taken[0].choice, bool(good), reasons)


def _by_choice(forecasts: Sequence[Forecast]) -> dict[Choice, list[Forecast]]:
    found: dict[Choice, list[Forecast]] = {}
    for row in forecasts:
        found.setdefault(row.choice, []).append(row)
    return found


def size_of_error(rows: Sequence[Forecast], grids: Sequence[OutputGrid]) -> float:
    """Geometric mean over outputs of the 95 % error, each in its own declared range.

    A median of too few blocks may be good 95 times in 100 and anywhere in the range the other 5: such tails
    show in the root mean square, 1.96 of which a bell-shaped error would stay within.
    """
    return _geometric_mean(
        max(row.error.within_95, 1.96 * row.error.root_mean_square) / _width(grids[row.output])
        for row in rows
    )


def _best(
    candidates: Sequence[list[Forecast]], grids: Sequence[OutputGrid], wanted: Mapping[int, float] | None
) -> list[Forecast]:
    if wanted:
        candidates = [rows for rows in candidates if _is_enough(rows, grids, wanted)] or candidates
    candidates = [rows for rows in candidates if rows[0].failed_share <= _FAILURES] or candidates
    smallest = min(size_of_error(rows, grids) for rows in candidates)
    close = [rows for rows in candidates if size_of_error(rows, grids) <= _PLAINER * smallest]
    return min(_beside_luck(close, grids), key=_plainness)


def _beside_luck(close: Sequence[list[Forecast]], grids: Sequence[OutputGrid]) -> Sequence[list[Forecast]]:
    """Of means that ran and are about as good, those that still are without what they have in common.

    Who is in the data is luck that all choices share. Where it is most of the error it hides what a choice
    adds: noise, bias, the luck of its partition. Left out is, in squares, the least error without noise among
    them. What is then below a quarter of that adds 3 % to the whole and is not told apart.
    """
    means = [rows for rows in close if all(_is_mean_that_ran(row) for row in rows)]
    if not means:
        return close
    squares = [[_squares(row) for row in rows] for rows in means]
    luck = [min(own[place][1] for own in squares) for place in range(len(means[0]))]
    left = [
        _geometric_mean(
            math.sqrt(max(whole - common, common / 16)) / _width(grids[row.output])
            for row, (whole, _), common in zip(rows, own, luck, strict=True)
        )
        for rows, own in zip(means, squares, strict=True)
    ]
    return [rows for rows, own in zip(means, left, strict=True) if own <= _PLAINER * min(left)]


def _is_mean_that_ran(row: Forecast) -> bool:
    return row.formula is not None and row.noise is not None and row.extrapolated_from is None


def _squares(row: Forecast) -> tuple[float, float]:
    """Of the error, and of what it is without noise: closed forms, which no replay blurs."""
    assert row.formula is not None
    assert row.noise is not None
    return row.formula**2, max(row.formula**2 - row.noise.standard_deviation**2, 0.0)


def _plainness(rows: Sequence[Forecast]) -> tuple[bool, bool, int]:
    row = rows[0]
    return (
        row.extrapolated_from is not None,
        row.choice.aggregator == "median",
        -row.choice.block_size,
    )


def _is_enough(
    rows: Sequence[Forecast], grids: Sequence[OutputGrid], wanted: Mapping[int, float] | None
) -> bool:
    if wanted:
        return all(rows[output].error.within_95 <= error for output, error in wanted.items())
    return size_of_error(rows, grids) <= NOISE_MATTERS * _floor(rows, grids)


def _floor(rows: Sequence[Forecast], grids: Sequence[OutputGrid]) -> float:
    return _geometric_mean(
        max(row.without_noise_95 / _width(grids[row.output]), SMALL_ENOUGH / NOISE_MATTERS) for row in rows
    )


# --- words ----------------------------------------------------------------------------------------------


def _why_epsilon(
    taken: Sequence[Forecast],
    steps: Sequence[Sequence[Forecast]],
    names: Sequence[str],
    grids: Sequence[OutputGrid],
    wanted: Mapping[int, float] | None,
    *,
    reached: bool,
) -> str:
    epsilon = format_epsilon(taken[0].choice.micro_epsilon)
    if wanted:
        stated = ", ".join(
            f"{names[output]} within {taken[output].error.within_95:.3g} (wanted {error:.3g})"
            for output, error in wanted.items()
        )
        if reached:
            return f"Epsilon {epsilon}: the smallest of the ladder with {stated}, 95 times in 100."
        return f"No epsilon of the ladder is enough: {epsilon} gives {stated}, 95 times in 100."
    ratio = size_of_error(taken, grids) / _floor(taken, grids)
    if not reached:
        return (
            f"Epsilon {epsilon}, the largest of the ladder, is too little: noise makes the error {ratio:.1f} "
            "times what is left without it. Declare narrower bounds, fewer values or smaller blocks first."
        )
    return f"Epsilon {epsilon}: the error is {ratio:.1f} times what is left without any noise." + "".join(
        f" Epsilon {format_epsilon(rows[0].choice.micro_epsilon)} would give "
        f"{size_of_error(rows, grids) / size_of_error(taken, grids):.2f} of it."
        for rows in steps[steps.index(taken) + 1 :][:1]
    )


def _why_blocks(
    taken: Sequence[Forecast], by_choice: Mapping[Choice, Sequence[Forecast]], grids: Sequence[OutputGrid]
) -> list[str]:
    choice = taken[0].choice
    own = size_of_error(taken, grids)
    others = [
        f"{_named(other)} {size_of_error(rows, grids) / own:.2f}"
        for other, rows in by_choice.items()
        if other.micro_epsilon == choice.micro_epsilon and other != choice
    ]
    compared = f" Error at the same epsilon, times this one's: {'; '.join(others)}." if others else ""
    return [f"{_named(choice).capitalize()}.{compared}"]


def _named(choice: Choice) -> str:
    kind = "median" if choice.aggregator == "median" else "mean"
    return f"{kind} over blocks of {choice.block_size}"


def _width(grid: OutputGrid) -> float:
    return float(grid.upper - grid.lower)


def _geometric_mean(shares: Iterable[float]) -> float:
    # nothing is exactly without error: one step of a grid is about 10^-6 of its range
    return math.exp(fmean(math.log(max(share, 1e-6)) for share in shares))

"""What a rehearsal's preview says about one choice: the curve, its numbers, and a few simulated releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from domain.chart import Curve, ErrorCurve, draw_error_curve
from domain.loss import format_epsilon, micro
from domain.rehearsal import Preview, Rehearsal, Rung
from gateway.api.datasets import BudgetView
from gateway.pages.layout import number
from gateway.pages.pictures import rounded

AGGREGATORS = {"clipped_mean": "mean of the blocks", "median": "median of the blocks"}
SHOWN_DRAWS = 5


@dataclass(frozen=True)
class Row:
    """One line of the table beneath the curve."""

    epsilon: str
    typical: str
    within_95: str
    noise_95: str
    is_chosen: bool


@dataclass(frozen=True)
class ExpectedError:
    """One output at one choice. `said` is the sentence for the chosen point; empty texts are not shown."""

    output: str
    drawing: Markup
    rows: list[Row]
    said: str
    floor: str
    draws: list[str]
    draws_epsilon: str
    whole: str
    bounds: str
    estimated_from: int | None


def expected_error(
    rehearsal: Rehearsal, typed: Mapping[str, str], *, left: Fraction | None, cap: str
) -> ExpectedError | None:
    """None where there is no preview, or none for this block size."""
    preview, values = rehearsal.preview, rehearsal.values
    index = _index(typed.get("output", ""), len(values))
    size, aggregator = _block_size(preview, typed, rehearsal), _aggregator(typed)
    if preview is None or size is None or not preview.rungs:
        return None
    rungs = preview.ladder(output=index, block_size=size, aggregator=aggregator)
    epsilon = _epsilon(typed.get("epsilon", ""))
    shown = ErrorCurve(
        output=values[index].name,
        curves=tuple(
            _curve(preview, index, size, name, is_chosen=name == aggregator) for name in AGGREGATORS
        ),
        chosen=epsilon,
        left=None if left is None else float(left),
        cap=float(cap),
        floor=rungs[0].without_noise_95,
    )
    width = values[index].upper - values[index].lower
    draws = _draws(preview, typed, index, aggregator)
    return ExpectedError(
        output=values[index].name,
        drawing=Markup(draw_error_curve(shown)),  # noqa: S704 - of our own making
        rows=[_row(rung, epsilon) for rung in rungs],
        said=_said(shown, epsilon, width),
        floor=number(float(f"{rungs[0].without_noise_95:.3g}")),
        draws=draws[0],
        draws_epsilon=draws[1],
        whole=number(rehearsal.runs.numbers[index]) if rehearsal.runs else "",
        bounds=f"{number(values[index].lower)} to {number(values[index].upper)}",
        estimated_from=None if size == rehearsal.request.block_size else rehearsal.request.block_size,
    )


def left_of(budget: BudgetView) -> Fraction | None:
    """The least that is left of epsilon on any account that binds this user; None where there is none."""
    left = [Fraction(account.left) for account in budget.accounts if account.currency == "epsilon"]
    return min(left) if left else None


def block_sizes(rehearsal: Rehearsal) -> tuple[int, ...]:
    """Those that the preview knows; without one, the size that ran."""
    known = rehearsal.preview.block_sizes if rehearsal.preview else ()
    return known or (rehearsal.request.block_size,)


def _curve(preview: Preview, index: int, size: int, aggregator: str, *, is_chosen: bool) -> Curve:
    rungs = preview.ladder(output=index, block_size=size, aggregator=aggregator)
    points = tuple(
        # a drawing of powers knows no zero
        (float(Fraction(format_epsilon(rung.micro_epsilon))), max(rung.within_95, 1e-12))
        for rung in rungs
    )
    return Curve(name=AGGREGATORS[aggregator], points=points, is_chosen=is_chosen)


def _row(rung: Rung, epsilon: float | None) -> Row:
    at = format_epsilon(rung.micro_epsilon)
    return Row(
        epsilon=at,
        typical=_short(rung.typical),
        within_95=_short(rung.within_95),
        noise_95="" if rung.noise_95 is None else _short(rung.noise_95),
        is_chosen=epsilon is not None and abs(float(Fraction(at)) - epsilon) < 1e-9,
    )


def _said(shown: ErrorCurve, epsilon: float | None, width: float) -> str:
    curve = next(curve for curve in shown.curves if curve.is_chosen)
    if epsilon is None:
        return ""
    error = curve.at(epsilon)
    share = error / width
    judged = (
        "that says next to nothing: choose more epsilon, larger or smaller blocks, or narrower bounds"
        if share > 0.5
        else f"that is {100 * share:.2g} % of the declared range"
    )
    return (
        f"At epsilon {number(epsilon)}, expect the release of {shown.output} within {_short(error)} of the "
        f"whole twin's number 95 times in 100; {judged}."
    )


def _draws(preview: Preview, typed: Mapping[str, str], index: int, aggregator: str) -> tuple[list[str], str]:
    epsilon = typed.get("epsilon", "")
    if _epsilon(epsilon) is None:
        return [], ""
    found = preview.simulated(output=index, aggregator=aggregator, epsilon=epsilon)
    if found is None or not found.values:
        return [], ""
    again = typed.get("again", "0")
    start = int(again) * SHOWN_DRAWS if again.isascii() and again.isdigit() and len(again) < 6 else 0
    rung = [
        r
        for r in preview.rungs
        if (r.output, r.aggregator, r.micro_epsilon) == (index, aggregator, found.micro_epsilon)
    ]
    half = rung[0].within_95 if rung else None
    values = [
        found.values[(start + at) % len(found.values)] for at in range(min(SHOWN_DRAWS, len(found.values)))
    ]
    return [rounded(value, half) for value in values], format_epsilon(found.micro_epsilon)


def _index(text: str, many: int) -> int:
    return min(int(text), many - 1) if text.isascii() and text.isdigit() and len(text) < 6 else 0


def _block_size(preview: Preview | None, typed: Mapping[str, str], rehearsal: Rehearsal) -> int | None:
    wanted = typed.get("block_size", "")
    known = preview.block_sizes if preview else ()
    if wanted.isascii() and wanted.isdigit() and int(wanted[:9]) in known:
        return int(wanted)
    return rehearsal.request.block_size if rehearsal.request.block_size in known else None


def _aggregator(typed: Mapping[str, str]) -> str:
    wanted = typed.get("aggregator", "")
    return wanted if wanted in AGGREGATORS else "clipped_mean"


def _epsilon(text: str) -> float | None:
    try:
        return micro(text) / 1_000_000
    except (ValueError, TypeError):
        return None


def _short(value: float) -> str:
    return number(float(f"{value:.3g}"))

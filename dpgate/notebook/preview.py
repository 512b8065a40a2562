"""A preview in a notebook: for each output the curve of the pages, and the numbers behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpgate.notebook.frame import careful, legible, number, paragraph, promise, table, text, view
from drawing.error_curve import Curve, ErrorCurve, draw_error_curve

if TYPE_CHECKING:
    from dpgate.previews import Preview, Rung

AGGREGATORS = {"clipped_mean": "mean of the blocks", "median": "median of the blocks"}
MOST_CURVES = 12
LEAST_ERROR = 1e-12
"""A drawing of powers knows no zero."""


@careful
def preview_html(preview: Preview) -> str:
    if preview.unable or not preview.rungs:
        return view("Error to expect", paragraph(preview.unable or "There is no forecast."))
    size, taken = preview.block_size, preview.aggregator
    rows = [rung for rung in preview.rungs if (rung.block_size, rung.aggregator) == (size, taken)]
    drawn = [_output(preview, name) for name in preview.outputs[:MOST_CURVES]]
    return view(
        f"Error to expect, with blocks of {size} people",
        promise(preview.guarantee, {}),
        paragraph(
            "An estimate from runs on the twin, not a release. Solid: "
            f"{AGGREGATORS[taken]}. 95 of 100 releases stay within the error."
        ),
        *drawn,
        *([paragraph(ranks)] if (ranks := preview.raw.get("ranks")) else []),
        table("The same as numbers", ("output", "epsilon", "error, 95 %", "noise, 95 %"), _cells(rows)),
    )


def _output(preview: Preview, name: str) -> str:
    """The curve of one output, the other aggregator beside the one that is taken."""
    curves = tuple(
        Curve(name=words, points=points, is_chosen=aggregator == preview.aggregator)
        for aggregator, words in AGGREGATORS.items()
        if (points := _points(preview.ladder(name, aggregator)))
    )
    floor = preview.ladder(name, preview.aggregator)[0].without_noise_95
    epsilon = None if preview.epsilon is None else float(preview.epsilon)
    shown = ErrorCurve(output=legible(name), curves=curves, chosen=epsilon, floor=floor)
    return f'<p class="named"><strong>{text(name)}</strong></p>{draw_error_curve(shown)}'


def _points(rungs: tuple[Rung, ...]) -> tuple[tuple[float, float], ...]:
    return tuple(
        (number(float(rung.epsilon)), max(number(rung.error_95), LEAST_ERROR))
        for rung in sorted(rungs, key=lambda rung: float(rung.epsilon))
    )


def _cells(rungs: list[Rung]) -> list[tuple[object, ...]]:
    rungs = sorted(rungs, key=lambda rung: (rung.output, float(rung.epsilon)))
    return [
        (rung.output, rung.epsilon, number(rung.error_95), "" if rung.noise_95 is None else rung.noise_95)
        for rung in rungs
    ]

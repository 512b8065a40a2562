"""A forecast in a notebook: for each output the curve of the pages, and the numbers behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpgate.notebook.frame import careful, legible, number, paragraph, promise, table, text, view
from dpgate.notebook.preview import LEAST_ERROR, MOST_CURVES
from drawing.error_curve import Curve, ErrorCurve, draw_error_curve

if TYPE_CHECKING:
    from dpgate.forecasts import Forecast, OutputForecast


@careful
def forecast_html(forecast: Forecast) -> str:
    words = legible(forecast.mechanism.replace("_", " "))
    return view(
        f"Error to expect with {words}",
        promise(forecast.guarantee, {}),
        paragraph(
            "An estimate from runs on the twin, not a release. 95 of 100 releases stay within the error."
        ),
        *(_output(forecast, one) for one in forecast.outputs[:MOST_CURVES]),
        table(
            "The same as numbers", ("output", forecast.unit, "error, 95 %", "noise, 95 %"), _cells(forecast)
        ),
    )


def _output(forecast: Forecast, found: OutputForecast) -> str:
    points = tuple(
        (number(float(rung.amount)), max(number(rung.error_95), LEAST_ERROR)) for rung in found.rungs
    )
    curve = Curve(name=legible(forecast.mechanism), points=points, is_chosen=True)
    shown = ErrorCurve(
        output=legible(found.output),
        curves=(curve,),
        chosen=number(float(found.amount)),
        unit=legible(forecast.unit),
    )
    return f'<p class="named"><strong>{text(found.output)}</strong></p>{draw_error_curve(shown)}'


def _cells(forecast: Forecast) -> list[tuple[object, ...]]:
    return [
        (
            found.output,
            rung.amount,
            number(rung.error_95),
            "" if rung.noise_95 is None else number(rung.noise_95),
        )
        for found in forecast.outputs
        for rung in found.rungs
    ]

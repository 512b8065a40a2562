"""The error to expect where it is not the ladder's: Gaussian noise, PAC and noise matched to stability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from domain.chart import Curve, ErrorCurve, draw_error_curve
from domain.errors import InvalidRequest
from domain.forecast import (
    Expected,
    Simulated,
    gaussian_deviation,
    gaussian_ladder,
    pac_ladder,
    simulate_gaussian,
    simulate_pac,
    simulate_stability,
    stability_ladder,
)
from domain.mechanism import PacRequest, SampleAggregateRequest, StabilityRequest
from domain.model import parse
from domain.pipeline import OutputValue
from domain.rehearsal import Preview, Rehearsal, TwinRuns
from gateway.pages.dataset_facts import promise_of
from gateway.pages.error_shown import (
    ExpectedError,
    NoForecast,
    Row,
    output_index,
    said_of,
    short,
    some_draws,
)
from gateway.pages.expected_error import block_size, estimated_from
from gateway.pages.layout import number
from gateway.pages.manifest_form import read_number

_ABOUT = {
    "pac": "64 runs on halves of its people",
    "stability_calibrated": "a run without each of its people in turn",
}
_PAC_WORDS = (
    "For a first release of this cohort; later ones have less noise, as the halves are told apart by then. "
    "The noise that the original data get follows their own halves and is shown to nobody."
)
_STABILITY_WORDS = (
    "The scale of the noise is a power of two, so the error moves in steps; other people's data may get "
    "twice as much or half, and one unusual person decides. There is no formal guarantee."
)
_GAUSSIAN_WORDS = (
    "Mean over blocks with Gaussian noise. At large epsilon, what is left comes from who is in the data."
)


@dataclass(frozen=True)
class _Twin:
    """What every forecast looks at."""

    rehearsal: Rehearsal
    runs: TwinRuns
    preview: Preview
    values: Sequence[OutputValue]
    index: int
    nominal_size: int
    typed: Mapping[str, str]

    @property
    def value(self) -> OutputValue:
        return self.values[self.index]


def other_error(
    rehearsal: Rehearsal, typed: Mapping[str, str], *, nominal_size: int, cap: int
) -> ExpectedError | NoForecast | None:
    """None while the preview is not there yet, or where the ladder has the answer; `cap` is the most
    micro-epsilon of one job."""
    name = typed.get("mechanism", "")
    is_gaussian = name == "sample_aggregate" and typed.get("noise") == "gaussian"
    if rehearsal.preview is None or rehearsal.runs is None or not (is_gaussian or name in _ABOUT):
        return None
    values = rehearsal.values
    index = output_index(typed.get("output", ""), len(values))
    twin = _Twin(rehearsal, rehearsal.runs, rehearsal.preview, values, index, nominal_size, typed)
    try:
        if is_gaussian:
            return _gaussian(twin, cap)
        if name == "pac":
            return _sampled(twin, "pac") or _pac(twin)
        return _sampled(twin, "stability_calibrated") or _stability(twin)
    except InvalidRequest as error:
        first = error.problems[0]
        # of two fields that do not fit, the words name both
        field = "" if first.field == "mechanism" else first.field.removeprefix("mechanism.").replace("_", " ")
        return NoForecast(
            f"There is no forecast for this choice: {field} {first.problem} {first.fix}".replace("  ", " ")
        )
    except ValueError as error:
        return NoForecast(f"There is no forecast for this choice: {error}")


def _sampled(twin: _Twin, mechanism: Any) -> NoForecast | None:
    """Without its own runs a mechanism has no honest forecast: blocks say nothing about halves."""
    if twin.runs.of_plan(mechanism):
        return None
    if twin.preview.unable_sampled:
        return NoForecast(f"There is no forecast: {twin.preview.unable_sampled}")
    return NoForecast(
        f"The error of this mechanism follows from {_ABOUT[mechanism]}, which the rehearsal has not made. "
        "On the twin they cost nothing.",
        is_to_run=True,
    )


def _gaussian(twin: _Twin, cap: int) -> ExpectedError | NoForecast:
    size = block_size(twin.typed, twin.rehearsal)
    mean = twin.preview.mean(output=twin.index, block_size=size) if size else None
    if size is None or mean is None:
        return NoForecast(
            "There is no forecast for this output at this block size: a rehearsal makes one for the first 20 "
            "outputs, and anew when it runs again."
        )
    asked = parse(SampleAggregateRequest, _chosen(twin, "epsilon", "aggregator", "delta") | {
        "name": "sample_aggregate", "noise": "gaussian", "block_size": size,
    }, within="mechanism")  # fmt: skip
    facts: dict[str, Any] = {"values": twin.values, "nominal_size": twin.nominal_size}
    rungs = gaussian_ladder(asked, **facts, mean=mean, most=cap)
    ran = twin.rehearsal.request.block_size
    return _shown(
        twin,
        asked,
        rungs,
        asked.epsilon,
        unit="epsilon",
        caption=_GAUSSIAN_WORDS + ("" if size == ran else estimated_from(ran)),
        simulated=simulate_gaussian(
            mean,
            twin.preview,
            whole=twin.runs.numbers[twin.index],
            deviation=gaussian_deviation(asked, **facts, index=twin.index),
        ),
    )


def _pac(twin: _Twin) -> ExpectedError:
    asked = parse(PacRequest, _chosen(twin, "nats") | {"name": "pac"}, within="mechanism")
    rungs = pac_ladder(asked, twin.values, twin.runs, index=twin.index)
    simulated = simulate_pac(asked, twin.values, twin.runs, twin.preview, index=twin.index)
    return _shown(twin, asked, rungs, asked.nats, unit="nats", caption=_PAC_WORDS, simulated=simulated)


def _stability(twin: _Twin) -> ExpectedError:
    asked = parse(
        StabilityRequest,
        _chosen(twin, "noise_multiplier") | {"name": "stability_calibrated"},
        within="mechanism",
    )
    rungs = stability_ladder(asked, twin.values, twin.runs, nominal_size=twin.nominal_size, index=twin.index)
    amount = f"{asked.noise_multiplier:g}"
    chosen = next(rung for rung in rungs if rung.amount == amount)
    return _shown(
        twin,
        asked,
        rungs,
        amount,
        unit="noise multiplier",
        caption=_STABILITY_WORDS,
        simulated=simulate_stability(chosen, twin.runs, twin.preview, index=twin.index),
    )


def _shown(
    twin: _Twin,
    asked: SampleAggregateRequest | PacRequest | StabilityRequest,
    rungs: Sequence[Expected],
    amount: str,
    *,
    unit: str,
    caption: str,
    simulated: Simulated,
) -> ExpectedError:
    chosen = next(rung for rung in rungs if float(rung.amount) == float(amount))
    points = tuple((float(rung.amount), max(rung.within_95, 1e-12)) for rung in rungs)
    curve = ErrorCurve(
        output=twin.value.name,
        curves=(Curve(name=asked.name.replace("_", " "), points=points, is_chosen=True),),
        chosen=float(amount),
        unit=unit,
    )
    return ExpectedError(
        output=twin.value.name,
        unit=unit,
        promise=promise_of(asked.guarantee, asked.guarantee.sentence),
        drawing=Markup(draw_error_curve(curve)),  # noqa: S704 - of our own making
        caption=caption,
        rows=[_row(rung, is_chosen=rung is chosen) for rung in rungs],
        said=said_of(
            twin.value.name, f"{unit} {chosen.amount}", chosen.within_95, twin.value.upper - twin.value.lower
        ),
        draws=some_draws(simulated.values, twin.typed, simulated.within_95) if simulated.values else [],
        draws_at=f"{unit} {chosen.amount}",
        whole=number(twin.runs.numbers[twin.index]),
        bounds=f"{number(twin.value.lower)} to {number(twin.value.upper)}",
    )


def _row(rung: Expected, *, is_chosen: bool) -> Row:
    return Row(
        amount=rung.amount,
        typical=short(rung.typical),
        within_95=short(rung.within_95),
        noise_95=short(rung.noise_95),
        is_chosen=is_chosen,
    )


def _chosen(twin: _Twin, *fields: str) -> dict[str, Any]:
    """What was typed, numbers where the request has them."""
    typed = {name: text.strip() for name in fields if (text := twin.typed.get(name, "")).strip()}
    return {name: _number(text) if name == "noise_multiplier" else text for name, text in typed.items()}


def _number(text: str) -> float | str:
    found = read_number(text)
    return text if found is None else found

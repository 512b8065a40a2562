"""The error to expect where it is not the ladder's: Gaussian noise, PAC and noise matched to stability."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from desk.datasets import BudgetView
from domain.choice_forecast import NOT_KNOWN, Asked, Forecast, forecast_of
from domain.choice_forecast import NoForecast as Unforeseen
from domain.dataset import Declaration
from domain.errors import InvalidRequest
from domain.forecast import Expected
from domain.mechanism import REQUESTS, SampleAggregateRequest
from domain.mechanisms import cards, own_runs
from domain.model import parse
from domain.pipeline import OutputValue
from domain.rehearsal import Rehearsal
from drawing import Curve, ErrorCurve, draw_error_curve
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
from gateway.pages.expected_error import block_size, estimated_from, left_of
from gateway.pages.layout import number
from gateway.pages.mechanism_form import value_of

LEAST_ERROR = 1e-12
"""A drawing of powers knows no zero."""
_GAUSSIAN_WORDS = (
    "Mean over blocks with Gaussian noise. At large epsilon, what is left comes from who is in the data."
)

_REPLAYED_WORDS = (
    "With {kind} noise, which is narrower here than Gaussian noise and needs no delta: none is spent."
)
_PURE_NOISES = ("laplace", "joint")


def other_error(
    rehearsal: Rehearsal, typed: Mapping[str, str], *, declaration: Declaration, budget: BudgetView
) -> ExpectedError | NoForecast | None:
    """None while the preview is not there yet, or where the ladder has the answer."""
    is_other = _has_own_noise(typed, rehearsal) or typed.get("mechanism") in own_runs()
    if rehearsal.preview is None or rehearsal.runs is None or not is_other:
        return None
    index = output_index(typed.get("output", ""), len(rehearsal.values))
    try:
        asked = _asked(typed, rehearsal)
        found = forecast_of(asked, rehearsal, declaration, index=index)
    except Unforeseen as error:
        return NoForecast(str(error), is_to_run=error.is_to_run)
    except InvalidRequest as error:
        first = error.problems[0]
        # of two fields that do not fit, the words name both
        field = "" if first.field == "mechanism" else first.field.removeprefix("mechanism.").replace("_", " ")
        return NoForecast(
            f"There is no forecast for this choice: {field} {first.problem} {first.fix}".replace("  ", " ")
        )
    except ValueError as error:
        return NoForecast(f"There is no forecast for this choice: {error}")
    drawing = curve_of(found, asked, declaration, left=left_of(budget, found.unit))
    return _shown(
        found, asked, rehearsal, typed, drawing, rehearsal.values[index], rehearsal.runs.numbers[index]
    )


def _has_own_noise(typed: Mapping[str, str], rehearsal: Rehearsal) -> bool:
    """Whether the noise is, or with its delta may be, other than the ladder's."""
    noise = typed.get("noise", "")
    if typed.get("mechanism") != "sample_aggregate" or rehearsal.preview is None:
        return False
    if noise == "auto":
        return bool(typed.get("delta", "").strip())
    # medians have no noise of this kind
    is_of_means = typed.get("aggregator") != "median"
    is_other_pure = noise in _PURE_NOISES and noise != rehearsal.preview.noise_kind
    return noise == "gaussian" or (is_of_means and is_other_pure)


def curve_of(found: Forecast, asked: Asked, declaration: Declaration, *, left: Fraction | None) -> Markup:
    """The drawing of one output's ladder, with the point of what is asked; `left` is what the budget has in
    the unit of the ladder, None where no account counts it."""
    points = tuple((float(rung.amount), max(rung.within_95, LEAST_ERROR)) for rung in found.rungs)
    curve = ErrorCurve(
        output=found.output,
        curves=(Curve(name=asked.name.replace("_", " "), points=points, is_chosen=True),),
        chosen=float(found.amount),
        left=None if left is None else float(left),
        # the policy has no cap of other amounts
        cap=float(declaration.policy.max_epsilon_per_job) if found.unit == "epsilon" else None,
        unit=found.unit,
    )
    return Markup(draw_error_curve(curve))  # noqa: S704 - of our own making


def _asked(typed: Mapping[str, str], rehearsal: Rehearsal) -> Asked:
    name = typed["mechanism"]
    if name in own_runs():
        return parse(REQUESTS[name], _chosen(typed, name) | {"name": name}, within="mechanism")
    size = block_size(typed, rehearsal)
    if size is None:
        raise Unforeseen(NOT_KNOWN)
    chosen = _chosen(typed, name)
    if typed.get("noise") not in ("gaussian", "auto"):
        chosen = {field: value for field, value in chosen.items() if field not in ("delta", "clip_norm")}
    fixed = {"name": "sample_aggregate", "block_size": size}
    return parse(SampleAggregateRequest, chosen | fixed, within="mechanism")


def _shown(
    found: Forecast,
    asked: Asked,
    rehearsal: Rehearsal,
    typed: Mapping[str, str],
    drawing: Markup,
    value: OutputValue,
    whole: float,
) -> ExpectedError:
    at = f"{found.unit} {found.amount}"
    simulated = found.simulated
    return ExpectedError(
        output=found.output,
        unit=found.unit,
        promise=promise_of(asked.guarantee, asked.guarantee.sentence),
        drawing=drawing,
        caption=_caption(asked, found, rehearsal.request.block_size),
        rows=[_row(rung, is_chosen=rung is found.chosen) for rung in found.rungs],
        said=said_of(found.output, at, found.chosen.within_95, value.upper - value.lower),
        draws=some_draws(simulated.values, typed, simulated.within_95) if simulated.values else [],
        draws_at=at,
        whole=number(whole),
        bounds=f"{number(value.lower)} to {number(value.upper)}",
    )


def _caption(asked: Asked, found: Forecast, ran: int) -> str:
    if not isinstance(asked, SampleAggregateRequest):
        return own_runs()[asked.name].caption
    if found.noise_kind != "gaussian":
        words = _REPLAYED_WORDS.format(kind=found.noise_kind)
    else:
        words = _GAUSSIAN_WORDS
    return words + ("" if asked.block_size == ran else estimated_from(ran))


def _row(rung: Expected, *, is_chosen: bool) -> Row:
    return Row(
        amount=rung.amount,
        typical=short(rung.typical),
        within_95=short(rung.within_95),
        noise_95="" if rung.noise_95 is None else short(rung.noise_95),
        is_chosen=is_chosen,
    )


def _chosen(typed: Mapping[str, str], name: str) -> dict[str, Any]:
    """What was typed of this mechanism, numbers where the request has them."""
    return {
        option.field: value_of(option, text)
        for option in cards()[name].options
        if (text := typed.get(option.field, "").strip())
    }

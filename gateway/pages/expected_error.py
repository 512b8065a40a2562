"""What a rehearsal's preview says about one choice of blocks with Laplace noise."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from markupsafe import Markup

from desk.datasets import BudgetView
from domain.loss import format_epsilon, micro
from domain.mechanism import SampleAggregateRequest
from domain.rank_interval import said_of_blocks
from domain.rehearsal import Preview, Rehearsal, Rung
from drawing import Curve, ErrorCurve, draw_error_curve
from gateway.pages.dataset_facts import promise_of
from gateway.pages.error_shown import ExpectedError, Row, output_index, said_of, short, some_draws
from gateway.pages.layout import number

_PURE = SampleAggregateRequest(name="sample_aggregate", epsilon="1")
AGGREGATORS = {"clipped_mean": "mean of the blocks", "median": "median of the blocks"}


def expected_error(
    rehearsal: Rehearsal, typed: Mapping[str, str], *, left: Fraction | None, cap: str, people: int
) -> ExpectedError | None:
    """None where there is no preview, or none for this block size."""
    preview, values = rehearsal.preview, rehearsal.values
    index = output_index(typed.get("output", ""), len(values))
    size, aggregator = block_size(typed, rehearsal), _aggregator(typed)
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
    value = values[index]
    draws = _draws(preview, typed, index, aggregator)
    return ExpectedError(
        output=value.name,
        unit="epsilon",
        promise=promise_of(_PURE.guarantee, _PURE.guarantee.sentence),
        drawing=Markup(draw_error_curve(shown)),  # noqa: S704 - of our own making
        rows=[_row(rung, epsilon) for rung in rungs],
        caption=_caption(rungs[0], rehearsal.request.block_size)
        + _ranks(rehearsal, rungs[0], epsilon, people),
        said=_said(shown, epsilon, value.upper - value.lower),
        draws=draws[0],
        draws_at=draws[1],
        whole=number(rehearsal.runs.numbers[index]) if rehearsal.runs else "",
        bounds=f"{number(value.lower)} to {number(value.upper)}",
    )


def left_of(budget: BudgetView, currency: str = "epsilon") -> Fraction | None:
    """The least that is left on any account of this currency that binds this user; None without one."""
    left = [Fraction(account.left) for account in budget.accounts if account.currency == currency]
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


def _caption(rung: Rung, ran: int) -> str:
    guessed = "" if rung.block_size == ran else estimated_from(ran)
    return (
        "The other line is the other aggregator. More epsilon does not help below "
        f"{short(rung.without_noise_95)}: that much comes from who is in the data.{guessed}"
    )


def _ranks(rehearsal: Rehearsal, rung: Rung, epsilon: float | None, people: int) -> str:
    """Between which ranks medians of this choice lie; empty without them."""
    if rung.aggregator != "median" or epsilon is None:
        return ""
    chosen = {"epsilon": f"{epsilon:.6f}", "block_size": rung.block_size, "aggregator": "median"}
    mechanism = _PURE.model_copy(update=chosen).in_one_step(rehearsal.values, nominal_size=people)
    said = said_of_blocks(mechanism, [value.name for value in rehearsal.values])
    return f" {said}" if said else ""


def estimated_from(ran: int) -> str:
    return f" Blocks of this size did not run: estimated from blocks of {ran}."


def _row(rung: Rung, epsilon: float | None) -> Row:
    at = format_epsilon(rung.micro_epsilon)
    return Row(
        amount=at,
        typical=short(rung.typical),
        within_95=short(rung.within_95),
        noise_95="" if rung.noise_95 is None else short(rung.noise_95),
        is_chosen=epsilon is not None and abs(float(Fraction(at)) - epsilon) < 1e-9,
    )


def _said(shown: ErrorCurve, epsilon: float | None, width: float) -> str:
    curve = next(curve for curve in shown.curves if curve.is_chosen)
    if epsilon is None:
        return ""
    return said_of(shown.output, f"epsilon {number(epsilon)}", curve.at(epsilon), width)


def _draws(preview: Preview, typed: Mapping[str, str], index: int, aggregator: str) -> tuple[list[str], str]:
    epsilon = typed.get("epsilon", "")
    if _epsilon(epsilon) is None:
        return [], ""
    found = preview.simulated(output=index, aggregator=aggregator, epsilon=epsilon)
    if found is None or not found.values:
        return [], ""
    rung = [
        r
        for r in preview.rungs
        if (r.output, r.aggregator, r.micro_epsilon) == (index, aggregator, found.micro_epsilon)
    ]
    half = rung[0].within_95 if rung else None
    return some_draws(found.values, typed, half), f"epsilon {format_epsilon(found.micro_epsilon)}"


def block_size(typed: Mapping[str, str], rehearsal: Rehearsal) -> int | None:
    """What was typed, if the preview knows it; else the size that ran, if it knows that."""
    wanted, preview = typed.get("block_size", ""), rehearsal.preview
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

"""The rows and sentences of a preview: one JSON document for programs, tables of text for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from domain.loss import format_epsilon
from dpgate.preview import BlocksPreview, RunCost, Wanted
from dpgate.preview_many import told_outputs
from privacy.block_rules import recommended_repeats
from privacy.cost import Currency, exact, format_amount
from privacy.posterior_bound import percent, posterior_bound
from privacy.preview import REPLAYS, Choice, Forecast, PacForecast, StabilityForecast

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Headings and rows."""

MOST_TOLD = 3
"""Outputs whose errors stand in one line."""

GUESSED = "* guessed from blocks that ran on the twin."


def blocks_document(found: BlocksPreview, names: Sequence[str], *, guarantee: str) -> dict[str, Any]:
    taken = found.recommendation
    return {
        "mechanism": "sample_aggregate",
        "guarantee": guarantee,
        "replays": REPLAYS,
        "rows": [_forecast_document(row, names, found.costs) for row in found.forecasts],
        "recommendation": {
            **_choice_document(taken.choice),
            "reached": taken.reached,
            "reasons": list(taken.reasons),
        },
        "spread_ratios": dict(zip(names, found.spread_ratios, strict=True)),
        "intervals": [{**asdict(row), "output": names[row.output]} for row in found.intervals],
        "results": {name: asdict(row) for name, row in found.results.items()},
        "together": asdict(found.together) if found.together else None,
        "wanted": [_wanted_document(row) for row in found.wanted],
        "kinds": [asdict(row) for row in found.kinds],
        "proposed_clip_norm": found.proposed_norm,
        "epsilon_needed": format_epsilon(found.wanted[0].noise_alone) if found.wanted else None,
    }


def ladder_title(found: BlocksPreview) -> str:
    taken = found.recommendation.choice
    kind = "" if taken.aggregator == "clipped_mean" else ", their median"
    people = "one person" if taken.block_size == 1 else f"{taken.block_size} people"
    return f"Error to expect, with blocks of {people}{kind}"


def ladder_table(found: BlocksPreview, names: Sequence[str]) -> Table:
    """Every epsilon at the recommended block size and aggregator."""
    taken = found.recommendation.choice
    rows = [
        row
        for row in found.forecasts
        if (row.choice.block_size, row.choice.aggregator) == (taken.block_size, taken.aggregator)
        and row.output in told_outputs(found)
    ]
    rows.sort(key=lambda row: (row.choice.micro_epsilon, row.output))
    return (
        ("epsilon", "output", "noise, 95 %", "error, typical", "error, 95 %", "without noise"),
        [
            (
                format_epsilon(row.choice.micro_epsilon),
                names[row.output],
                digits(row.noise.half_width_95 if row.noise else None),
                digits(row.error.typical),
                digits(row.error.within_95),
                digits(row.without_noise_95),
            )
            for row in rows
        ],
    )


def choices_table(found: BlocksPreview, names: Sequence[str]) -> Table:
    """Every block size and aggregator at the recommended epsilon; empty where there was no choice."""
    micro = found.recommendation.choice.micro_epsilon
    told = told_outputs(found)
    rows = [row for row in found.forecasts if row.choice.micro_epsilon == micro and row.output in told]
    # with names of eleven letters it is as wide as a terminal of 80
    headings = ("block", "by", "output", "error, 95 %", "failed", "clamped", "runs", "time")
    if len({row.choice for row in rows}) == 1:
        return headings, []
    rows.sort(key=lambda row: (row.choice.block_size, row.choice.aggregator, row.output))
    return headings, [
        (
            f"{row.choice.block_size}{'' if row.extrapolated_from is None else '*'}",
            "mean" if row.choice.aggregator == "clipped_mean" else row.choice.aggregator,
            names[row.output],
            digits(row.error.within_95),
            f"{row.failed_share:.0%}",
            f"{row.clamped_share:.0%}",
            f"{found.costs[row.choice.block_size].runs:,}",
            duration(found.costs[row.choice.block_size].seconds),
        )
        for row in rows
    ]


def duration(seconds: float | None) -> str:
    """Of all runs one after the other, as long as they took here."""
    if seconds is None:
        return "-"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def choices_note(found: BlocksPreview) -> str:
    guessed = any(row.extrapolated_from is not None for row in found.forecasts)
    return GUESSED if guessed else ""


def repeats_words(nominal_size: int, *, repeats: int, block_size: int) -> list[str]:
    """Nothing for blocks of one: whoever is in which, all of them say the same."""
    better = recommended_repeats(nominal_size)
    if repeats >= better or block_size == 1:
        return []
    return [
        f"With so few people --repeats {better} averages out the luck of one partition, for {better} times "
        "the runs and at the same noise; the errors above leave that luck in."
    ]


def blocks_words(choice: Choice) -> str:
    return f"{'median' if choice.aggregator == 'median' else 'mean'} over blocks of {choice.block_size}"


def choice_words(found: BlocksPreview, names: Sequence[str]) -> str:
    """What the recommended choice costs, gives and takes, in a line."""
    taken = found.recommendation.choice
    told = told_outputs(found)
    errors = [
        f"{names[row.output]} within {digits(row.error.within_95)}"
        for row in found.forecasts
        if row.choice == taken and row.output in told
    ]
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    seconds = found.costs[taken.block_size].seconds
    when = "" if seconds is None else f"; released about {duration(seconds)} after its runs begin"
    return (
        f"epsilon {format_epsilon(taken.micro_epsilon)} ({found.guarantee}) and the {blocks_words(taken)}: "
        f"{', '.join(errors[:MOST_TOLD])}{more}, 95 times in 100{when}"
    )


def wanted_words(row: Wanted, *, guarantee: str) -> str:
    noise = format_epsilon(row.noise_alone)
    first = f"For {row.output}={row.error:g} you need epsilon {noise} ({guarantee}) for the noise alone"
    if row.together is None:
        return f"{first}; with all that makes blocks differ, no epsilon is enough."
    return f"{first}, about {format_epsilon(row.together)} with all that makes blocks differ."


def interval_words(found: BlocksPreview, names: Sequence[str]) -> list[str]:
    return [
        f"A sampling interval for {names[row.output]} would be about ±{row.half_width:.3g} and widen the "
        f"error of the value from {row.value_95_without:.3g} to {row.value_95:.3g}."
        for row in found.intervals
    ]


def pac_table(rows: Sequence[PacForecast], names: Sequence[str]) -> Table:
    return (
        ("nats", "guess at most", "output", "noise, sd", "half-sample, sd", "error, typical", "error, 95 %"),
        [
            (
                format_amount(Currency.NATS, row.micro_nats),
                f"{percent(posterior_bound(exact(Currency.NATS, row.micro_nats)))}%",
                names[row.output],
                digits(row.noise),
                digits(row.half_sample),
                digits(row.typical),
                digits(row.within_95),
            )
            for row in rows
        ],
    )


def stability_table(rows: Sequence[StabilityForecast], names: Sequence[str]) -> Table:
    return (
        ("multiplier", "output", "least scale", "scale", "noise, 95 %", "standard error"),
        [
            (
                f"{1_000_000 / row.micro_epsilon_prime:g}",
                names[row.output],
                digits(row.floor),
                digits(row.scale),
                digits(row.within_95),
                digits(row.sampling),
            )
            for row in rows
        ],
    )


OWN_RUNS: dict[str, tuple[str, Callable[[Any, Sequence[str]], Table]]] = {
    "pac": ("Error to expect of a first release", pac_table),
    "stability_calibrated": ("Error to expect", stability_table),
}
"""Title and table of a mechanism with runs of its own."""


def rows_document(
    rows: Sequence[PacForecast | StabilityForecast],
    names: Sequence[str],
    *,
    mechanism: str,
    guarantee: str,
) -> dict[str, Any]:
    content = [{**asdict(row), "output": names[row.output]} for row in rows]
    return {"mechanism": mechanism, "guarantee": guarantee, "rows": content}


def digits(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _forecast_document(row: Forecast, names: Sequence[str], costs: Mapping[int, RunCost]) -> dict[str, Any]:
    cost = costs[row.choice.block_size]
    return {
        "output": names[row.output],
        **_choice_document(row.choice),
        "noise_half_width_95": row.noise.half_width_95 if row.noise else None,
        "error_typical": row.error.typical,
        "error_95": row.error.within_95,
        "error_99": row.error.within_99,
        "bias": row.error.bias,
        "root_mean_square": row.error.root_mean_square,
        "formula": row.formula,
        "without_noise_95": row.without_noise_95,
        "failed_share": row.failed_share,
        "clamped_share": row.clamped_share,
        "clipped_share": row.clipped_share,
        "extrapolated_from": row.extrapolated_from,
        "runs": cost.runs,
        "seconds": cost.seconds,
    }


def _choice_document(choice: Choice) -> dict[str, Any]:
    return {
        "epsilon": format_epsilon(choice.micro_epsilon),
        "block_size": choice.block_size,
        "aggregator": choice.aggregator,
    }


def _wanted_document(row: Wanted) -> dict[str, Any]:
    return {
        "output": row.output,
        "error": row.error,
        "epsilon_noise_alone": format_epsilon(row.noise_alone),
        "epsilon": None if row.together is None else format_epsilon(row.together),
    }

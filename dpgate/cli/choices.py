"""The options that choose a mechanism, and what a request makes of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from domain.mechanisms import cards
from dpgate.cli.output import err
from dpgate.errors import DpgateError
from privacy.loss import MICRO, micro_epsilon

if TYPE_CHECKING:
    from domain.dataset import Declaration
    from domain.pipeline import Manifest

WEAK_EPSILON = 10

_OFFERED = [
    f"{name} (no formal guarantee)" if card.is_for_reviewed else name for name, card in cards().items()
]
Mechanism = Annotated[str, typer.Option(help=f"{', '.join(_OFFERED[:-1])}, or {_OFFERED[-1]}.")]
Epsilon = Annotated[str | None, typer.Option(help="Privacy loss to spend, for instance 0.5.")]
Repeats = Annotated[
    int | None, typer.Option(help="Partitions into blocks: more runs, less luck of the draw, same noise.")
]
Aggregator = Annotated[
    str | None, typer.Option(help="Of the blocks: clipped_mean, median, two_step or auto.")
]
SpreadRatio = Annotated[
    list[str] | None,
    typer.Option(
        help="For auto and two_step: declared range over the spread of blocks, from the twin. One number, or "
        "OUTPUT=NUMBER for each."
    ),
]
Noise = Annotated[
    str | None, typer.Option(help="auto: the narrowest. laplace, joint, or gaussian with --delta.")
]
Delta = Annotated[str | None, typer.Option(help="For gaussian or auto noise, for instance 0.000001.")]
ClipNorm = Annotated[
    float | None,
    typer.Option(help="With --delta: shorten a block's vector of values to this norm, in half-ranges."),
]
Weights = Annotated[
    list[str] | None, typer.Option(help="OUTPUT=WHOLE NUMBER: its share of epsilon; repeat it. Others: 1.")
]
Interval = Annotated[
    str | None, typer.Option(help="noise, or sampling: also an interval for the population, for 30 %.")
]
CountFailures = Annotated[
    bool, typer.Option("--count-failures", help="Also release how many runs failed, for 5 % of epsilon.")
]
Nats = Annotated[str | None, typer.Option(help="For pac: mutual information to spend, for instance 0.03125.")]
NoiseMultiplier = Annotated[
    float | None, typer.Option(help="For stability_calibrated: noise over the largest change seen.")
]


def read_weights(given: Sequence[str] | None) -> dict[str, int] | None:
    """`name=2` and so on. Raises DpgateError for anything else."""
    if not given:
        return None
    found: dict[str, int] = {}
    for text in given:
        name, _, weight = text.partition("=")
        if not name or not weight.isascii() or not weight.isdigit() or name in found:
            raise DpgateError("--weights takes OUTPUT=WHOLE NUMBER, once for an output: mean_height=2")
        found[name] = int(weight)
    return found


def read_spread_ratios(given: Sequence[str] | None) -> dict[str, float | dict[str, float]]:
    """One number, or `name=16` for each output, as fields of the mechanism. Raises DpgateError for anything
    else."""
    found: dict[str, float] = {}
    for text in given or ():
        name, _, ratio = text.rpartition("=")
        try:
            number = float(ratio)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or name in found or (len(given or ()) > 1 and not name):
            raise DpgateError("--spread-ratio takes one number, or OUTPUT=NUMBER once for each output")
        found[name] = number
    if "" in found:
        return {"spread_ratio": found[""]}
    return {"spread_ratios": found} if found else {}


def warn_if_weak(epsilon: str | None) -> None:
    """Above ten, the factor e^epsilon is beyond 22,000: hardly a promise to one person."""
    try:
        is_weak = epsilon is not None and micro_epsilon(epsilon) > WEAK_EPSILON * MICRO
    except ValueError:
        return  # the request says it better
    if is_weak:
        err.print(f"[yellow]An epsilon above {WEAK_EPSILON} is weak: it promises little to one person.[/]")


def block_size_of(manifest: Manifest, asked: int | None, declaration: Declaration) -> int:
    """What was asked for, as a job will be admitted, or what is usual."""
    from domain.admission import check_block_size, usual_block_size

    if asked is None:
        return usual_block_size(manifest, declaration)
    check_size(manifest, asked)
    check_block_size(asked, declaration)
    return asked


def check_size(manifest: Manifest, asked: int) -> None:
    """What the pipeline alone says of a block size."""
    try:
        manifest.check_block_size(asked)
    except ValueError as error:
        raise DpgateError(str(error)) from None

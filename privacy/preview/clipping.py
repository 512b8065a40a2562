"""What clipping does to a twin's blocks, and how the kinds of noise compare: for previews alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privacy.grid import OutputGrid
from privacy.loss import GuaranteeClass
from privacy.mean_noise import NoiseKind
from privacy.preview.forecast import Choice, forecast
from privacy.preview.recommendation import size_of_error
from privacy.preview.twin import BlockAnswers, TwinAnswers
from privacy.sample_aggregate import SampleAggregate

LEFT_ALONE = 0.95
"""Share of the twin's blocks that the proposed clip norm leaves as they are."""


@dataclass(frozen=True)
class KindForecast:
    """One kind of noise at one choice: the error of all outputs together, each in its declared range
    (`recommendation.size_of_error`), and the share of the twin's blocks that are clipped."""

    noise: NoiseKind
    guarantee: GuaranteeClass
    clip_norm: float | None
    error: float
    clipped_share: float


def compare_kinds(
    asked: SampleAggregate, choice: Choice, *, twin: TwinAnswers, nominal_size: int, replays: int = 200
) -> tuple[KindForecast, ...]:
    """Joint noise beside Gaussian noise, clipped and not, of several means with a delta; else nothing."""
    if asked.atto_delta is None or len(asked.grids) < 2 or choice.aggregator != "clipped_mean":
        return ()
    plain = replace(asked, aggregator="clipped_mean", spread_ratios=None)
    kinds = [replace(plain, noise="gaussian", clip_norm=None)]
    if len(set(asked.weights or (1,))) == 1:
        kinds.insert(0, replace(plain, noise="joint", atto_delta=None, clip_norm=None))
    if asked.clip_norm is not None:
        kinds.append(replace(plain, noise="gaussian"))
    found = []
    for kind in kinds:
        rows = forecast(
            kind,
            twin=twin,
            nominal_size=nominal_size,
            block_sizes=(choice.block_size,),
            epsilons=(choice.micro_epsilon,),
            aggregators=("clipped_mean",),
            replays=replays,
        )
        norm = None if kind.clip_norm is None else float(kind.clip_norm)
        error = size_of_error(rows, asked.grids)
        found.append(KindForecast(kind.resolved_noise, kind.guarantee, norm, error, rows[0].clipped_share))
    return tuple(found)


def proposed_norm(answers: BlockAnswers, grids: Sequence[OutputGrid]) -> float | None:
    """The norm, in half-ranges, that 95 % of the twin's blocks stay within; None if all of them failed."""
    norms = vector_norms(answers, grids)
    return float(np.quantile(norms, LEFT_ALONE)) if norms.size else None


def vector_norms(answers: BlockAnswers, grids: Sequence[OutputGrid]) -> NDArray[np.float64]:
    """Of each block that gave a vector: its distance from the middle of the bounds, in half-ranges."""
    valid = [output for output in answers.outputs if output is not None]
    if not valid:
        return np.zeros(0)
    middles = np.array([grid.middle for grid in grids], float)
    halves = np.array([grid.cells - grid.middle for grid in grids], float)
    norms: NDArray[np.float64] = np.sqrt((((np.array(valid, float) - middles) / halves) ** 2).sum(axis=1))
    return norms

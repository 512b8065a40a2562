"""What parameters of sample and aggregate make sense together. A refusal names the parameter and the fix."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privacy.cost import Currency, check_amount
from privacy.mechanism import MAX_OUTPUTS
from privacy.partition import MIN_BLOCKS

if TYPE_CHECKING:
    from privacy.sample_parameters import SampleParameters

MAX_BLOCKS = 1_000_000
"""Most runs of one job, over all repeats."""

MAX_REPEATS = 100
MAX_WEIGHT = 1_000

MAX_JOINT_OUTPUTS = 400
"""Joint noise grows with the number of outputs at .41 of the rate of Laplace noise, and Gaussian noise with
the root of it, so more of them are of use."""


def check_asked(chosen: SampleParameters) -> None:
    """Everything that can be said before the noise is chosen."""
    _check_choices(chosen)
    _check_number_of_outputs(chosen)
    _check_blocks(chosen)
    _check_spread_ratios(chosen)
    _check_delta(chosen)
    _check_weights(chosen)
    _check_parts(chosen)
    _check_clip(chosen)


def check_resolved(chosen: SampleParameters) -> None:
    """What depends on which outputs are means and which noise they get."""
    noise = chosen.resolved_noise
    most = MAX_OUTPUTS if noise == "laplace" else MAX_JOINT_OUTPUTS
    if len(chosen.grids) > most:
        raise ValueError(
            f"declare 1 to {most} output numbers for {noise} noise; every one of them costs accuracy."
        )
    if chosen.aggregators.count("median") > MAX_OUTPUTS:
        raise ValueError(f"at most {MAX_OUTPUTS} outputs can be medians, which share epsilon; take means.")
    if chosen.noise == "joint" and len(set(chosen.means.weights)) > 1:
        raise ValueError(
            "joint noise gives every mean the same share of its range, so weights have no use among means; "
            'leave weights out, or choose noise "laplace".'
        )


def _check_choices(chosen: SampleParameters) -> None:
    if chosen.aggregator not in ("clipped_mean", "median", "auto"):
        raise ValueError('aggregator must be "clipped_mean", "median" or "auto".')
    if chosen.noise not in ("laplace", "joint", "gaussian", "auto"):
        raise ValueError('noise must be "laplace", "joint", "gaussian" or "auto".')
    if chosen.interval not in ("noise", "sampling"):
        raise ValueError('interval must be "noise" or "sampling".')
    if not isinstance(chosen.count_failures, bool):
        raise ValueError("count_failures must be true or false.")


def _check_number_of_outputs(chosen: SampleParameters) -> None:
    if not 1 <= len(chosen.grids) <= MAX_JOINT_OUTPUTS:
        raise ValueError(
            f"declare 1 to {MAX_JOINT_OUTPUTS} output numbers; every one of them costs accuracy."
        )


def _check_blocks(chosen: SampleParameters) -> None:
    if not _is_int(chosen.blocks) or not MIN_BLOCKS <= chosen.blocks <= MAX_BLOCKS:
        raise ValueError(f"the number of blocks must be from {MIN_BLOCKS} to {MAX_BLOCKS}.")
    if chosen.people is not None and not (_is_int(chosen.people) and chosen.people >= chosen.blocks):
        raise ValueError("people, the nominal size, must be at least the number of blocks.")
    if not _is_int(chosen.repeats) or not 1 <= chosen.repeats <= MAX_REPEATS:
        raise ValueError(f"repeats must be from 1 to {MAX_REPEATS}.")
    if chosen.plan.runs > MAX_BLOCKS:
        raise ValueError(f"blocks times repeats must be at most {MAX_BLOCKS} runs; ask for fewer repeats.")


def _check_spread_ratios(chosen: SampleParameters) -> None:
    ratios = chosen.spread_ratios
    if chosen.aggregator != "auto":
        if ratios is not None:
            raise ValueError('spread_ratios are for aggregator "auto" only; leave them out.')
        return
    if ratios is None or len(ratios) != len(chosen.grids):
        raise ValueError('aggregator "auto" needs spread_ratios, one per output, from a run on the twin.')
    if not all((_is_int(ratio) or isinstance(ratio, Fraction)) and 1 <= ratio <= 10**9 for ratio in ratios):
        raise ValueError("spread_ratios must be exact numbers from 1 to 1000000000.")


def _check_delta(chosen: SampleParameters) -> None:
    if chosen.noise in ("laplace", "joint") and chosen.atto_delta is not None:
        raise ValueError(f"{chosen.noise} noise needs no delta; leave atto_delta out.")
    if chosen.noise == "gaussian" and chosen.aggregator != "clipped_mean":
        raise ValueError('gaussian noise is for clipped means; choose aggregator "clipped_mean".')
    if chosen.noise == "gaussian" and chosen.atto_delta is None:
        raise ValueError("gaussian noise needs atto_delta, the delta that its promise allows.")
    if chosen.atto_delta is not None:
        check_amount(Currency.DELTA, chosen.atto_delta)


def _check_weights(chosen: SampleParameters) -> None:
    if chosen.weights is None:
        return
    if len(chosen.weights) != len(chosen.grids):
        raise ValueError("weights must have one entry per output.")
    if not all(_is_int(weight) and 1 <= weight <= MAX_WEIGHT for weight in chosen.weights):
        raise ValueError(f"weights must be whole numbers from 1 to {MAX_WEIGHT}.")


def _check_parts(chosen: SampleParameters) -> None:
    if chosen.parts is None:
        return
    if len(chosen.parts) != len(chosen.grids):
        raise ValueError("parts must have one entry per output.")
    pairs = zip(chosen.parts, chosen.grids, strict=True)
    if not all(part.absent is None or 0 <= part.absent <= grid.cells for part, grid in pairs):
        raise ValueError("what counts for whoever is absent must be a point of the grid.")
    if all(part.quantile is None for part in chosen.parts):
        return
    if chosen.atto_delta is not None:
        raise ValueError("a quantile is drawn by ranks and has no use for a delta; leave the delta out.")
    if chosen.interval == "sampling":
        raise ValueError('interval "sampling" is for means and medians; leave it out beside a quantile.')


def _check_clip(chosen: SampleParameters) -> None:
    if chosen.clip_norm is None:
        return
    if chosen.aggregator != "clipped_mean":
        raise ValueError('clip_norm is for vectors of means; choose aggregator "clipped_mean".')
    if chosen.atto_delta is None:
        raise ValueError("clip_norm goes with gaussian noise, which needs a delta; add one, or leave it out.")
    if chosen.weights is not None and len(set(chosen.weights)) > 1:
        raise ValueError(
            "clip_norm measures every output in its own half-range; leave weights out, or widen the bounds "
            "of outputs that may be noisier."
        )
    if chosen.parts is not None:
        raise ValueError("clip_norm is for vectors; leave it out beside numbers over people.")
    if chosen.interval == "sampling":
        raise ValueError(
            "a sampling interval is of blocks before they are clipped; leave clip_norm or interval out."
        )


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

"""The public parameters of sample and aggregate, and everything that follows from them before data is read.

Must never see a run's output. Every refusal names the parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

from privacy.block_rules import Aggregator, resolve_aggregators
from privacy.clipped_mean import gaussian_noise, laplace_noise
from privacy.concentrated import ceil_pico, largest_pico_rho, rho_of_bounded_range, rho_of_pure
from privacy.cost import PICO, Cost, Currency, check_amount, format_amount
from privacy.epsilon_shares import EpsilonShares, divide
from privacy.grid import OutputGrid
from privacy.loss import MICRO, GuaranteeClass, check_micro_epsilon
from privacy.mechanism import MAX_OUTPUTS
from privacy.noise import LaplaceNoise, Noise
from privacy.partition import MIN_BLOCKS
from privacy.plan import Blocks

MAX_BLOCKS = 1_000_000
"""Most runs of one job, over all repeats."""

MAX_REPEATS = 100
MAX_WEIGHT = 1_000

MAX_GAUSSIAN_OUTPUTS = 100
"""Gaussian noise grows with the root of the number of outputs, so more of them are of use."""

FAILED_RUNS = "failed_runs"


@dataclass(frozen=True)
class SampleParameters:
    """All public and fixed before any data is read. Raises ValueError for what does not make sense together.

    grids           one per output: 1 to 20, or to 100 with Gaussian noise
    blocks          l, at least 2; `repeats` partitions of their own make l * repeats runs
    micro_epsilon   the loss of everything that is released, together
    aggregator      of all outputs; "auto" takes the median where `block_rules` says so, given spread_ratios
    spread_ratios   for "auto": R/s of every output, width of its range over standard deviation of one block's
    noise           of clipped means; "gaussian" needs atto_delta, the delta in units of 10^-18
    weights         how epsilon (with Gaussian noise: rho) is divided among the outputs; equally if left out
    count_failures  whether to release how many runs failed, for 5% of epsilon
    interval        "sampling" adds an interval for the population, for 30% of every output's epsilon
    people          C, the PUBLIC nominal size: the slots into which people are dealt; one a block if left out
    """

    mechanism: ClassVar[str] = "sample_aggregate"
    relation: ClassVar[str] = "add or remove one privacy unit"

    grids: tuple[OutputGrid, ...]
    blocks: int
    micro_epsilon: int
    repeats: int = 1
    aggregator: Literal["clipped_mean", "median", "auto"] = "clipped_mean"
    spread_ratios: tuple[Fraction | int, ...] | None = None
    noise: Literal["laplace", "gaussian"] = "laplace"
    atto_delta: int | None = None
    weights: tuple[int, ...] | None = None
    count_failures: bool = False
    interval: Literal["noise", "sampling"] = "noise"
    people: int | None = None

    def __post_init__(self) -> None:
        _check_choices(self)
        _check_outputs(self)
        _check_blocks(self)
        check_micro_epsilon(self.micro_epsilon)
        _check_spread_ratios(self)
        _check_delta(self)
        _check_weights(self)
        _ = (
            self.noises,
            self.failure_noise,
        )  # refuses noise that cannot be drawn, now rather than after the runs

    @property
    def guarantee(self) -> GuaranteeClass:
        return GuaranteeClass.APPROX_DP if self.noise == "gaussian" else GuaranteeClass.PURE_DP

    @property
    def plan(self) -> Blocks:
        return Blocks(self.blocks, self.blocks if self.people is None else self.people, self.repeats)

    @property
    def cost(self) -> Cost:
        delta = {} if self.atto_delta is None else {Currency.DELTA: self.atto_delta}
        return Cost.of({Currency.EPSILON: self.micro_epsilon, **delta})

    @property
    def diagnostics(self) -> tuple[str, ...]:
        """Names of the released numbers that follow those of the outputs."""
        return (FAILED_RUNS,) if self.count_failures else ()

    @cached_property
    def shares(self) -> EpsilonShares:
        """The epsilon of every part of the release."""
        return divide(
            Fraction(self.micro_epsilon, MICRO),
            self._weights,
            count_failures=self.count_failures,
            sampling_interval=self.interval == "sampling",
        )

    @cached_property
    def aggregators(self) -> tuple[Aggregator, ...]:
        """ "clipped_mean" or "median" for every output."""
        if self.spread_ratios is not None:
            return resolve_aggregators(self.spread_ratios, blocks=self.blocks, epsilons=self.shares.values)
        return ("median" if self.aggregator == "median" else "clipped_mean",) * len(self.grids)

    @cached_property
    def noises(self) -> tuple[Noise | None, ...]:
        """What is added to every output's sum of grid units over all runs; None for a median."""
        return tuple(
            None if aggregator == "median" else self._noise_of_mean(index)
            for index, aggregator in enumerate(self.aggregators)
        )

    @cached_property
    def failure_noise(self) -> LaplaceNoise | None:
        """What is added to the number of failed runs, if that is released: one person can fail `repeats`."""
        return laplace_noise(self.repeats, epsilon=self.shares.failures) if self.count_failures else None

    @cached_property
    def pico_rho(self) -> int:
        """zCDP of the whole release in pico-rho, rounded up: the sum over its independent parts.

        At most the epsilon^2/2 of a pure release as one piece, and far below it for many outputs.
        """
        pairs = zip(self.aggregators, self.shares.values, strict=True)
        if self.noise == "gaussian":
            values = self._rho_of_values
        else:
            values = sum((_rho(aggregator, epsilon) for aggregator, epsilon in pairs), start=Fraction(0))
        quartiles = sum(2 * rho_of_bounded_range(epsilon) for epsilon in self.shares.quartiles)
        return ceil_pico(values + quartiles + rho_of_pure(self.shares.failures))

    def noise_scale(self, index: int) -> Fraction:
        """Scale of the noise on output `index`'s sum of grid units over all runs; ValueError for a median."""
        noise = self.noises[index]
        if noise is None:
            raise ValueError("a median has no noise scale: its error depends on how the outputs are spread.")
        return noise.scale

    def default(self, run: int) -> tuple[int, ...]:
        """Grid units that stand for run number `run` if it fails, whatever the data.

        A mean counts the middle of the range. A median counts the lower bound for even runs and the upper
        for odd ones: that leaves the middle rank where it is, whereas middles would drag it to the middle.
        """
        return tuple(
            grid.middle if aggregator == "clipped_mean" else grid.cells * (run % 2)
            for grid, aggregator in zip(self.grids, self.aggregators, strict=True)
        )

    def parameters(self) -> dict[str, object]:
        """Public facts for the certificate, JSON values only; exact numbers as text."""
        return {
            "aggregators": list(self.aggregators),
            "people": self.plan.people,
            "blocks": self.blocks,
            "repeats": self.repeats,
            "noise": f"discrete {self.noise}",
            "delta": None if self.atto_delta is None else format_amount(Currency.DELTA, self.atto_delta),
            "rho": format_amount(Currency.RHO, self.pico_rho),
            "weights": list(self._weights),
            "shares": self._share_texts(),
            "noise_scales": [
                None if noise is None else str(noise.scale * grid.step / self.plan.runs)
                for noise, grid in zip(self.noises, self.grids, strict=True)
            ],
            "count_failures": self.count_failures,
            "interval": self.interval,
        }

    def _share_texts(self) -> dict[str, object]:
        """The epsilon of each part as exact text; that of a quartile pays for each of two."""
        return {
            "values": [str(share) for share in self.shares.values],
            "quartiles": [str(share) for share in self.shares.quartiles],
            "failed_runs": str(self.shares.failures),
        }

    @property
    def _weights(self) -> tuple[int, ...]:
        return self.weights if self.weights is not None else (1,) * len(self.grids)

    @cached_property
    def _rho_of_values(self) -> Fraction:
        """Of Gaussian means together: what implies the values' epsilon and delta. At the least of both,
        0.000665 and 10^-18, it is still thousands of pico-rho."""
        assert self.atto_delta is not None
        return Fraction(largest_pico_rho(sum(self.shares.values, start=Fraction(0)), self.atto_delta), PICO)

    def _noise_of_mean(self, index: int) -> Noise:
        sensitivity = self.repeats * self.grids[index].cells
        if self.noise == "laplace":
            return laplace_noise(sensitivity, epsilon=self.shares.values[index])
        rho = self._rho_of_values * self._weights[index] / sum(self._weights)
        return gaussian_noise(sensitivity, rho=rho)


def _rho(aggregator: Aggregator, epsilon: Fraction) -> Fraction:
    return rho_of_pure(epsilon) if aggregator == "clipped_mean" else rho_of_bounded_range(epsilon)


def _check_choices(chosen: SampleParameters) -> None:
    if chosen.aggregator not in ("clipped_mean", "median", "auto"):
        raise ValueError('aggregator must be "clipped_mean", "median" or "auto".')
    if chosen.noise not in ("laplace", "gaussian"):
        raise ValueError('noise must be "laplace" or "gaussian".')
    if chosen.interval not in ("noise", "sampling"):
        raise ValueError('interval must be "noise" or "sampling".')
    if not isinstance(chosen.count_failures, bool):
        raise ValueError("count_failures must be true or false.")


def _check_outputs(chosen: SampleParameters) -> None:
    most = MAX_GAUSSIAN_OUTPUTS if chosen.noise == "gaussian" else MAX_OUTPUTS
    if not 1 <= len(chosen.grids) <= most:
        raise ValueError(
            f"declare 1 to {most} output numbers for {chosen.noise} noise; every one of them costs accuracy."
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
    if chosen.noise == "laplace":
        if chosen.atto_delta is not None:
            raise ValueError("laplace noise needs no delta; leave atto_delta out.")
        return
    if chosen.aggregator != "clipped_mean":
        raise ValueError('gaussian noise is for clipped means; choose aggregator "clipped_mean".')
    if chosen.atto_delta is None:
        raise ValueError("gaussian noise needs atto_delta, the delta that its promise allows.")
    check_amount(Currency.DELTA, chosen.atto_delta)


def _check_weights(chosen: SampleParameters) -> None:
    if chosen.weights is None:
        return
    if len(chosen.weights) != len(chosen.grids):
        raise ValueError("weights must have one entry per output.")
    if not all(_is_int(weight) and 1 <= weight <= MAX_WEIGHT for weight in chosen.weights):
        raise ValueError(f"weights must be whole numbers from 1 to {MAX_WEIGHT}.")


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

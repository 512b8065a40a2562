"""The public parameters of sample and aggregate, and everything that follows from them before data is read.

Must never see a run's output. Every refusal names the parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

from privacy.block_rules import Aggregator, resolve_aggregators
from privacy.clipped_mean import laplace_noise
from privacy.concentrated import ceil_pico, largest_pico_rho, rho_of_bounded_range, rho_of_pure
from privacy.cost import PICO, Cost, Currency, format_amount
from privacy.epsilon_shares import EpsilonShares, divide
from privacy.grid import OutputGrid
from privacy.joint_noise import JointNoise
from privacy.l2_clip import L2Clip
from privacy.loss import MICRO, GuaranteeClass, check_micro_epsilon
from privacy.mean_noise import Means, NoiseKind, joint_of, narrowest, noises_of
from privacy.mechanism import MAX_OUTPUTS
from privacy.median import MEDIAN
from privacy.noise import LaplaceNoise, Noise
from privacy.people import Part, default_by_rank
from privacy.plan import Blocks
from privacy.sample_checks import MAX_BLOCKS as MAX_BLOCKS
from privacy.sample_checks import MAX_JOINT_OUTPUTS as MAX_JOINT_OUTPUTS
from privacy.sample_checks import MAX_REPEATS as MAX_REPEATS
from privacy.sample_checks import MAX_WEIGHT as MAX_WEIGHT
from privacy.sample_checks import check_asked, check_resolved

FAILED_RUNS = "failed_runs"


@dataclass(frozen=True)
class SampleParameters:
    """All public and fixed before any data is read. Raises ValueError for what does not make sense together.

    grids           one per output: 1 to 20 of Laplace noise or medians, to 400 with joint or Gaussian noise
    blocks          l, at least 2; `repeats` partitions of their own make l * repeats runs
    micro_epsilon   the loss of everything that is released, together
    aggregator      of all outputs; "auto" takes the median where `block_rules` says so, given spread_ratios
    spread_ratios   for "auto": R/s of every output, width of its range over standard deviation of one block's
    noise           of clipped means: "laplace" for each by itself, "joint" for all together, "gaussian" with
                    atto_delta, or "auto": the narrowest of them, Gaussian noise only where there is a delta
    atto_delta      the delta in units of 10^-18
    weights         how epsilon (with Gaussian noise: rho) is divided among the outputs; equally if left out.
                    Joint noise has no use for them among means: see `mean_noise`
    count_failures  whether to release how many runs failed, for 5% of epsilon
    interval        "sampling" adds an interval for the population, for 30% of every output's epsilon
    clip_norm       C of `L2Clip`, in half-ranges: with Gaussian noise every block's vector is clipped to it,
                    and noise covers no more than that; from 0.001 to the root of the number of outputs
    people          C, the PUBLIC nominal size: the slots into which people are dealt; one a block if left out
    parts           what single outputs are beside their grid: a quantile, a mean whatever the aggregator
    """

    mechanism: ClassVar[str] = "sample_aggregate"
    relation: ClassVar[str] = "add or remove one privacy unit"

    grids: tuple[OutputGrid, ...]
    blocks: int
    micro_epsilon: int
    repeats: int = 1
    aggregator: Literal["clipped_mean", "median", "auto"] = "clipped_mean"
    spread_ratios: tuple[Fraction | int, ...] | None = None
    noise: Literal["laplace", "joint", "gaussian", "auto"] = "laplace"
    atto_delta: int | None = None
    weights: tuple[int, ...] | None = None
    count_failures: bool = False
    interval: Literal["noise", "sampling"] = "noise"
    people: int | None = None
    parts: tuple[Part, ...] | None = None
    clip_norm: Fraction | int | None = None

    def __post_init__(self) -> None:
        check_asked(self)
        check_micro_epsilon(self.micro_epsilon)
        check_resolved(self)
        # refuses noise that cannot be drawn, now rather than after the runs
        _ = self.noises, self.failure_noise

    @property
    def guarantee(self) -> GuaranteeClass:
        is_gaussian = self.resolved_noise == "gaussian"
        return GuaranteeClass.APPROX_DP if is_gaussian else GuaranteeClass.PURE_DP

    @property
    def plan(self) -> Blocks:
        return Blocks(self.blocks, self.blocks if self.people is None else self.people, self.repeats)

    @property
    def cost(self) -> Cost:
        delta = {} if self.spent_delta is None else {Currency.DELTA: self.spent_delta}
        return Cost.of({Currency.EPSILON: self.micro_epsilon, **delta})

    @property
    def spent_delta(self) -> int | None:
        """atto_delta, unless "auto" has found noise that needs none."""
        return self.atto_delta if self.resolved_noise == "gaussian" else None

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
        """ "clipped_mean" or "median" for every output; "median" is also what any quantile counts as."""
        asked: tuple[Aggregator, ...]
        asked = ("median" if self.aggregator == "median" else "clipped_mean",) * len(self.grids)
        if self.spread_ratios is not None:
            asked = resolve_aggregators(
                self.spread_ratios,
                blocks=self.blocks,
                epsilons=self.shares.values,
                variances=self._variances_as_means,
            )
        return tuple(map(Part.aggregator, self._parts, asked))

    def quantile(self, index: int) -> Fraction:
        """Which quantile a "median" is."""
        return self._parts[index].quantile or MEDIAN

    @cached_property
    def resolved_noise(self) -> NoiseKind:
        """The noise of the clipped means, decided from public numbers."""
        return self._noise_of(self.means)

    @cached_property
    def means(self) -> Means:
        """The clipped means in their order, and what the noise of each has to cover."""
        return self._means_among(self.aggregators)

    def _means_among(self, aggregators: Sequence[Aggregator]) -> Means:
        places = [k for k, aggregator in enumerate(aggregators) if aggregator == "clipped_mean"]
        may_be_gaussian = self.atto_delta is not None and self.aggregator == "clipped_mean"
        return Means(
            sensitivities=tuple(self.repeats * self.grids[k].cells for k in places),
            epsilons=tuple(self.shares.values[k] for k in places),
            weights=tuple(self._weights[k] for k in places),
            rho=self._rho_of_values if may_be_gaussian else None,
            clip=None if self.clip_norm is None else L2Clip(self._cells, Fraction(self.clip_norm)),
            repeats=self.repeats,
        )

    def _noise_of(self, means: Means) -> NoiseKind:
        if self.noise != "auto":
            return self.noise
        return narrowest(means, has_laplace=len(self.grids) <= MAX_OUTPUTS)

    def _variances_as_means(self, aggregators: Sequence[Aggregator]) -> list[Fraction]:
        """Of the noise of every output that is a mean among these, in squares of what one person moves it by;
        what is a median stays one."""
        aggregators = tuple(map(Part.aggregator, self._parts, aggregators))
        means = self._means_among(aggregators)
        noises = iter(noises_of(means, self._noise_of(means)) if means.epsilons else ())
        return [
            next(noises).variance / (self.repeats * grid.cells) ** 2
            if aggregator == "clipped_mean"
            else Fraction(0)
            for aggregator, grid in zip(aggregators, self.grids, strict=True)
        ]

    @property
    def clip(self) -> L2Clip | None:
        """The ball that every block's vector is drawn back to; joint noise covers the whole box without."""
        return self.means.clip if self.resolved_noise == "gaussian" else None

    @cached_property
    def joint(self) -> JointNoise | None:
        """The one draw for all clipped means, if their noise is joint."""
        return joint_of(self.means) if self.resolved_noise == "joint" and self.means.epsilons else None

    @cached_property
    def noises(self) -> tuple[Noise | None, ...]:
        """What is added to every output's sum of grid units over all runs; None for a median. Of joint noise,
        the law of each output by itself: `joint` is what a release draws."""
        of_means = iter(noises_of(self.means, self.resolved_noise))
        return tuple(None if aggregator == "median" else next(of_means) for aggregator in self.aggregators)

    @cached_property
    def failure_noise(self) -> LaplaceNoise | None:
        """What is added to the number of failed runs, if that is released: one person can fail `repeats`."""
        return laplace_noise(self.repeats, epsilon=self.shares.failures) if self.count_failures else None

    @cached_property
    def pico_rho(self) -> int:
        """zCDP of the whole release in pico-rho, rounded up: the sum over its independent parts.

        At most the epsilon^2/2 of a pure release as one piece, and far below it for many outputs that are
        noised by themselves. Means with joint noise are one piece of their epsilons together.
        """
        medians = sum(
            (rho_of_bounded_range(epsilon) for epsilon in self._epsilons_of_medians), start=Fraction(0)
        )
        quartiles = sum(2 * rho_of_bounded_range(epsilon) for epsilon in self.shares.quartiles)
        return ceil_pico(self._rho_of_means + medians + quartiles + rho_of_pure(self.shares.failures))

    def noise_scale(self, index: int) -> Fraction:
        """Scale of the noise on output `index`'s sum of grid units over all runs; ValueError for a median."""
        noise = self.noises[index]
        if noise is None:
            raise ValueError("a median has no noise scale: its error depends on how the outputs are spread.")
        return noise.scale

    def default(self, run: int) -> tuple[int, ...]:
        """Grid units that stand for run number `run` if it fails, whatever the data.

        A mean counts the middle of the range, or what its part says. A median counts the lower bound for even
        runs and the upper for odd ones: that leaves the middle rank where it is, whereas middles would drag
        it to the middle; a quantile likewise, in its own proportion.
        """
        return tuple(self._default(index, run) for index in range(len(self.grids)))

    def _default(self, index: int, run: int) -> int:
        grid, absent = self.grids[index], self._parts[index].absent
        if self.aggregators[index] == "median":
            return default_by_rank(grid.cells, self.quantile(index), run)
        return grid.middle if absent is None else absent

    def parameters(self) -> dict[str, object]:
        """Public facts for the certificate, JSON values only; exact numbers as text."""
        return {
            "aggregators": [self._named(index) for index in range(len(self.grids))],
            "people": self.plan.people,
            "blocks": self.blocks,
            "repeats": self.repeats,
            "noise": f"discrete {self.resolved_noise}",
            **({} if self.joint is None else {"joint": self.joint.facts}),
            **({} if self.clip is None else {"clip_norm": str(self.clip.norm)}),
            "delta": None if self.spent_delta is None else format_amount(Currency.DELTA, self.spent_delta),
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

    def _named(self, index: int) -> str:
        quantile = self._parts[index].quantile
        return self.aggregators[index] if quantile is None else f"quantile {quantile}"

    def _share_texts(self) -> dict[str, object]:
        """The epsilon of each part as exact text; that of a quartile pays for each of two."""
        return {
            "values": [str(share) for share in self.shares.values],
            "quartiles": [str(share) for share in self.shares.quartiles],
            "failed_runs": str(self.shares.failures),
        }

    @property
    def _cells(self) -> tuple[int, ...]:
        return tuple(grid.cells for grid in self.grids)

    @property
    def _weights(self) -> tuple[int, ...]:
        return self.weights if self.weights is not None else (1,) * len(self.grids)

    @property
    def _parts(self) -> tuple[Part, ...]:
        return self.parts if self.parts is not None else (Part(),) * len(self.grids)

    @cached_property
    def _rho_of_values(self) -> Fraction:
        """Of Gaussian means together: what implies the values' epsilon and delta. At the least of both,
        0.000665 and 10^-18, it is still thousands of pico-rho."""
        assert self.atto_delta is not None
        return Fraction(largest_pico_rho(sum(self.shares.values, start=Fraction(0)), self.atto_delta), PICO)

    @property
    def _rho_of_means(self) -> Fraction:
        if self.resolved_noise == "gaussian":
            return self._rho_of_values
        if self.joint is not None:
            return rho_of_pure(self.joint.epsilon)
        return sum((rho_of_pure(epsilon) for epsilon in self.means.epsilons), start=Fraction(0))

    @property
    def _epsilons_of_medians(self) -> list[Fraction]:
        pairs = zip(self.aggregators, self.shares.values, strict=True)
        return [epsilon for aggregator, epsilon in pairs if aggregator == "median"]

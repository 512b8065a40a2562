"""A mean in two steps, for declared bounds that are wide: first where it lies, then how much it is.

After Biswas, Dong, Kamath, Ullman 2020 ("CoinPress", section 3.1), with one step more than none and exact on
grids. Un-noised numbers must never leave `release`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

from privacy.block_rules import median_variance_in_spreads
from privacy.cost import Cost, Currency, format_amount
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.loss import GuaranteeClass, check_micro_epsilon
from privacy.mean_noise import NoiseKind
from privacy.mechanism import MAX_OUTPUTS, NoisedOutput, RunOutput
from privacy.plan import Blocks
from privacy.run_outputs import check_run_outputs
from privacy.sample_aggregate import SampleAggregate

FIRST_SHARE = Fraction(1, 4)
"""Of epsilon, for the first step: of shares from 1/10 to 1/2 it is the best or within a tenth of it where the
declared range is 15 to 300 times the spread of blocks."""

REACH = 4
"""Spreads of blocks that a window reaches beyond where the mean may lie. Blocks that spread as a bell would
leave it 6 times in 100,000."""

FIRST_STEP = "first_step_"
"""And the number of an output: what step one released of it."""

_WINS = Fraction(4, 5)
"""Of the variance: a tenth of the error, for which clipping to a window that may miss is worth it."""

_MISSED = Fraction(1, 100)


@dataclass(frozen=True)
class TwoStepMean:
    """Clipped means over blocks whose bounds a first release narrows; neighbours differ by one person.

    grids           one per output, 1 to 20
    spread_ratios   R/s of every output: the width of its declared range over the standard deviation of one
                    block's output, from a twin. Wrong ones cost accuracy, and no privacy
    noise           of both steps: "laplace", "joint" or "auto", as in `SampleAggregate`
    All else as in `SampleParameters`. Raises ValueError for what does not make sense together, and where a
    window would be as wide as the declared range.

    Step one is `SampleAggregate` of clipped means on the declared bounds with a quarter of epsilon, e_1. For
    output k let V_k be what it releases, and h_k the half width within which its noise stays 99 times in 100.
    The window of k is [A_k, A_k + W_k], W_k = 2 ceil(h_k + 4 s_k) grid steps wide: that is public. A_k is the
    point of the grid that puts V_k in its middle, or as near to that as the declared bounds let it. Step two
    is `SampleAggregate` of means clipped to the windows with the other three quarters, e_2: its noise covers
    W_k in place of the declared range. A failed run counts as the middle of the bounds in step one, of the
    window in step two.

    Theorem. Both steps together are (e_1 + e_2)-differentially private with respect to adding or removing
    one person. Proof. Take neighbours and a coupled pair of their partitions, as in the theorem of
    `SampleAggregate`; both steps look at the same runs. For this pair, P(step one gives v) changes by at most
    e^(e_1) for each v. Given v, the windows are the same for both of the pair, as they follow from v and
    public numbers alone. Clipping a run's output to them makes it another function of its block alone, with
    values on the windows' grids, so all but r runs still agree, and P(step two gives w | v) changes by at
    most e^(e_2) for each w: what is shown there for fixed grids holds for the grids that v has fixed. The
    probability of (v, w) is the product, and changes by at most e^(e_1 + e_2). Averaging over the coupling
    keeps the factor. QED.

    What the intervals say. The first release's half width holds, at its level, for the mean between the
    declared bounds. The second's holds for the mean between the bounds of the window, which are released: it
    says nothing of what clipping to the window has cost. Both are released, and so the window.
    """

    mechanism: ClassVar[str] = "sample_aggregate"
    relation: ClassVar[str] = SampleAggregate.relation

    grids: tuple[OutputGrid, ...]
    blocks: int
    micro_epsilon: int
    spread_ratios: tuple[Fraction | int, ...]
    repeats: int = 1
    noise: Literal["laplace", "joint", "auto"] = "auto"
    weights: tuple[int, ...] | None = None
    count_failures: bool = False
    people: int | None = None

    def __post_init__(self) -> None:
        check_micro_epsilon(self.micro_epsilon)
        if not 1 <= len(self.grids) <= MAX_OUTPUTS:
            raise ValueError(f"a mean in two steps is for 1 to {MAX_OUTPUTS} outputs; declare fewer.")
        if len(self.spread_ratios) != len(self.grids) or not all(r >= 1 for r in self.spread_ratios):
            raise ValueError("spread_ratios must have one entry of at least 1 per output, from a twin.")
        if any(width >= grid.cells for width, grid in zip(self.widths, self.grids, strict=True)):
            raise ValueError(
                "the declared bounds are narrow enough, and a first step would not narrow them; choose "
                'aggregator "clipped_mean".'
            )
        _ = self.second(tuple(0 for _ in self.grids))  # refuses noise that cannot be drawn

    @property
    def guarantee(self) -> GuaranteeClass:
        return GuaranteeClass.PURE_DP

    @property
    def resolved_noise(self) -> NoiseKind:
        """Of step two."""
        return self.narrowed.resolved_noise

    @property
    def plan(self) -> Blocks:
        return self.first.plan

    @property
    def cost(self) -> Cost:
        return Cost.of({Currency.EPSILON: self.micro_epsilon})

    @property
    def pico_rho(self) -> int:
        """zCDP of both steps, which compose one after the other (Bun, Steinke 2016, Lemma 2.3)."""
        return self.first.pico_rho + self.narrowed.pico_rho

    @cached_property
    def first(self) -> SampleAggregate:
        """Step one."""
        return self._step(self.grids, int(self.micro_epsilon * FIRST_SHARE), count_failures=False)

    @cached_property
    def narrowed(self) -> SampleAggregate:
        """Step two with windows that begin at the lower bounds: wherever they lie, its noise is the same."""
        return self.second(tuple(0 for _ in self.grids))

    def second(self, starts: Sequence[int]) -> SampleAggregate:
        """Step two, with windows that begin at these grid units."""
        micro = self.micro_epsilon - self.first.micro_epsilon
        grids = tuple(
            window_grid(grid, start, width)
            for grid, start, width in zip(self.grids, starts, self.widths, strict=True)
        )
        return self._step(grids, micro, count_failures=self.count_failures)

    def _step(
        self, grids: tuple[OutputGrid, ...], micro_epsilon: int, *, count_failures: bool
    ) -> SampleAggregate:
        return SampleAggregate(
            grids,
            self.blocks,
            micro_epsilon,
            repeats=self.repeats,
            noise=self.noise,
            weights=self.weights,
            count_failures=count_failures,
            people=self.people,
        )

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Of the windows, in grid units; public."""
        found = []
        for grid, noise, ratio in zip(self.grids, self.first.noises, self.spread_ratios, strict=True):
            assert noise is not None  # both steps are means
            off = Fraction(noise.half_width(_MISSED), self.plan.runs) + 1
            found.append(2 * math.ceil(off + REACH * Fraction(grid.cells) / ratio))
        return tuple(found)

    @property
    def diagnostics(self) -> tuple[str, ...]:
        """Names of the released numbers that follow those of the outputs: the first step's of each."""
        return (*self.narrowed.diagnostics, *(f"{FIRST_STEP}{k + 1}" for k in range(len(self.grids))))

    def default(self, run: int) -> tuple[int, ...]:
        """Grid units that stand for run number `run` if it fails, whatever the data."""
        return self.first.default(run)

    def parameters(self) -> dict[str, object]:
        """Public facts for the certificate: of step two, whose noise is in the values, and of step one."""
        return {
            **self.narrowed.parameters(),
            "aggregators": ["two_step"] * len(self.grids),
            "rho": format_amount(Currency.RHO, self.pico_rho),
            "first_step": self.first.parameters(),
            "windows": list(self.widths),
        }

    def release(
        self, outputs: Sequence[RunOutput], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        """The outputs of step two in their order, the count of failed runs if asked for, then those of step
        one. Call once per job, inside the publishing transaction."""
        check_run_outputs(outputs, grids=self.grids, runs=self.plan.runs)
        rough = self.first.release(outputs, keystream=keystream)
        starts = self.starts([each.value for each in rough])
        step = self.second(starts)
        clipped = [
            None if output is None else self._clipped(output, starts, step.grids) for output in outputs
        ]
        return (*step.release(clipped, keystream=keystream), *rough)

    def starts(self, rough: Sequence[Fraction]) -> tuple[int, ...]:
        """Where the windows around these released numbers begin, in grid units."""
        return tuple(
            min(max(round((value - grid.lower) / grid.step) - width // 2, 0), grid.cells - width)
            for value, grid, width in zip(rough, self.grids, self.widths, strict=True)
        )

    def _clipped(
        self, output: Sequence[int], starts: Sequence[int], grids: Sequence[OutputGrid]
    ) -> tuple[int, ...]:
        """One run's output within the windows, in units of their own finer grids."""
        return tuple(
            min(max(units - start, 0), width) * (fine.cells // width)
            for units, start, width, fine in zip(output, starts, self.widths, grids, strict=True)
        )


def window_grid(grid: OutputGrid, start: int, width: int) -> OutputGrid:
    """The grid between two points of another. Its step depends on `width` alone, and divides the other's."""
    low = grid.lower + start * grid.step
    return OutputGrid.build(low, low + width * grid.step)


def wins(two: TwoStepMean, other: SampleAggregate) -> bool:
    """Whether every output is expected to vary clearly less in two steps than as `other` has it, by the
    spread ratios of a twin. Means: 1/b + v (range/s)^2/b^2 with the noise's variance v in squares of what one
    person moves it; medians as in `block_rules.prefers_median`."""
    return all(
        _variance(two.narrowed, k, Fraction(width, grid.cells) * ratio)
        <= _WINS * _variance(other, k, Fraction(ratio))
        for k, (grid, width, ratio) in enumerate(zip(two.grids, two.widths, two.spread_ratios, strict=True))
    )


def _variance(mechanism: SampleAggregate, index: int, range_over_spread: Fraction) -> Fraction:
    """In squares of the spread of blocks."""
    noise, blocks = mechanism.noises[index], mechanism.blocks
    if noise is None:
        return median_variance_in_spreads(blocks, mechanism.value_epsilon(index))
    moved = mechanism.repeats * mechanism.grids[index].cells
    return Fraction(1, blocks) + noise.variance / moved**2 * range_over_spread**2 / blocks**2

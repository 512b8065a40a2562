"""Sample and aggregate: the noised mean of what a black-box pipeline says about each block of people.

The whole argument for privacy is on this page. Un-noised sums must never leave `release`, and no error
message may repeat a block's output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from privacy.discrete_laplace import quantile, sample
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.loss import MICRO, GuaranteeClass, check_micro_epsilon
from privacy.partition import MIN_BLOCKS

MAX_OUTPUTS = 20
MAX_BLOCKS = 1_000_000


@dataclass(frozen=True)
class NoisedOutput:
    """One released number, in the output's own units. Everything but `value` follows from public parameters.

    A half width h means: with probability at least 95% (99%) over the noise, `value` lies within h of the
    mean of the blocks' clamped and snapped outputs. It covers noise and rounding, not the sampling error.
    """

    value: Fraction
    noise_scale: Fraction
    half_width_95: Fraction
    half_width_99: Fraction


@dataclass(frozen=True)
class SampleAggregate:
    """Clipped mean over blocks with exact discrete Laplace noise: pure epsilon-DP, add or remove a person.

    Parameters, all public and fixed before any data is read: one grid per output (1 to 20), the number of
    blocks l (at least 2), and the loss of the whole release in micro-epsilon. Raises ValueError otherwise.

    Setting. Person i belongs to block hash(key, i) mod l. A pipeline of which nothing is known runs on each
    block alone, in isolation. Block j yields q_j in {0..K_1} x ... x {0..K_p} (grid units), or fails and
    counts as the constant `default_block()`. S_k = sum_j q_jk. Released: (S_k + Z_k) / l steps above lower,
    rounded to the grid, with independent Z_k, P(Z_k = z) ~ exp(-|z|/t_k), t_k = K_k p / epsilon.

    Theorem. The release is epsilon-differentially private with respect to adding or removing one person.
    Proof. Fix the key, and the pipeline's own coins block by block. Data sets D and D' = D + {i} agree
    outside the block b of i, since blocks are assigned identifier by identifier and l does not depend on
    the data. Isolation makes q_j a function of block j alone, so q_j = q'_j for j != b, whereas q_b and
    q'_b are arbitrary points of the same box; a failure changes nothing in this, as the default is a point
    of the box that does not depend on data. Hence |S_k - S'_k| <= K_k for every k: in units of its own
    range, each sum moves by at most one. For every integer vector s,
        P(S + Z = s) / P(S' + Z = s) = prod_k exp((|s_k - S'_k| - |s_k - S_k|) / t_k)
                                    <= exp(sum_k |S_k - S'_k| / t_k) <= exp(sum_k K_k / t_k)
                                     = exp(p * epsilon/p) = e^epsilon.
    Dividing by the constant l and rounding are functions of S + Z alone (post-processing). The bound holds
    for every key and all coins, so it holds on average over them. QED.
    (Dwork, McSherry, Nissim, Smith 2006, Prop. 1; Nissim, Raskhodnikova, Smith 2007 for the blocks;
    Ghosh, Roughgarden, Sundararajan 2009 for the discrete noise.)

    Changing a person's data under the same identifier costs epsilon too. Replacing a person by another
    (one removal, one addition) touches two blocks and costs 2 epsilon.

    The divisor is the fixed l. The number of blocks that succeeded or were not empty is private.

    The result is deliberately not projected to the declared bounds: unprojected noise has mean zero, so that
    releases can be averaged without bias and the half widths hold everywhere. Projecting afterwards is free.
    """

    mechanism: ClassVar[str] = "sample_aggregate"
    aggregator: ClassVar[str] = "clipped_mean"
    guarantee: ClassVar[GuaranteeClass] = GuaranteeClass.PURE_DP
    relation: ClassVar[str] = "add or remove one privacy unit"

    grids: tuple[OutputGrid, ...]
    blocks: int
    micro_epsilon: int

    def __post_init__(self) -> None:
        if not 1 <= len(self.grids) <= MAX_OUTPUTS:
            raise ValueError(f"declare 1 to {MAX_OUTPUTS} output numbers; every one of them costs accuracy.")
        if not isinstance(self.blocks, int) or not MIN_BLOCKS <= self.blocks <= MAX_BLOCKS:
            raise ValueError(f"the number of blocks must be from {MIN_BLOCKS} to {MAX_BLOCKS}.")
        check_micro_epsilon(self.micro_epsilon)

    def noise_scale(self, index: int) -> Fraction:
        """t_k of output `index` in grid units, exactly K_k p / epsilon: every output gets epsilon / p."""
        return Fraction(self.grids[index].cells * len(self.grids) * MICRO, self.micro_epsilon)

    def default_block(self) -> tuple[int, ...]:
        """Grid units that stand for a failed block: the middle of every declared range."""
        return tuple(grid.middle for grid in self.grids)

    def release(
        self, block_outputs: Sequence[tuple[int, ...] | None], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        """Draw the noise and return the release; call once per job, inside the publishing transaction.

        `block_outputs` has one entry per block: grid units for every output, or None for a failed block.
        Raises ValueError for anything else, which is a bug of the platform and never the pipeline's doing.
        """
        filled = self._filled(block_outputs)
        sums = [sum(column) for column in zip(*filled, strict=True)]
        return tuple(self._noised(index, total, keystream=keystream) for index, total in enumerate(sums))

    def _filled(self, block_outputs: Sequence[tuple[int, ...] | None]) -> list[tuple[int, ...]]:
        if len(block_outputs) != self.blocks:
            raise ValueError(
                "platform bug: the number of block outputs is not the declared number of blocks."
            )
        default = self.default_block()
        filled = [default if block is None else block for block in block_outputs]
        if not all(self._is_on_grid(block) for block in filled):
            raise ValueError("platform bug: a block output is not a point of the declared grids.")
        return filled

    def _is_on_grid(self, block: tuple[int, ...]) -> bool:
        # type() rather than isinstance: a bool, or a numpy integer that wraps around, must not be summed
        return len(block) == len(self.grids) and all(
            type(units) is int and 0 <= units <= grid.cells
            for units, grid in zip(block, self.grids, strict=True)
        )

    def _noised(self, index: int, total: int, *, keystream: Keystream | None) -> NoisedOutput:
        grid, scale = self.grids[index], self.noise_scale(index)
        noise = int(sample(scale, 1, keystream=keystream)[0])
        return NoisedOutput(
            value=grid.nearest(grid.value(Fraction(total + noise, self.blocks))),
            noise_scale=scale * grid.step / self.blocks,
            half_width_95=half_width(grid, scale, blocks=self.blocks, alpha=Fraction(1, 20)),
            half_width_99=half_width(grid, scale, blocks=self.blocks, alpha=Fraction(1, 100)),
        )


def half_width(grid: OutputGrid, scale: Fraction, *, blocks: int, alpha: Fraction) -> Fraction:
    """Smallest h with P(|released - mean of blocks| > h) <= alpha, up to the half step that rounding may add.

    In the output's own units; `scale` is the noise scale of the sum in grid units.
    """
    return quantile(alpha, scale) * grid.step / blocks + grid.step / 2

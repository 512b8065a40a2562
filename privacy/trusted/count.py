"""How many rows take part: the simplest trusted query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.mechanism import NoisedOutput
from privacy.trusted.noisy_sums import NoisySums


@dataclass(frozen=True)
class Count:
    """Rows that take part (people, where each contributes one), plus noise of scale C/epsilon.

    Every row adds 1: `NoisySums` with bounds (1,) is the theorem and its proof. The count may come out
    negative; it is not projected, so that releases can be averaged without bias.
    """

    kind: ClassVar[str] = "count"
    grids: ClassVar[tuple[OutputGrid, ...]] = ()
    width: ClassVar[int] = 1
    steps: ClassVar[tuple[Fraction, ...]] = (Fraction(1),)

    micro_epsilon: int
    rows: int = 1

    def __post_init__(self) -> None:
        _ = self._sums

    @cached_property
    def _sums(self) -> NoisySums:
        return NoisySums((1,), rows=self.rows, micro_epsilon=self.micro_epsilon)

    @property
    def rho(self) -> Fraction:
        return self._sums.rho

    def contribution(self, _units: Sequence[int], /) -> Mapping[int, int]:
        """One, whatever the row holds."""
        return {0: 1}

    def parameters(self) -> Mapping[str, object]:
        return {"noise": "discrete_laplace", "noise_scale": str(self._sums.scale(0))}

    def release(
        self, totals: Sequence[int], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        (count,) = self._sums.release(totals, keystream=keystream)
        return (noised_sum(self._sums, 0, count, step=Fraction(1)),)


def noised_sum(sums: NoisySums, index: int, noised: int, *, step: Fraction) -> NoisedOutput:
    """A released sum in its own units; `step` is the worth of one unit."""
    return NoisedOutput(
        value=noised * step,
        noise_scale=sums.scale(index) * step,
        half_width_95=sums.half_width(index, alpha=Fraction(1, 20)) * step,
        half_width_99=sums.half_width(index, alpha=Fraction(1, 100)) * step,
    )

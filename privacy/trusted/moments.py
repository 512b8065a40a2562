"""Noised count, sums and products of several columns: what covariances and regressions are computed from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.trusted.noisy_sums import NoisySums

UNIT = 2**15
"""Integer units of half a column's range: each column is read on the scale -1..1 in steps of 2^-15."""

MAX_COLUMNS = 16


@dataclass(frozen=True)
class NoisedMoments:
    """Noised sums over rows, each column being scaled to -1..1; fractions of them are post-processing."""

    count: int
    sums: tuple[Fraction, ...]
    products: Mapping[tuple[int, int], Fraction]

    @property
    def people(self) -> int:
        """What to divide by."""
        return max(1, self.count)

    def product(self, i: int, j: int) -> Fraction:
        return self.products[min(i, j), max(i, j)]


@dataclass(frozen=True)
class Moments:
    """Sums over rows of 1, of every column u_i in -1..1, and of the products u_i u_j of the listed pairs.

    In integers: with q grid steps of K, u = round(2 M q/K) - M lies in -M..M, M = UNIT. A row adds 1, each
    u_i, u_i u_j for i < j, and 2 u_i^2 - M^2 for a square: the centred square takes half the noise of u_i^2,
    which lies on one side of zero. `NoisySums` with the bounds 1, M and M^2 is the theorem. Its scale grows
    with the number E of sums: every row moves each of them by up to its bound, in the L1 norm E times its
    share.
    """

    columns: tuple[OutputGrid, ...]
    pairs: tuple[tuple[int, int], ...]
    micro_epsilon: int
    rows: int

    @cached_property
    def noisy(self) -> NoisySums:
        bounds = (1, *(UNIT for _ in self.columns), *(UNIT**2 for _ in self.pairs))
        return NoisySums(bounds, rows=self.rows, micro_epsilon=self.micro_epsilon)

    @property
    def width(self) -> int:
        return len(self.noisy.bounds)

    @property
    def relative_scale(self) -> Fraction:
        """Noise scale of each sum, relative to what one row can add."""
        return self.noisy.scale(0)

    def contribution(self, units: Sequence[int], /) -> Mapping[int, int]:
        scaled = [
            (2 * UNIT * unit + grid.cells // 2) // grid.cells - UNIT
            for unit, grid in zip(units, self.columns, strict=True)
        ]
        products = [2 * scaled[i] ** 2 - UNIT**2 if i == j else scaled[i] * scaled[j] for i, j in self.pairs]
        return dict(enumerate((1, *scaled, *products)))

    def release(self, totals: Sequence[int], *, keystream: Keystream | None = None) -> NoisedMoments:
        count, *rest = self.noisy.release(totals, keystream=keystream)
        sums, products = rest[: len(self.columns)], rest[len(self.columns) :]
        return NoisedMoments(
            count=count,
            sums=tuple(Fraction(total, UNIT) for total in sums),
            products={
                (i, j): (Fraction(total, UNIT**2) + count) / 2 if i == j else Fraction(total, UNIT**2)
                for (i, j), total in zip(self.pairs, products, strict=True)
            },
        )


def check_columns(columns: Sequence[OutputGrid], *, least: int) -> None:
    if not least <= len(columns) <= MAX_COLUMNS:
        raise ValueError(
            f"name {least} to {MAX_COLUMNS} columns; every pair of them takes its share of epsilon."
        )


@dataclass(frozen=True)
class OfMoments(ABC):
    """A query over several columns that is a function of their noised moments."""

    grids: tuple[OutputGrid, ...]
    micro_epsilon: int
    rows: int = 1

    def __post_init__(self) -> None:
        check_columns(self.grids, least=2)
        _ = self.moments.noisy

    @property
    @abstractmethod
    def moments(self) -> Moments:
        """Which products it needs."""

    @property
    def width(self) -> int:
        return self.moments.width

    @property
    def rho(self) -> Fraction:
        return self.moments.noisy.rho

    def contribution(self, units: Sequence[int], /) -> Mapping[int, int]:
        return self.moments.contribution(units)

    def parameters(self) -> Mapping[str, object]:
        return {
            "noise": "discrete_laplace",
            "sums": self.width,
            "relative_noise_scale": str(self.moments.relative_scale),
        }

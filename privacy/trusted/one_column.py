"""What sum, mean and variance share: one column, read on one grid, and noised sums of what a row adds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from privacy.grid import OutputGrid
from privacy.trusted.noisy_sums import NoisySums


@dataclass(frozen=True)
class OneColumn(ABC):
    """The column's grid, the loss of the release, the most rows of one person. ValueError for bad ones."""

    grid: OutputGrid
    micro_epsilon: int
    rows: int = 1

    def __post_init__(self) -> None:
        _ = self._sums  # checks them

    @property
    @abstractmethod
    def _sums(self) -> NoisySums:
        """The sums that the query noises, with the bounds of what a row adds to each."""

    @property
    def grids(self) -> tuple[OutputGrid, ...]:
        return (self.grid,)

    @property
    def rho(self) -> Fraction:
        return self._sums.rho

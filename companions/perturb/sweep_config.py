"""A sweep as its owner writes it: one array, and lists of mechanisms, epsilons and deltas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from companions.perturb.method import MECHANISMS, Request
from domain.loss import Delta, Epsilon
from domain.model import Model, Number, Whole
from dpgate.errors import DpgateError
from privacy.perturbation import LAWS

MAX_CELLS = 10_000
Bound = Number | str
Cells = Annotated[tuple[str, ...], Field(min_length=1)]


@dataclass(frozen=True)
class Cell:
    """One combination; `name` is the name of its files."""

    mechanism: str
    epsilon: str
    delta: str | None

    @property
    def name(self) -> str:
        return "-".join(
            [self.mechanism, f"eps{self.epsilon}", *([f"delta{self.delta}"] if self.delta else [])]
        )


class SweepConfig(Model):
    """The keys of a sweep's YAML file. Paths are relative to that file."""

    file: str
    array: str | None = None
    lower: Bound
    upper: Bound
    mechanism: Cells = LAWS
    epsilon: Annotated[tuple[Epsilon, ...], Field(min_length=1)]
    delta: tuple[Delta, ...] = ()
    variant: Literal["exact", "fast"] = "exact"
    missing: Literal["refuse", "clip", "keep-mask"] = "refuse"
    values_per_person: Annotated[Whole, Field(ge=1)] | None = None

    def cells(self) -> tuple[Cell, ...]:
        """Every mechanism with every epsilon and, where it takes one, every delta; in the order written."""
        found = tuple(dict.fromkeys(self._each_cell()))
        if len(found) > MAX_CELLS:
            raise DpgateError(f"the sweep has {len(found)} cells; at most {MAX_CELLS} fit")
        return found

    def _each_cell(self) -> Iterator[Cell]:
        for mechanism in self.mechanism:
            if mechanism not in MECHANISMS:
                raise DpgateError(f"mechanism: must be of {', '.join(MECHANISMS)}")
            takes_delta = mechanism != "laplace"
            if takes_delta and not self.delta:
                raise DpgateError(f"delta: {mechanism} takes one; list at least one, such as 1e-9")
            for epsilon in self.epsilon:
                for delta in self.delta if takes_delta else (None,):
                    yield Cell(mechanism, epsilon, delta)

    def request(self, cell: Cell) -> Request:
        """The cell as a request; the fast variant goes to Laplace noise, which alone has one."""
        return Request(
            lower=self.lower,
            upper=self.upper,
            epsilon=cell.epsilon,
            delta=cell.delta,
            mechanism=cell.mechanism,
            fast=self.variant == "fast" and cell.mechanism == "laplace",
            missing=self.missing,
        )

    def input_path(self, config: Path) -> Path:
        return config.parent / self.file

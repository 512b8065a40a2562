"""People's rows as a trainer reads them: whole numbers of public units, each person's rows together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacy.training.clipping import MAX_ROWS
from privacy.training.fixed_point import ONE_INPUT, Floats

ROWS_AT_ONCE = 2**11
"""Rows of a step are looked at in parts, so that memory does not grow with people."""


@dataclass(frozen=True)
class Part:
    """Some people's rows, filled up to the same number for each: (people, rows, ...)."""

    inputs: Floats
    targets: Floats
    there: Floats


@dataclass(frozen=True, eq=False)
class PeopleRows:
    """Person i has the rows `starts[i]` to `starts[i + 1]`, at most `most_rows` of them, which is public.
    A person's rows stand in an order that follows from what is in them: `clipping` counts on it.

    `inputs` are units of 2^-12 within -1..1; `targets` numbers of classes, or units of 2^-20. Raises
    ValueError for what a reader of tables cannot have meant, and never says which value it was.
    """

    inputs: NDArray[np.int16]
    targets: NDArray[np.int32]
    starts: NDArray[np.int64]
    most_rows: int = 1

    def __post_init__(self) -> None:
        counts = np.diff(self.starts)
        if not 1 <= self.most_rows <= MAX_ROWS:
            raise ValueError(f"a person has 1 to {MAX_ROWS} rows at most.")
        if self.inputs.dtype != np.int16 or self.targets.dtype != np.int32 or self.starts[0] != 0:
            raise ValueError("platform bug: rows are not the whole numbers that a trainer needs.")
        if len(self.inputs) != len(self.targets) or len(self.inputs) != self.starts[-1]:
            raise ValueError("platform bug: rows, targets and people do not go together.")
        if (counts < 0).any() or (counts > self.most_rows).any():
            raise ValueError("platform bug: somebody has more rows than the public limit.")
        if self.inputs.size and (self.inputs.max() > ONE_INPUT or self.inputs.min() < -ONE_INPUT):
            raise ValueError("platform bug: inputs are outside of -1 to 1.")

    def __len__(self) -> int:
        return len(self.starts) - 1

    def parts(self, people: NDArray[np.intp]) -> Iterator[Part]:
        """The rows of these people, in parts. Who has none contributes nothing, and is left out."""
        people = people[self.starts[people + 1] > self.starts[people]]
        at_once = ROWS_AT_ONCE // self.most_rows
        for start in range(0, len(people), at_once):
            yield self._part(people[start : start + at_once])

    def _part(self, people: NDArray[np.intp]) -> Part:
        begins, counts = self.starts[people], self.starts[people + 1] - self.starts[people]
        places = np.arange(self.most_rows)
        there = places < counts[:, None]
        # rows that fill up repeat row 0; they contribute nothing
        rows = np.where(there, begins[:, None] + places, 0)
        return Part(
            self.inputs[rows].astype(np.float64),
            self.targets[rows].astype(np.float64),
            there.astype(np.float64),
        )

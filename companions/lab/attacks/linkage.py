"""Linkage: a table without names is searched for somebody of whom a little is known, to learn one thing more.

The attacker knows some columns of each person, as a neighbour would: words and small numbers exactly, amounts
within a twentieth of the column's range. They name the value that most of the matching rows agree on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companions.lab.simulation import Generator
from companions.lab.subjects import MISSING, Cells

FEW = 120
"""A column of more different numbers is an amount, which nobody knows to the unit. Ages are fewer."""

CLOSE = 0.05
"""How well an attacker knows an amount, and how near counts as having named it: a share of the range."""

Matches = NDArray[np.bool_]
"""(people, rows): does this row of the table fit what is known of this person?"""


@dataclass(frozen=True)
class Known:
    """One column of the real table as the attacker knows it: codes of words, or an amount with its reach."""

    name: str
    numbers: NDArray[np.float64]
    reach: float
    codes: Mapping[str, int]

    @property
    def is_amount(self) -> bool:
        return not self.codes

    def encode(self, cells: Sequence[str]) -> NDArray[np.float64]:
        """Cells of any table with this column, in the attacker's terms; NaN where nothing can match."""
        if self.is_amount:
            return np.array([_to_number(cell) for cell in cells], np.float64)
        return np.array([self.codes.get(_word(cell), np.nan) for cell in cells], np.float64)

    def fits(self, people: NDArray[np.intp], rows: NDArray[np.float64]) -> Matches:
        distance = np.abs(self.numbers[people][:, np.newaxis] - rows[np.newaxis, :])
        return distance <= self.reach  # NaN fits nothing


def know(cells: Cells) -> list[Known]:
    """Every column of the table as an attacker could know it."""
    return [_know_column(name, column) for name, column in cells.items()]


@dataclass(frozen=True)
class Linked:
    """What one search found, for the people searched for: shares from 0 to 1."""

    columns: tuple[str, ...]
    singled_out: float
    named: float


def link(target: Known, known: Sequence[Known], *, people: NDArray[np.intp], table: Cells) -> Linked:
    """Search `table` for each of the people by the known columns, and name their target value."""
    matches = np.ones((len(people), len(table[target.name])), np.bool_)
    for column in known:
        matches &= column.fits(people, column.encode(table[column.name]))
    targets = target.encode(table[target.name])
    usable = matches & ~np.isnan(targets)[np.newaxis, :]
    fallback = _most_named(target, targets[~np.isnan(targets)])
    guesses = np.array([_most_named(target, targets[row]) if row.any() else fallback for row in usable])
    return Linked(
        tuple(column.name for column in known),
        singled_out=float((matches.sum(axis=1) == 1).mean()),
        named=float(named_correctly(target, people, guesses).mean()),
    )


def named_correctly(
    target: Known, people: NDArray[np.intp], guesses: NDArray[np.float64]
) -> NDArray[np.bool_]:
    return np.abs(target.numbers[people] - guesses) <= target.reach


def most_telling(
    columns: Sequence[Known], *, people: NDArray[np.intp], table: Cells, most: int
) -> list[Known]:
    """The columns that single out most people, best first: each is chosen beside the ones before it."""
    chosen: list[Known] = []
    matches = np.ones((len(people), len(next(iter(table.values())))), np.bool_)
    left = list(columns)
    while left and len(chosen) < most:
        fits = [column.fits(people, column.encode(table[column.name])) for column in left]
        alone = [float(((matches & fit).sum(axis=1) == 1).mean()) for fit in fits]
        crowd = [float((matches & fit).sum()) for fit in fits]
        # where nobody is singled out yet, the column that leaves the fewest rows
        best = max(range(len(left)), key=lambda index: (alone[index], -crowd[index]))
        matches &= fits[best]
        chosen.append(left.pop(best))
    return chosen


def choose_people(target: Known, *, most: int, generator: Generator) -> NDArray[np.intp]:
    """At most so many people, at random, of whom the secret is known: otherwise nothing could be right."""
    found = np.flatnonzero(~np.isnan(target.numbers))
    return np.sort(generator.permutation(found)[:most])


def _know_column(name: str, column: Sequence[str]) -> Known:
    numbers = np.array([_to_number(cell) for cell in column], np.float64)
    words = sorted({_word(cell) for cell in column} - MISSING)
    if len(words) > FEW and not np.isnan(numbers[[_word(cell) not in MISSING for cell in column]]).any():
        reach = CLOSE * float(np.nanmax(numbers) - np.nanmin(numbers))
        return Known(name, numbers, reach, {})
    codes = {word: code for code, word in enumerate(words)}
    encoded = np.array([codes.get(_word(cell), np.nan) for cell in column], np.float64)
    return Known(name, encoded, 0.0, codes)


def _most_named(target: Known, found: NDArray[np.float64]) -> float:
    """The commonest word, or the median amount."""
    if target.is_amount:
        return float(np.median(found))
    values, counts = np.unique(found, return_counts=True)
    return float(values[counts.argmax()])


def _word(cell: str) -> str:
    return cell.strip().lower()


def _to_number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")

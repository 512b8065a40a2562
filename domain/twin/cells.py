"""A column as a number of cells, each declared before any data is read: what twins of counts are counted in.

In this order: bins of the declared range, special values, categories (or what they are coarsened to), and
missing as the last where it is declared that values may be. Every cell of a file falls into exactly one of
them, by a rule that looks at that cell alone: numbers beyond the bounds count in the outermost bin, and what
is no value of the column (missing, no number, an unknown category) counts as missing; where missing has no
cell, as the category `other`; where there is none, in the first cell. There is never a cell for what was
found in the data.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from domain.dataset import Column
from domain.dataset.column import plain
from domain.twin.lattice import Lattice, starts

SMALL_SIZE = 500
SECONDS = 86_400
"""Of a day."""

_BINS, _BINS_OF_SMALL = 20, 10
_RANGED = ("integer", "number", "date")
_DIGITS = r"\d+(?:_\d+)*"
_NUMBER = re.compile(
    rf"[ \t-\r]*[+-]?(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?[ \t-\r]*", re.ASCII
)


def has_cells(column: Column) -> bool:
    """Whether it can be counted: text, names of people and what identifies one directly never are."""
    is_direct = column.pii is not None and column.pii.classification == "direct"
    return column.kind in (*_RANGED, "categorical") and not is_direct


def cell_grid(column: Column, nominal_size: int) -> CellGrid:
    """The cells of a column of a data set of so many people. Raises ValueError for one that has none."""
    if not has_cells(column):
        raise ValueError(f"column {column.name} of kind {column.kind} is never counted; leave it at level 0")
    return any_grid(column, nominal_size)


@lru_cache(maxsize=2**14)  # several tables of very many columns
def cell_count(column: Column, nominal_size: int) -> int:
    """How many cells that grid has. Plans ask again and again, and small numbers are cheap to keep."""
    return cell_grid(column, nominal_size).count


def most_cells(column: Column) -> int:
    """No fewer than its grid has, without the work of making one."""
    groups = len(set(column.coarsen.values()) or column.categories)
    bins = (column.bins or _BINS) if column.kind in _RANGED else 0
    return bins + len(column.special_values) + groups + 1


def any_grid(column: Column, nominal_size: int) -> CellGrid:
    """The same also for a column that is never counted: its blank form is drawn from it."""
    with_missing = column.missing_rate > 0 or column.count_missing
    if column.kind == "categorical":
        return CellGrid(column, None, (), tuple(_groups(column)), with_missing)
    lattice = Lattice.of(column)
    bins = column.bins or (_BINS_OF_SMALL if nominal_size < SMALL_SIZE else _BINS)
    points = (lattice.point(value) for value in column.special_values)
    taken = frozenset(point for point in points if point is not None)
    found = starts(lattice, bins=bins, is_log=column.scale == "log", taken=taken)
    return CellGrid(column, lattice, found, (), with_missing)


def _groups(column: Column) -> Iterator[tuple[str, ...]]:
    """The categories of each cell, in declared order."""
    if not column.coarsen:
        yield from ((category,) for category in dict.fromkeys(column.categories))
        return
    for coarse in dict.fromkeys(column.coarsen[category] for category in column.categories):
        yield tuple(each for each in dict.fromkeys(column.categories) if column.coarsen[each] == coarse)


@dataclass(frozen=True)
class CellGrid:
    """`starts` are the first lattice points of the bins, `groups` the categories of each cell."""

    column: Column
    lattice: Lattice | None
    starts: tuple[int, ...]
    groups: tuple[tuple[str, ...], ...]
    has_missing: bool

    @property
    def bins(self) -> int:
        return len(self.starts)

    @property
    def count(self) -> int:
        """How many cells there are."""
        return self.bins + len(self.column.special_values) + len(self.groups) + self.has_missing

    @property
    def missing(self) -> int | None:
        """The cell of missing values."""
        return self.count - 1 if self.has_missing else None

    @cached_property
    def unknown(self) -> int:
        """The cell of whatever is no value of the column."""
        if self.has_missing:
            return self.count - 1
        others = [cell for cell, group in enumerate(self.groups) if any(map(_is_other, group))]
        return others[-1] if others else 0

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """Inner edges of the bins, rising: a number is in the bin of as many edges as are at or below it.
        Of dates, days since the year 1."""
        return tuple(self.lattice.value(start) for start in self.starts[1:]) if self.lattice else ()

    @property
    def specials(self) -> tuple[tuple[float, int], ...]:
        """Each special value with its cell; a number that equals one is in no bin."""
        return tuple((value, self.bins + at) for at, value in enumerate(self.column.special_values))

    @cached_property
    def words(self) -> dict[str, int]:
        """Each category with its cell."""
        return {category: cell for cell, group in enumerate(self.groups) for category in group}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """One short text for each cell, for people."""
        inner = tuple(map(self._shown, range(self.bins)))
        special = tuple(map(plain, self.column.special_values))
        groups = tuple(self.column.coarsen.get(group[0], group[0]) for group in self.groups)
        return (*inner, *special, *groups, *(("missing",) if self.has_missing else ()))

    def codes(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The cell of each text; never fails, and each result depends on its own text alone."""
        if self.column.kind == "categorical":
            return np.array([self.words.get(text, self.unknown) for text in texts], dtype=np.int32)
        numbers = np.array([self._number(text) for text in texts], dtype=np.float64)
        found = np.searchsorted(np.array(self.edges), numbers, side="right").astype(np.int32)
        for value, cell in self.specials:
            found[numbers == value] = cell
        found[np.isnan(numbers)] = self.unknown
        return found

    def text(self, code: int, draw: random.Random) -> str:
        """A value of a cell, as it would stand in the file: `codes` of it gives the cell again."""
        if code == self.missing:
            return self.column.missing
        if self.groups:
            group = self.groups[code]
            return self.column.coarsen[group[0]] if self.column.is_generalised else draw.choice(group)
        if code >= self.bins:
            return plain(self.column.special_values[code - self.bins])
        start, stop = self._run(code)
        if self.column.is_generalised:
            return self._written((start + stop - 1) // 2, code, SECONDS // 2)  # as the import writes it
        point = draw.randrange(start, stop)
        while point in self._taken:  # every cell has a point that is not
            point = point + 1 if point + 1 < stop else start
        second = draw.randrange(1, SECONDS) if self.column.with_time else 0
        return self._written(point, code, second)

    def texts(self, codes: NDArray[np.int32], draw: random.Random) -> list[str]:
        """`text` of each."""
        return [self.text(code, draw) for code in codes.tolist()]

    def _number(self, text: str) -> float:
        if text == self.column.missing:
            return math.nan
        if self.column.kind == "date":
            day = self.column.day_of(text)
            return math.nan if day is None else float(day.toordinal())
        number = float(text) if _NUMBER.fullmatch(text) else math.nan
        return number if math.isfinite(number) else math.nan

    @cached_property
    def _taken(self) -> frozenset[int]:
        assert self.lattice is not None
        points = map(self.lattice.point, self.column.special_values)
        return frozenset(point for point in points if point is not None)

    def _run(self, code: int) -> tuple[int, int]:
        assert self.lattice is not None
        stop = self.starts[code + 1] if code + 1 < self.bins else self.lattice.last + 1
        return self.starts[code], stop

    def _written(self, point: int, code: int, second: int = 0) -> str:
        assert self.lattice is not None
        text = written(self.column, self.lattice, point, second)
        # floats are coarser than the lattice where numbers are very large: then the cell's first one
        if self.lattice.decimals and abs(point) > 2**53 and self.codes([text])[0] != code:
            return repr(self.edges[code - 1]) if code else repr(self.lattice.value(self.lattice.first))
        return text

    def _shown(self, code: int) -> str:
        assert self.lattice is not None
        start, stop = self._run(code)
        ends = [self._written(start, code), self._written(stop - 1, code)]
        return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def written(column: Column, lattice: Lattice, point: int, second: int = 0) -> str:
    """A lattice point as it stands in the file; one beyond the ends as the end. `second`: of the day, where
    the column has times."""
    point = min(max(point, lattice.first), lattice.last)
    if column.kind != "date":
        return lattice.text(point)
    day = date.fromordinal(point)
    if not column.with_time:
        return day.isoformat()
    return (datetime.combine(day, time()) + timedelta(seconds=second)).isoformat("T", "seconds")


def _is_other(category: str) -> bool:
    return category.strip().casefold() == "other"

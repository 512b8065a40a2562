"""The release of a twin of counts: what is stored, and all that any twin is ever drawn from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Self, TypeVar, get_args

NoiseName = Literal["laplace", "gaussian"]
VARIANCE: Mapping[NoiseName, int] = {"laplace": 2, "gaussian": 1}
"""About that of the noise, in squares of what is called its scale."""

MAX_CELLS = 1000
"""Most cells of one column."""

_MOST = 2**41
"""Noisy counts lie within this of zero, so that floats hold the sum of a column exactly."""

_FRACTION = re.compile(r"[1-9]\d{0,29}(/[1-9]\d{0,29})?", re.ASCII)
_KEYS = frozenset({"cells", "ones", "one_scale", "merges", "pairs", "pair_scale", "noise"})
_PAIR_KEYS = frozenset({"columns", "counts"})

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class PairCounts:
    """Noisy joint counts of the merged cells of columns a < b; row-major, the cells of a outermost."""

    columns: tuple[int, int]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class NoisyCounts:
    """Whole numbers of rows with their noise; some are below zero. Public once released.

    `ones`      for each column a noisy count of each of its `cells`
    `one_scale` the scale of their discrete Laplace noise, or the standard deviation of Gaussian, in rows
    `merges`    for each column and cell the number of its merged cell: cells that are rare by their noisy
                counts share one. Numbered from 0 without gaps. Empty where there are no pairs
    `pairs`     the chosen pairs, in the order in which they were chosen: the first ones form a tree
    `pair_scale` the same of the noise of their counts; None where there are no pairs
    `noise`     of all counts: "laplace" or "gaussian"

    Raises ValueError for what no release can be.
    """

    cells: tuple[int, ...]
    ones: tuple[tuple[int, ...], ...]
    one_scale: Fraction
    merges: tuple[tuple[int, ...], ...] = ()
    pairs: tuple[PairCounts, ...] = ()
    pair_scale: Fraction | None = None
    noise: NoiseName = "laplace"

    def __post_init__(self) -> None:
        if not self.cells or not all(1 <= count <= MAX_CELLS for count in self.cells):
            raise ValueError(f"noisy counts need columns of 1 to {MAX_CELLS} cells each.")
        if tuple(map(len, self.ones)) != self.cells:
            raise ValueError("noisy counts need one count for every cell of every column.")
        if bool(self.pairs) != bool(self.merges) or bool(self.pairs) != (self.pair_scale is not None):
            raise ValueError("noisy counts have pairs, merges and pair_scale together, or none of them.")
        for count in (*(count for column in self.ones for count in column), *self._pair_counts()):
            if not -_MOST < count < _MOST:
                raise ValueError("a noisy count is beyond 2^41.")
        if self.pairs:
            self._check_pairs()

    def _pair_counts(self) -> tuple[int, ...]:
        return tuple(count for pair in self.pairs for count in pair.counts)

    def _check_pairs(self) -> None:
        if tuple(map(len, self.merges)) != self.cells:
            raise ValueError("merges need one number for every cell of every column.")
        for merge in self.merges:
            if set(merge) != set(range(len(set(merge)))):
                raise ValueError("the numbers of merged cells start at 0 and have no gaps.")
        if len({pair.columns for pair in self.pairs}) < len(self.pairs):
            raise ValueError("a pair of columns occurs twice.")
        for pair in self.pairs:
            first, second = pair.columns
            if not 0 <= first < second < len(self.cells):
                raise ValueError("a pair names two columns, the lower number first.")
            if len(pair.counts) != self.merged_cells[first] * self.merged_cells[second]:
                raise ValueError("a pair needs one count for every two merged cells.")

    @property
    def merged_cells(self) -> tuple[int, ...]:
        """How many merged cells each column has."""
        return tuple(max(merge) + 1 for merge in self.merges)

    @property
    def people(self) -> int:
        """About how many rows were counted, at least 0: the noisy totals of the columns, each weighed by the
        inverse of its variance, which grows with its cells. Never the exact number."""
        weight = sum(Fraction(1, count) for count in self.cells)
        total = sum(Fraction(sum(column), count) for column, count in zip(self.ones, self.cells, strict=True))
        return max(0, round(total / weight))

    def document(self) -> dict[str, object]:
        """As JSON values, for `parse`."""
        document: dict[str, object] = {
            "cells": list(self.cells),
            "ones": [list(column) for column in self.ones],
            "one_scale": str(self.one_scale),
        }
        if self.pairs:
            document["merges"] = [list(merge) for merge in self.merges]
            document["pairs"] = [
                {"columns": list(pair.columns), "counts": list(pair.counts)} for pair in self.pairs
            ]
            document["pair_scale"] = str(self.pair_scale)
        if self.noise != "laplace":
            document["noise"] = self.noise
        return document

    @classmethod
    def parse(cls, document: object) -> Self:
        """What `document` gave, from untrusted JSON values; ValueError for anything else."""
        fields = _mapping(document, _KEYS, needed={"cells", "ones", "one_scale"})
        scale = fields.get("pair_scale")
        return cls(
            cells=_integers(fields["cells"]),
            ones=_list(fields["ones"], _integers),
            one_scale=_scale(fields["one_scale"]),
            merges=_list(fields.get("merges", []), _integers),
            pairs=_list(fields.get("pairs", []), _pair),
            pair_scale=None if scale is None else _scale(scale),
            noise=_noise(fields.get("noise", "laplace")),
        )


def _pair(value: object) -> PairCounts:
    fields = _mapping(value, _PAIR_KEYS, needed=_PAIR_KEYS)
    columns = _integers(fields["columns"])
    if len(columns) != 2:
        raise ValueError("a pair names two columns, the lower number first.")
    return PairCounts((columns[0], columns[1]), _integers(fields["counts"]))


def _mapping(
    value: object, known: frozenset[str], *, needed: Sequence[str] | set[str] | frozenset[str]
) -> Mapping[str, object]:
    if not isinstance(value, dict) or not known >= set(value) >= set(needed):
        raise ValueError(f"noisy counts are an object with {', '.join(sorted(needed))} and nothing unknown.")
    return value


def _list(value: object, read: Callable[[object], _Item]) -> tuple[_Item, ...]:
    if not isinstance(value, list):
        raise ValueError("noisy counts keep their numbers in lists.")
    return tuple(read(item) for item in value)


def _integers(value: object) -> tuple[int, ...]:
    return _list(value, _integer)


def _integer(value: object) -> int:
    # type() rather than isinstance: true is no count
    if type(value) is not int:
        raise ValueError("a noisy count is a whole number.")
    return value


def _scale(value: object) -> Fraction:
    if not isinstance(value, str) or not _FRACTION.fullmatch(value):
        raise ValueError("a noise scale is an exact fraction above zero, such as 3 or 300/7.")
    return Fraction(value)


def _noise(value: object) -> NoiseName:
    for known in get_args(NoiseName):
        if value == known:
            name: NoiseName = known
            return name
    raise ValueError("the noise of counts is laplace or gaussian.")

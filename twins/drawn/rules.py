"""Rows of a twin that keep the declared rules of their table.

Each rule changes its left column and none that another rule has used (domain/dataset/row_rules.py checks
that), so one pass in declared order keeps them all. Rows that lack one of the two values are left alone.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection
from fractions import Fraction

from domain.dataset import Column, Table
from domain.dataset.column import read_date, read_moment
from domain.dataset.row_rules import InOrder, OnALine, Rising
from domain.twin.cells import SECONDS, written
from domain.twin.lattice import Lattice

Row = list[str]

MOST_DEVIATIONS = 3
"""How far from its line a value may be, in deviations."""

_TRIES = 20


class RowRules:
    """The rules of one table, for the rows of one person after another.

    `counted` are the columns whose values come from counts: a line moves them no farther than it must, so
    that what was paid for stays. Other columns are drawn along the line.
    """

    def __init__(self, table: Table, counted: Collection[str] = ()) -> None:
        self._at = {column.name: at for at, column in enumerate(table.columns)}
        self._rules = [
            (rule, table.columns[self._at[rule.left]], Lattice.of(table.columns[self._at[rule.left]]))
            for rule in table.rules
        ]
        self._columns = table.columns
        self._counted = frozenset(counted)

    def keep(self, rows: list[Row], draw: random.Random) -> list[Row]:
        """Change the rows of one person, in place, so that they keep every rule; the same rows."""
        for rule, column, lattice in self._rules:
            left, right = self._at[rule.left], self._at[rule.right]
            other = self._columns[right]
            both = [row for row in rows if column.missing != row[left] and other.missing != row[right]]
            if isinstance(rule, Rising):
                _sort(both, left, right)
                continue
            for row in both:
                known = number_of(row[right])
                if isinstance(rule, OnALine):
                    row[left] = self._on_line(row[left], known, rule, column, lattice, draw)
                else:
                    row[left] = _in_order(row[left], known, rule, column, lattice)
        return rows

    def _on_line(
        self, text: str, known: Fraction, rule: OnALine, column: Column, lattice: Lattice, draw: random.Random
    ) -> str:
        middle, most = rule.intercept + rule.slope * float(known), MOST_DEVIATIONS * rule.sd
        lower, upper = column.bounds
        if column.name in self._counted:
            value = float(number_of(text))
            if abs(value - middle) <= most:
                return text
            value = middle + math.copysign(most, value - middle)
        else:
            tried = (draw.gauss(middle, rule.sd) for _ in range(_TRIES))
            inside = (each for each in tried if lower <= each <= upper and abs(each - middle) <= most)
            value = next(inside, middle)
        value = min(max(value, lower), upper)
        return written(column, lattice, lattice.nearest(value))


def number_of(text: str) -> Fraction:
    """The number, or the day, with its time as a part of it, in a cell of a twin."""
    if moment := read_moment(text):
        return moment.toordinal() + Fraction(moment.hour * 3600 + moment.minute * 60 + moment.second, SECONDS)
    day = read_date(text)
    return Fraction(day.toordinal()) if day else Fraction(text)


def _sort(rows: list[Row], left: int, right: int) -> None:
    rising = sorted((row[left] for row in rows), key=number_of)
    for row, text in zip(sorted(rows, key=lambda row: number_of(row[right])), rising, strict=True):
        row[left] = text


def _in_order(text: str, known: Fraction, rule: InOrder, column: Column, lattice: Lattice) -> str:
    """The value itself where it is in order; else as far on the other side, inside the bounds."""
    value = number_of(text)
    is_fine = {
        ">=": value >= known, ">": value > known, "<=": value <= known, "<": value < known,
    }[rule.order]  # fmt: skip
    if is_fine:
        return text
    mirrored = 2 * known - value
    if rule.order in (">=", ">"):
        nearest = math.ceil(known * lattice.unit) + (rule.order == ">" and _on(lattice, known))
        point = min(max(math.floor(mirrored * lattice.unit), nearest), lattice.last)
        has_room = point >= nearest
    else:
        nearest = math.floor(known * lattice.unit) - (rule.order == "<" and _on(lattice, known))
        point = max(min(math.ceil(mirrored * lattice.unit), nearest), lattice.first)
        has_room = point <= nearest
    if column.with_time and not has_room:  # on the last day, or the first, there is the same moment
        second = (known - math.floor(known)) * SECONDS
        return written(column, lattice, math.floor(known), int(second))
    # bounds may be finer than the decimals: then the bound itself, for which the check left room
    return written(column, lattice, point) if has_room else repr(column.bounds[rule.order in (">=", ">")])


def _on(lattice: Lattice, value: Fraction) -> bool:
    return (value * lattice.unit).denominator == 1

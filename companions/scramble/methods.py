"""What happens to the columns of one table: emptied, permuted, swapped or jittered, by the keystream.

Rows always get another order. stub: every cell but the ids is `n/a`. permute: each column in an order of its
own; columns named together keep theirs, and `within` keeps values among rows that agree in a column. swap: a
share of each column's cells trade places. jitter: numbers are moved by up to a share of their range.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from companions.scramble.agreement import Method
from domain.people_in_paths import MISSING
from dpgate.errors import DpgateError
from privacy.keystream import process_keystream

# a leading zero says that it is a code; more digits do not fit into exact whole numbers
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,11})(?:\.([0-9]{1,6}))?")

Order = NDArray[np.int64]
Columns = list[list[str]]


@dataclass(frozen=True)
class Wishes:
    """A method and its settings. `share` is of cells that trade places, `reach` of a column's range."""

    method: Method
    together: tuple[tuple[str, ...], ...] = ()
    within: str | None = None
    share: float = 0.5
    reach: float = 0.1

    def check(self) -> None:
        """Raises DpgateError for settings of another method, and shares that are none."""
        if (self.together or self.within) and self.method != "permute":
            raise DpgateError("--together and --within belong to --method permute")
        named = [name for group in self.together for name in group]
        if len(named) != len(set(named)):
            raise DpgateError("--together names a column twice")
        for option, share in (("--share", self.share), ("--reach", self.reach)):
            if not 0 < share <= 1:
                raise DpgateError(f"{option} must be more than 0 and at most 1")


@dataclass(frozen=True)
class Columned:
    """A table by column; `ids` are the places of columns that say who or which record a row is, `who` of
    those that say whose it is, where they are fewer."""

    path: str
    names: tuple[str, ...]
    columns: Columns
    rows: int
    ids: frozenset[int]
    who: frozenset[int] = frozenset()


def scrambled(table: Columned, wishes: Wishes) -> Columns:
    """Columns as long as before. Raises DpgateError where only some of the columns of a group are there."""
    whole = _order(table.rows)
    table = replace(table, columns=[_take(column, whole) for column in table.columns])
    made: Mapping[str, Callable[[Columned, Wishes], Columns]] = {
        "stub": _stub,
        "permute": _permute,
        "swap": _swap,
        "jitter": _jitter,
    }
    return made[wishes.method](table, wishes)


def _stub(table: Columned, _wishes: Wishes) -> Columns:
    return [
        list(column) if place in table.ids else ["n/a"] * table.rows
        for place, column in enumerate(table.columns)
    ]


def _permute(table: Columned, wishes: Wishes) -> Columns:
    strata = _strata(table, wishes.within)
    made: Columns = [[] for _ in table.columns]
    for group in _groups(table, wishes):
        # within one order all columns of a group move; the next group gets another one
        order = _order_within(strata)
        for place in group:
            made[place] = _take(table.columns[place], order)
    return made


def _swap(table: Columned, wishes: Wishes) -> Columns:
    many = max(2, round(wishes.share * table.rows))
    made = []
    for place, column in enumerate(table.columns):
        moved = list(column)
        if place not in table.ids and table.rows > 1:
            chosen = _order(table.rows)[:many]
            # a ring: each chosen cell goes one place on, so that none stays where it was
            for source, target in zip(chosen.tolist(), np.roll(chosen, 1).tolist(), strict=True):
                moved[target] = column[source]
        made.append(moved)
    return made


def _jitter(table: Columned, wishes: Wishes) -> Columns:
    return [
        list(column) if place in table.ids else _moved(column, wishes.reach)
        for place, column in enumerate(table.columns)
    ]


def _moved(column: Sequence[str], reach: float) -> list[str]:
    """Numbers on their own grid, mirrored back at the ends of their range; other columns as they are."""
    there = [place for place, cell in enumerate(column) if cell not in MISSING]
    matches = [_NUMBER.fullmatch(column[place]) for place in there]
    if not there or any(match is None for match in matches):
        return list(column)
    digits = max(len(match.group(1) or "") for match in matches if match is not None)
    units = [_units(column[place], digits) for place in there]
    low, high = min(units), max(units)
    most = max(1, round(reach * (high - low)))
    stream = process_keystream()
    made = list(column)
    for place, unit in zip(there, units, strict=True):
        moved = unit + stream.below(2 * most + 1) - most
        moved = low + (low - moved) if moved < low else moved
        moved = high - (moved - high) if moved > high else moved
        made[place] = _text(max(low, moved), digits)
    return made


def _units(cell: str, digits: int) -> int:
    whole, _, part = cell.partition(".")
    return int(whole + part.ljust(digits, "0"))


def _text(units: int, digits: int) -> str:
    if not digits:
        return str(units)
    sign, text = "-" if units < 0 else "", str(abs(units)).rjust(digits + 1, "0")
    return f"{sign}{text[:-digits]}.{text[-digits:]}"


def _groups(table: Columned, wishes: Wishes) -> list[list[int]]:
    left = [place for place, name in enumerate(table.names) if name != wishes.within]
    groups = []
    for names in wishes.together:
        group = [place for place in left if table.names[place] in names]
        if group and len(group) != len(names):
            raise DpgateError(
                f"--together {','.join(names)}: {table.path} lacks one of them, or --within is among them"
            )
        groups.append(group)
        left = [place for place in left if place not in group]
    # the column of --within is the same for every row of its stratum, whatever their order
    staying = [place for place, name in enumerate(table.names) if name == wishes.within]
    return [group for group in (*groups, *([place] for place in left), staying) if group]


def _strata(table: Columned, within: str | None) -> list[Order]:
    if within is None or within not in table.names:
        return [np.arange(table.rows)]
    found: dict[str, list[int]] = {}
    for row, cell in enumerate(table.columns[table.names.index(within)]):
        found.setdefault(cell, []).append(row)
    return [np.array(rows, np.int64) for rows in found.values()]


def _order_within(strata: Sequence[Order]) -> Order:
    """Where each row's value comes from."""
    made = np.zeros(sum(map(len, strata)), np.int64)
    for rows in strata:
        made[rows] = rows[_order(len(rows))]
    return made


def _order(count: int) -> Order:
    """Random: 64 bits for each place, sorted. Two are equal with probability count^2 / 2^65."""
    return np.argsort(process_keystream().words(count, np.uint64), kind="stable")


def _take(column: Sequence[str], order: Order) -> list[str]:
    return [column[place] for place in order.tolist()]

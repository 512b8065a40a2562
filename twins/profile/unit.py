"""Whose the rows of several tables are: the one that lists everybody, and those that share its people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from twins.profile.found import FoundTable, People

_SHARED = 0.5


@dataclass(frozen=True)
class Unit:
    """`people` are the columns of people by path; `table` is the one that lists everybody, if any does."""

    table: str | None
    people: Mapping[str, str]


def find_unit(tables: Mapping[str, FoundTable], wanted: Mapping[str, str] | None = None) -> Unit:
    """The table that most others point at, one row for each person if there is such; `wanted` says beforehand
    which column names people."""
    wanted = wanted or {}
    candidates = list(_candidates(tables, wanted))
    if not candidates:
        return Unit(None, {})
    path, people = max(candidates, key=lambda each: _rank(each[0], each[1], tables))
    columns = {path: people.column}
    for other, table in tables.items():
        if other != path and (found := _sharing(table, people, wanted.get(other))):
            columns[other] = found
    return Unit(path, columns)


def _candidates(tables: Mapping[str, FoundTable], wanted: Mapping[str, str]) -> Iterator[tuple[str, People]]:
    for path, table in tables.items():
        for people in table.people:
            if people.people and wanted.get(path, people.column) == people.column:
                yield path, people


def _rank(
    path: str, people: People, tables: Mapping[str, FoundTable]
) -> tuple[bool, bool, int, bool, int, list[int]]:
    """Largest is best; the last parts only make the choice the same at every call."""
    pointing = sum(
        other != path and _sharing(table, people, None) is not None for other, table in tables.items()
    )
    once = people.rows_per_person[-1:] == (1,)
    is_likeliest = tables[path].people[0] == people
    named = path.rsplit("/", 1)[-1].startswith("participants.")
    return once, named, pointing, is_likeliest, people.people, [-ord(letter) for letter in path]


def _sharing(table: FoundTable, people: People, wanted: str | None) -> str | None:
    """The column of a table whose people are these, or some of them."""
    for own in table.people:
        if wanted is not None and own.column != wanted:
            continue
        if wanted is not None or _overlaps(own.hashes, people.hashes):
            return own.column
    return None


def _overlaps(hashes: Sequence[int], known: Sequence[int]) -> bool:
    """Both are the smallest hashes: up to the smaller end, people who are in both are seen in both."""
    if not hashes or not known:
        return False
    end = min(max(hashes), max(known))
    low = [hashed for hashed in hashes if hashed <= end]
    return bool(low) and sum(hashed in known for hashed in low) >= _SHARED * len(low)

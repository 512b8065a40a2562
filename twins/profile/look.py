"""Answer what a draft asks of bounds, categories and rows from a look at the data: rounded, of many people.

What is written becomes public, and is no differentially private release: its basis says `looked_at_data`. So
that it is no single person's, a bound is the next round number outside of a value that about ten people or
more lie beyond, and a category is one that ten people have at least. What cannot be answered so stays open,
and is named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any

from domain.dataset.column import LONGEST_CATEGORY, ONE_LINE
from domain.dataset.person_size import proposed_rows
from formats.yaml_places import Path, Place, places_of
from twins.profile.draft import ASK, quoted
from twins.profile.found import FoundColumn, FoundTable
from twins.profile.scale import instrument_for

FEWEST = 10
"""People who share whatever is written."""

_FIELDS = (
    "typical_rows", "most_rows", "lower", "upper", "bins", "categories", "coarsen", "basis",
)  # fmt: skip
_STEPS = 5
"""A bound is a multiple of a fifth of the range, or of the next round number below."""

_BINS = "10"
"""Of whatever is generalised: it is not marked as looked up, so no number of rows may decide it."""

_MIDDLE, _THREE_QUARTERS, _MOST = 2, 3, 6  # among quantiles of rows for each person
_OUTER, _INNER = (0, 6), (1, 5)  # 1 and 99 %, 5 and 95 %, among quantiles of numbers


@dataclass
class Looked:
    """The draft with its answers; the columns (and tables) that were answered, and why others stay open."""

    text: str
    answered: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


class _Open(Exception):
    """Why a question stays open, in a few words."""


def look(text: str, content: Mapping[str, Any], tables: Mapping[str, FoundTable], *, today: date) -> Looked:
    """`content` is what the draft holds, `tables` what was found in each of its tables."""
    looked, places, lines = Looked(text), places_of(text), text.split("\n")
    for at, table in enumerate(content.get("tables") or ()):
        if (found := tables.get(str(table.get("path")))) is None:
            continue
        for place, question in _questions(at, table, found, today):
            asked = [name for name in _FIELDS if _is_asked(content, (*place, name))]
            try:
                answers = question()
            except _Open as why:
                looked.left.append(f"{_name(table, place)}: {why}")
                continue
            for name in (name for name in asked if name in answers):
                _write(lines, places[(*place, name)], name, answers[name])
            if "bins" not in answers:  # a number of bins is no look at the data
                looked.answered.append(_name(table, place))
    looked.text = "\n".join(lines)
    return looked


_Question = tuple[Path, Callable[[], Mapping[str, str]]]


def _questions(at: int, table: Mapping[str, Any], found: FoundTable, today: date) -> Iterator[_Question]:
    columns = table.get("columns") or ()
    person = next((each["name"] for each in columns if each.get("kind") == "person"), None)
    known = {column.name: column for column in found.columns}
    heaviest = 1
    if table.get("rows_per_person") == "many":
        people = found.people_of(person)
        rows = people.rows_per_person if people is not None and people.people >= FEWEST else ()
        heaviest = rows[_MOST] if len(rows) > _MOST else max(found.rows, 1)
        if ASK in (table.get("typical_rows"), table.get("most_rows")):
            yield ("tables", at), lambda: _rows(rows)
    for number, column in enumerate(columns):
        place, seen = ("tables", at, "columns", number), known.get(column.get("name", ""))
        if seen is not None and ASK in column.values():
            if column.get("bins") == ASK:
                yield place, partial(dict, bins=_BINS)
            yield place, partial(_of_column, column, seen, heaviest, today)


def _rows(rows: tuple[int, ...]) -> dict[str, str]:
    if len(rows) <= _MOST:
        raise _Open(f"fewer than {FEWEST} people have rows")
    return {
        "typical_rows": str(max(rows[_MIDDLE], 1)),
        "most_rows": str(proposed_rows(rows[_THREE_QUARTERS])),
    }


def _of_column(column: Mapping[str, Any], seen: FoundColumn, heaviest: int, today: date) -> dict[str, str]:
    """`heaviest`: the most rows that one person has."""
    many = seen.present // heaviest
    looked = {"basis": "looked_at_data"}
    if column.get("kind") == "categorical":
        return looked | _categories(seen, heaviest)
    if ASK not in (column.get("lower"), column.get("upper")):
        return {}
    if column.get("kind") != "date":
        return looked | _numbers(seen, many)
    if (column.get("pii") or {}).get("kind") == "DATE_OF_BIRTH":
        return {"lower": quoted("1900-01-01"), "upper": _decade_end(today), "basis": "instrument"}
    return looked | _days(seen, many)


def _categories(seen: FoundColumn, heaviest: int) -> dict[str, str]:
    """In the order of the alphabet: that of their counts would tell of the data. Counts are lower limits."""
    shared = sorted(
        value
        for value, count in seen.frequent
        if count >= FEWEST * heaviest and len(value) <= LONGEST_CATEGORY and re.match(ONE_LINE, value)
    )
    if not shared:
        raise _Open(f"no category is known to be of {FEWEST} people or more")
    listed = ", ".join(map(quoted, shared))
    # a category that is not named is missing in what is imported
    same = ", ".join(f"{quoted(value)}: {quoted(value)}" for value in shared)
    return {"categories": f"[{listed}]", "coarsen": f"{{{same}}}"}


def _numbers(seen: FoundColumn, many: int) -> dict[str, str]:
    scale = instrument_for(seen.name)
    quantiles = seen.numbers.quantiles if seen.numbers is not None else ()
    # a public scale that nearly everybody is within needs no figure of the data
    if scale is not None and all(scale.lower <= value <= scale.upper for value in quantiles):
        return {"lower": f"{scale.lower:g}", "upper": f"{scale.upper:g}", "basis": "instrument"}
    lower, upper = _ends(quantiles, many)
    step = _round_step(upper - lower)
    lower, upper = math.floor(lower / step) * step, math.ceil(upper / step) * step
    return {"lower": _plain(lower), "upper": _plain(upper)}


def _ends(quantiles: tuple[float, ...], many: int) -> tuple[float, float]:
    """1 and 99 %, or 5 and 95 %: whichever ten people lie beyond."""
    if len(quantiles) <= _OUTER[1] or many < 20 * FEWEST:
        raise _Open(
            f"fewer than {20 * FEWEST} people are known to tell of its ends, or it identifies people directly"
        )
    low, high = _OUTER if many >= 100 * FEWEST else _INNER
    if quantiles[low] == quantiles[high]:
        raise _Open("nearly all of its values are the same")
    return quantiles[low], quantiles[high]


def _round_step(width: float) -> float:
    """The largest of 1, 2, 5 and zeros that is no more than a fifth of the width."""
    most = width / _STEPS
    power = 10.0 ** math.floor(math.log10(most))
    return max(each * power for each in (1, 2, 5) if each * power <= most * (1 + 1e-9))


def _plain(value: float) -> str:
    rounded = float(f"{value:.12g}")
    return str(int(rounded)) if rounded.is_integer() and abs(rounded) < 1e15 else repr(rounded)


def _days(seen: FoundColumn, many: int) -> dict[str, str]:
    """Whole decades: from the first day of one to the last day of another."""
    quantiles = seen.days.quantiles if seen.days is not None else ()
    if len(quantiles) < 4 or many < 20 * FEWEST:
        raise _Open(
            f"fewer than {20 * FEWEST} people are known to tell of its ends, or it identifies people directly"
        )
    low, high = (0, 3) if many >= 100 * FEWEST else (1, 2)
    first, last = date.fromisoformat(quantiles[low][:10]), date.fromisoformat(quantiles[high][:10])
    return {
        "lower": quoted(f"{max(first.year // 10 * 10, 1):04d}-01-01"),
        "upper": _decade_end(last),
    }


def _decade_end(day: date) -> str:
    return quoted(f"{day.year // 10 * 10 + 9:04d}-12-31")


def _is_asked(content: Any, path: Path) -> bool:
    for name in path:
        if isinstance(content, Mapping) and name not in content:
            return False
        content = content[name]
    return bool(content == ASK)


def _write(lines: list[str], place: Place, name: str, answer: str) -> None:
    """One line in place of another: an open answer has a line of its own."""
    before = lines[place.first]
    space = before[: len(before) - len(before.lstrip())]
    lines[place.first] = f"{space}{name}: {answer}"


def _name(table: Mapping[str, Any], place: Path) -> str:
    if len(place) == 2:
        return str(table.get("path"))
    return f"{table.get('path')}.{table['columns'][place[3]]['name']}"

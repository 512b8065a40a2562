"""Parquet files for the import: which columns they have, whose each row is, and the declared part of one.

Errors of the engine may quote cells, so none of them leaves this file as it is.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import duckdb

MEMORY_MIB = 256
_ROWS = 65_536
_VECTOR, _USUAL_ROWS = 2048, 122_880
"""Of a row group: its rows are a multiple of the one, and without a word from us the other."""
_CELLS_OF_A_GROUP = 2**21

_WHOLE = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)")
_NUMBER = re.compile(r"FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)")
_TEXT = re.compile(r"VARCHAR|ENUM\(.*\)", re.DOTALL)


class NotParquet(Exception):
    """A file that cannot be read as Parquet. The sentence says nothing about what is in it."""


def columns_of(path: Path) -> dict[str, str]:
    """The engine's type of each column, by name. Raises NotParquet."""
    with _opened() as connection:
        sql = "DESCRIBE FROM read_parquet($place)"
        rows = connection.execute(sql, {"place": str(path)}).fetchall()
    return {name: kind for name, kind, *_ in rows}


def fits(kind: str, declared: str) -> bool:
    """Whether a column of the engine's type can be of the declared kind."""
    if declared == "person":
        return bool(_WHOLE.fullmatch(kind) or kind == "VARCHAR")
    if declared == "categorical":
        return bool(_WHOLE.fullmatch(kind) or _TEXT.fullmatch(kind) or kind == "BOOLEAN")
    if declared in ("date", "text"):
        return bool(_TEXT.fullmatch(kind))  # a date is text like 2020-01-31 wherever it stands
    return bool(_WHOLE.fullmatch(kind) or _NUMBER.fullmatch(kind) or kind == "VARCHAR")


def people_of(path: Path, column: str) -> Iterator[tuple[int, str]]:
    """The number of each row, from 1, and what its column says without spaces around it; empty for nobody."""
    with _opened() as connection:
        sql = f"SELECT {_name(column)} FROM read_parquet($place)"  # noqa: S608  quoted below
        found = connection.execute(sql, {"place": str(path)})
        before = 0
        while rows := found.fetchmany(_ROWS):
            for number, (cell,) in enumerate(rows, start=before + 1):
                yield number, "" if cell is None else str(cell).strip()
            before += len(rows)


def write_declared(
    path: Path,
    columns: Sequence[str],
    target: Path,
    *,
    person: str = "",
    changes: Mapping[str, Callable[[str, str], str]] = MappingProxyType({}),
) -> None:
    """A new file with these columns in this order, and the rows in theirs; nothing else of the old one.

    Cells of the columns in `changes` become what those make of the row's person and the cell as text.
    """
    place = "'" + str(target).replace("'", "''") + "'"
    kinds = columns_of(path) if changes else {}
    with _opened() as connection:
        for number, column in enumerate(columns):
            if column in changes:
                connection.create_function(
                    f"change{number}", changes[column], ["VARCHAR", "VARCHAR"], "VARCHAR"
                )
        names = ", ".join(
            _changed(number, column, person, kinds[column]) if column in changes else _name(column)
            for number, column in enumerate(columns)
        )
        connection.execute(
            f"COPY (SELECT {names} FROM read_parquet($place)) TO {place} "  # noqa: S608  quoted below
            f"{_form(columns)}",
            {"place": str(path)},
        )


def write_cut(
    path: Path,
    columns: Sequence[str],
    target: Path,
    *,
    person: str,
    most: int,
    ticket: Callable[[str, int], bytes],
) -> bool:
    """A new file in which nobody has more than `most` rows: of whoever has, those with the least tickets, by
    the person and the number of the row among the person's own. False, and nothing written, where nobody has.
    """
    place, goal = {"place": str(path)}, "'" + str(target).replace("'", "''") + "'"
    held = list(columns_of(path))
    # named anew: a column may be called what the engine calls the place of a row
    rows = f"FROM read_parquet($place) AS t({', '.join(f'c{number}' for number in range(len(held)))})"
    whose = f"TRIM(CAST(t.c{held.index(person)} AS VARCHAR))"
    many = f"SELECT {whose} {rows} GROUP BY 1 HAVING count(*) > {most}"
    with _opened() as connection:
        heavy = [name for (name,) in connection.execute(many, place).fetchall()]
        if not heavy:
            return False
        theirs = f"SELECT {whose}, t.file_row_number {rows} WHERE {whose} IN (SELECT unnest($heavy))"
        found = connection.execute(theirs, {**place, "heavy": heavy})
        kept = _least(iter(lambda: found.fetchmany(_ROWS), []), most=most, ticket=ticket)
        names = ", ".join(f"t.c{held.index(column)} AS {_name(column)}" for column in columns)
        chosen = f"{whose} NOT IN (SELECT unnest($heavy)) OR t.file_row_number IN (SELECT unnest($kept))"
        connection.execute(
            f"COPY (SELECT {names} {rows} WHERE {chosen}) TO {goal} {_form(columns)}",
            {**place, "heavy": heavy, "kept": kept},
        )
    return True


def _form(columns: Sequence[str]) -> str:
    """Of a table that is written. A row group is in memory until it is whole: wide ones have fewer rows."""
    rows = _CELLS_OF_A_GROUP // len(columns) // _VECTOR * _VECTOR
    return f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {min(max(rows, _VECTOR), _USUAL_ROWS)})"


def _least(
    batches: Iterator[list[tuple[str, int]]], *, most: int, ticket: Callable[[str, int], bytes]
) -> list[int]:
    """The places of the rows that win; of each person so many."""
    seen: Counter[str] = Counter()
    best: dict[str, list[tuple[int, int]]] = {}
    for batch in batches:
        for person, place in batch:
            drawn = (-int.from_bytes(ticket(person, seen[person])), place)
            seen[person] += 1
            own = best.setdefault(person, [])
            if len(own) < most:
                heapq.heappush(own, drawn)
            else:
                heapq.heappushpop(own, drawn)
    return sorted(place for own in best.values() for _, place in own)


def _changed(number: int, column: str, person: str, kind: str) -> str:
    """A missing cell stays missing, and numbers stay numbers."""
    whose, cell = f"TRIM(CAST({_name(person)} AS VARCHAR))", f"CAST({_name(column)} AS VARCHAR)"
    changed = f"change{number}({whose}, {cell})"
    kept = kind if _NUMBER.fullmatch(kind) or _WHOLE.fullmatch(kind) or kind == "DATE" else "VARCHAR"
    return f"TRY_CAST({changed} AS {kept}) AS {_name(column)}"


@contextmanager
def _opened() -> Iterator[duckdb.DuckDBPyConnection]:
    """One thread, bounded memory, and no temporary file: those would hold plain rows."""
    connection = duckdb.connect(":memory:")
    try:
        for name, value in _SETTINGS.items():
            connection.execute(f"SET {name} = '{value}'")
        yield connection
    except (duckdb.Error, MemoryError):
        raise NotParquet("it cannot be read as Parquet") from None
    finally:
        connection.close()


_SETTINGS: Mapping[str, str | int] = {
    "memory_limit": f"{MEMORY_MIB}MiB",
    "threads": 1,
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "true",
    "enable_progress_bar": "false",
}


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'

"""Parquet files for the import: which columns they have, whose each row is, and the declared part of one.

Errors of the engine may quote cells, so none of them leaves this file as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

MEMORY_MIB = 256
_ROWS = 65_536

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


def write_declared(path: Path, columns: Sequence[str], target: Path) -> None:
    """A new file with these columns in this order, and the rows in theirs; nothing else of the old one."""
    names = ", ".join(map(_name, columns))
    place = "'" + str(target).replace("'", "''") + "'"
    with _opened() as connection:
        connection.execute(
            f"COPY (SELECT {names} FROM read_parquet($place)) TO {place} "  # noqa: S608  quoted below
            "(FORMAT parquet, COMPRESSION zstd)",
            {"place": str(path)},
        )


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

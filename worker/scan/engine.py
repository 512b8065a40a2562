"""The one way to run SQL: in memory, on one file, with everything else locked away.

Errors of the engine may quote cells, so none of them leaves this file as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from domain.errors import PlatformError
from worker.scan.source import Source


class ScanFailed(PlatformError):
    """A table could not be scanned. The sentence says nothing about what is in it."""


class Engine:
    """One locked connection to the engine."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def rows(self, sql: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows of a SELECT. Raises ScanFailed, and drops what the engine said."""
        with _silent():
            return self._connection.execute(sql, dict(parameters)).fetchall()

    def columns(self, sql: str, parameters: Mapping[str, Any]) -> dict[str, NDArray[np.generic]]:
        """The same by column, for many rows."""
        with _silent():
            return dict(self._connection.execute(sql, dict(parameters)).fetchnumpy())

    def keep(self, table: str, sql: str, parameters: Mapping[str, Any]) -> None:
        """What a SELECT finds, in memory, as a table of this name in place of the one before it."""
        with _silent():
            self._connection.execute(f"CREATE TEMP TABLE next_{table} AS {sql}", dict(parameters))
            self.drop(table)
            self._connection.execute(f"ALTER TABLE next_{table} RENAME TO {table}")

    def drop(self, table: str) -> None:
        """Forget a table that was kept, if there is one."""
        with _silent():
            self._connection.execute(f"DROP TABLE IF EXISTS {table}")


@contextmanager
def _silent() -> Iterator[None]:
    try:
        yield
    except (duckdb.Error, MemoryError):
        raise ScanFailed(
            "a table could not be scanned; check that it is a readable CSV, TSV or Parquet file and that "
            "scan_memory_mib is enough"
        ) from None


@contextmanager
def opened(source: Source, *, memory_mib: int, threads: int, without: str = "") -> Iterator[Engine]:
    """An engine that can read this source and nothing else, and that writes nothing.

    `without` names optimizers that it leaves out.

    It does not spill to disk, for its temporary files would be plain text: queries are cut into passes
    instead. Extensions, which it would otherwise fetch, and changes of all these settings are switched off.
    """
    connection = duckdb.connect(":memory:")
    try:
        if source.filesystem is not None:
            connection.register_filesystem(source.filesystem)
        chosen = {"disabled_optimizers": without} if without else {}
        for name, value in (chosen | _settings(source, memory_mib=memory_mib, threads=threads)).items():
            # names and values are ours but for the place, whose quotes are doubled
            connection.execute(f"SET {name} = {_literal(value)}")
        yield Engine(connection)
    finally:
        connection.close()


def _settings(source: Source, *, memory_mib: int, threads: int) -> dict[str, Any]:
    """In this order: external access and the lock come last."""
    return {
        "memory_limit": f"{memory_mib}MiB",
        "threads": threads,
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "python_enable_replacements": False,
        "enable_logging": False,
        # how far a scan has come would say how much there is
        "enable_progress_bar": False,
        "preserve_insertion_order": False,
        "ieee_floating_point_ops": True,
        "allowed_paths": [source.place],
        "enable_external_access": False,
        "lock_configuration": True,
    }


def _literal(value: bool | int | str | list[str]) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value).lower()

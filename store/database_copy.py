"""A copy of the platform's database as it is at one moment, while everybody writes; and its way back.

SQLite by its own backup, PostgreSQL by `pg_dump` and `pg_restore` of the same moment. Neither puts a password
among the arguments of a process, which every user of the machine can read.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import sqlalchemy as sa

from domain.errors import NotReady
from store.database import Database
from store.full_disk import full_words, names_full_disk

# bytes: what a program that found no room has left of it
_NO_ROOM = 2**16
_SECRETS = ("password", "sslpassword")
_HEAD = "SELECT number, hash FROM audit_head"


class Moment(NamedTuple):
    """`head` is the newest event of the audit trail then; `copy` writes all to a new file of its owner."""

    head: tuple[int, str]
    copy: Callable[[Path], None]


@contextmanager
def moment_of(database: Database) -> Iterator[Moment]:
    """It is fixed when this is entered, and can be copied until this is left."""
    with _sqlite(database) if database.is_sqlite else _postgresql(database) as moment:
        yield moment


def copy_sqlite_file(source: Path, target: Path) -> None:
    """One SQLite file as it is now, whoever reads or writes it."""
    with closing(_opened(source)) as connection:
        _copy(connection, target)


def put_back(copied: Path, database: Database) -> None:
    """Into a database that holds nothing. Raises NotReady for one that does."""
    if database.is_sqlite:
        place = Path(str(sa.make_url(database.url).database))
        if place.exists():
            raise NotReady(f"there is a database at {place} already; nothing was restored")
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(_opened(copied)) as connection:
            _copy(connection, place)
        return
    with database.reading() as connection:
        if sa.inspect(connection).get_table_names():
            raise NotReady("the database holds tables already; name an empty one")
    command = ["pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", "--dbname"]
    _run([*command, _name(database), str(copied)], database)


@contextmanager
def _sqlite(database: Database) -> Iterator[Moment]:
    with closing(_opened(Path(str(sa.make_url(database.url).database)))) as connection:
        connection.execute("BEGIN")
        number, found = connection.execute(_HEAD).fetchone()  # from here on it sees one moment
        yield Moment((number, found), lambda target: _copy(connection, target))


@contextmanager
def _postgresql(database: Database) -> Iterator[Moment]:
    with database.reading() as connection:
        snapshot = connection.execute(sa.text("SELECT pg_export_snapshot()")).scalar_one()

        def copy(target: Path) -> None:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            command = ["pg_dump", "--format=custom", "--no-owner", f"--snapshot={snapshot}"]
            _run([*command, f"--file={target}", "--dbname", _name(database)], database, target)

        number, found = connection.execute(sa.text(_HEAD)).one()
        yield Moment((number, found), copy)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=rw", uri=True, isolation_level=None)


def _copy(source: sqlite3.Connection, target: Path) -> None:
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with names_full_disk(target.parent), closing(sqlite3.connect(target)) as copied:
        source.backup(copied)


def _name(database: Database) -> str:
    """For libpq, without the password, which may stand among what follows the question mark, too."""
    url = sa.make_url(database.url).set(drivername="postgresql", password=None)
    return str(url.difference_update_query(_SECRETS).render_as_string(hide_password=False))


def _password(database: Database) -> str | None:
    url = sa.make_url(database.url)
    found = url.query.get("password", url.password)  # as psycopg takes them
    return None if found is None else str(found)


def _run(command: list[str], database: Database, target: Path | None = None) -> None:
    password = _password(database)
    environment = os.environ | ({"PGPASSWORD": password} if password is not None else {})
    try:
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
    except FileNotFoundError:
        raise NotReady(f"there is no {command[0]} here; install PostgreSQL's client programs") from None
    if done.returncode != 0:
        if target is not None and shutil.disk_usage(target.parent).free < _NO_ROOM:
            raise NotReady(full_words(target.parent))
        raise NotReady(f"{command[0]} failed; the server's log says why")

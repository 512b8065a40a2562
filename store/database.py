"""Engine and transactions, the same for SQLite and PostgreSQL."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import psycopg
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script.revision import ResolutionError
from alembic.util import CommandError
from psycopg.abc import Buffer
from psycopg.types.datetime import DateLoader, TimestamptzLoader
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite

from domain.errors import NotReady

SQLITE_BUSY_S = 30
PINNED = "dpgate_certificate_key"
NO_ANSWER = sa.exc.OperationalError
_LOOK_AGAIN_S = 0.01
_LEAST_CONNECT_S = 2  # libpq takes less for this


class Database:
    """One engine. Make one per process: neither engine nor connection may cross a fork."""

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 5,
        patience_s: int | None = None,
        lock_s: float | None = None,
        certificate_key: str | None = None,
    ) -> None:
        """`pool_size`: connections that are kept, one for each thread at best; ten more come and go.
        `patience_s`: of who has other things to do than wait for one who holds what they want.
        `lock_s`: the seconds after which PostgreSQL refuses whoever waits for one row, table or turn.
        `certificate_key`: the id of the only key of certificates that is believed, whatever rows say."""
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        # an error's text goes to logs: it must not carry the values of a statement
        options: dict[str, Any] = {"hide_parameters": True, "pool_size": pool_size}
        options["execution_options"] = {PINNED: certificate_key}
        options["json_deserializer"] = _document
        if not self.is_sqlite:
            options |= {"pool_pre_ping": True}
            if patience_s is not None:
                options |= {"connect_args": {"connect_timeout": max(patience_s, _LEAST_CONNECT_S)}}
        try:
            self.engine = sa.create_engine(url, **options)
        except (sa.exc.ArgumentError, ModuleNotFoundError, ValueError):
            # the URL may hold a password, of which a part may be taken for a port: it is not repeated
            raise NotReady(
                "the database URL is not understood; write sqlite:////PATH or "
                "postgresql+psycopg://USER@HOST/NAME"
            ) from None
        if "@" in (self.engine.url.host or ""):
            raise NotReady("the database URL holds an @ in its password: write that as %40")
        if self.is_sqlite:
            _tune_sqlite(self.engine, busy_s=SQLITE_BUSY_S if patience_s is None else patience_s)
            return
        _read_every_time(self.engine)
        if patience_s is not None:
            _limit(self.engine, "statement_timeout", patience_s)
        if lock_s is not None:
            _limit(self.engine, "lock_timeout", lock_s)

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """All or nothing. On SQLite it takes the write lock at once, so that no upgrade can deadlock."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that only reads, and sees one moment throughout, whoever writes meanwhile."""
        options: dict[str, Any] = {"dpgate_reading": True}
        if not self.is_sqlite:
            options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self.engine.connect() as connection:
            connection = connection.execution_options(**options)
            with connection.begin():
                yield connection

    def migrate(self) -> None:
        """Bring the tables to this version's form. Raises NotReady when the database does not answer, or has
        tables of a form that this version does not know."""
        config = Config()
        config.set_main_option("script_location", "store:migrations")
        config.set_main_option("path_separator", "os")
        try:
            with self.engine.connect() as connection, _foreign_keys_off(connection):
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except sa.exc.OperationalError as error:
            reason = str(error.orig).strip().splitlines()[0] if error.orig else "no reason given"
            raise NotReady(f"the database cannot be used: {reason}") from None
        except CommandError as error:
            if not isinstance(error.__cause__, ResolutionError):
                raise
            raise NotReady(
                f"the tables have form {error.__cause__.argument}, which this version does not know: use the "
                "version that made them, or begin with an empty database"
            ) from None

    def close(self) -> None:
        self.engine.dispose()


class Broken:
    """In place of a document, an instant, a number or a text that is none. It has nothing that those have:
    whoever reads it notices."""

    def __str__(self) -> str:
        return "(cannot be read)"


def _document(text: str | bytes | Broken) -> Any:
    """Of one row alone it can be said that it is broken: an error here would end the reading of all."""
    try:
        return json.loads(text)  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError):
        return Broken()


def _text(kept: bytes) -> str | Broken:
    """SQLite takes any bytes for one."""
    try:
        return kept.decode()
    except UnicodeDecodeError:
        return Broken()


def _or_broken(read: Callable[[Any], Any], kept: Any) -> Any:
    try:
        return read(kept)
    except (psycopg.DataError, ValueError, TypeError):
        return Broken()


class _Instant(TimestamptzLoader):
    """PostgreSQL knows years after 9999, before 1, and `infinity`."""

    def load(self, data: Buffer) -> Any:
        return _or_broken(super().load, data)


class _Day(DateLoader):
    """The same of days."""

    def load(self, data: Buffer) -> Any:
        return _or_broken(super().load, data)


class _InstantAsText(sqlite.DATETIME):
    """SQLite keeps it as text, which may be none of an instant."""

    def result_processor(self, *named: Any) -> Callable[[Any], Any]:
        return partial(_or_broken, super().result_processor(*named))  # type: ignore[arg-type]  # both have one


class _DayAsText(sqlite.DATE):
    """The same of days."""

    def result_processor(self, *named: Any) -> Callable[[Any], Any]:
        return partial(_or_broken, super().result_processor(*named))  # type: ignore[arg-type]  # both have one


def _whole(kept: Any) -> Any:
    return kept if kept is None or isinstance(kept, int) else Broken()


def _number(kept: Any) -> Any:
    return kept if kept is None or isinstance(kept, int | float) else Broken()


def _letters(kept: Any) -> Any:
    return Broken() if isinstance(kept, bytes) else kept


class _WholeAsKept(sa.Integer):
    """SQLite keeps any text or bytes in a column of numbers."""

    def result_processor(self, *_named: Any) -> Callable[[Any], Any]:
        return _whole


class _NumberAsKept(sa.Float[float]):
    """The same."""

    def result_processor(self, *_named: Any) -> Callable[[Any], Any]:
        return _number


class _LettersAsKept(sa.String):
    """And bytes in one of texts."""

    def result_processor(self, *_named: Any) -> Callable[[Any], Any]:
        return _letters


@contextmanager
def _foreign_keys_off(connection: sa.Connection) -> Iterator[None]:
    """On SQLite a migration puts a new table in an old one's place, and checks the keys at its end."""
    if connection.dialect.name != "sqlite":
        yield
        return
    raw = connection.connection.driver_connection  # the pragma has no effect inside a transaction
    assert raw is not None
    raw.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        # an interrupted connection is closed already, and the pool makes a new one
        with suppress(sqlite3.ProgrammingError):
            raw.execute("PRAGMA foreign_keys=ON")


def _keep_a_write_ahead_log(connection: sqlite3.Connection, busy_s: int) -> None:
    """Whoever comes while another process turns a new database to this is told at once that it is locked:
    SQLite itself does not wait for that.
    """
    deadline = time.monotonic() + busy_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_LOOK_AGAIN_S)
        else:
            return


def insert_once(connection: sa.Connection, table: sa.Table, values: dict[str, Any]) -> bool:
    """False when the table has such a row already; waits for one that comes at the same moment."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    insert = dialect.insert(table).values(values).on_conflict_do_nothing()
    return connection.execute(insert.execution_options(preserve_rowcount=True)).rowcount == 1


def _read_every_time(engine: sa.Engine) -> None:
    @event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: Any) -> None:
        connection.adapters.register_loader("timestamptz", _Instant)
        connection.adapters.register_loader("date", _Day)


def _limit(engine: sa.Engine, setting: str, seconds: float) -> None:
    @event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: Any) -> None:
        connection.execute(f"SET {setting} = {round(seconds * 1000)}")
        connection.commit()  # or a rollback takes it back


def _tune_sqlite(engine: sa.Engine, *, busy_s: int) -> None:
    as_kept = {sa.Integer: _WholeAsKept, sa.Float: _NumberAsKept, sa.String: _LettersAsKept}
    times = {sa.DateTime: _InstantAsText, sa.Date: _DayAsText}
    engine.dialect.colspecs = {**engine.dialect.colspecs, **times, **as_kept}

    @event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # the begin below is ours
        connection.text_factory = _text
        connection.execute(f"PRAGMA busy_timeout={busy_s * 1000}")
        _keep_a_write_ahead_log(connection, busy_s)
        for pragma in (
            "synchronous=FULL",  # a charge that was answered must survive a power cut
            "foreign_keys=ON",
            "recursive_triggers=ON",  # or else INSERT OR REPLACE deletes rows past the append-only triggers
            "secure_delete=ON",  # sealed run outputs do not linger in free pages
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _on_begin(connection: sa.Connection) -> None:
        reading = connection.get_execution_options().get("dpgate_reading", False)
        connection.exec_driver_sql("BEGIN DEFERRED" if reading else "BEGIN IMMEDIATE")


def place_of(url: str) -> str:
    """Where a database is, whoever opens it and how they show who they are."""
    return sa.make_url(url).set(username=None, password=None).render_as_string()

"""Real servers for tests and benchmarks: PostgreSQL and Redis, on unix sockets in a short temporary folder.

Each process that asks gets servers of its own (so each xdist worker does). They end with the process, also
when it is killed. What they need is installed by `deploy/test-host.sh`.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import pwd
import shutil
import signal
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import redis
from emptied import AsNew
from short_folders import short_folder
from sqlalchemy import event
from sqlalchemy.engine import make_url
from sqlalchemy.pool import QueuePool
from waiting import PATIENCE_S, wait_until

from store.database import Database

TEMPLATE = "dpgate_template"
ROLES = ("dpgate_gateway", "dpgate_worker")
RIGHTS = Path(__file__).parents[1] / "deploy" / "roles.sql"
INITDB = ("--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8")
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def by_role(url: str, role: str) -> str:
    """The same database by an account with the rights of `deploy/roles.sql`; SQLite knows none."""
    return url.replace("//postgres@", f"//{role}@")


class PostgreSQL:
    """A running server. Databases made from the migrated template are ready in some 30 ms, used ones in 2."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count(1)
        self._made_from: dict[str, str] = {}
        self._as_new: dict[str, AsNew] = {}
        self._idle: dict[str, list[str]] = defaultdict(list)
        self._kept: dict[str, _Kept] = {}
        self._admin = psycopg.connect(self._place("postgres"), autocommit=True)

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@/{database}?host={self._folder}"

    def prepare_template(self) -> None:
        self._create(TEMPLATE, template="template0")
        database = Database(self.url(TEMPLATE))
        database.migrate()
        database.close()
        with psycopg.connect(self._place(TEMPLATE), autocommit=True) as owner:
            for role in ROLES:
                owner.execute(f"CREATE ROLE {role} LOGIN")
            owner.execute(RIGHTS.read_bytes())

    def fresh(self, *, template: str = TEMPLATE) -> str:
        """The URL of a database that nobody else uses; `template0` has no tables at all."""
        if self._idle[template]:
            return self.url(self._idle[template].pop())
        return self.url(self._create(f"test_{next(self._numbers)}", template=template))

    def opened(self, url: str) -> Database:
        """With an engine whose connections stay for the next who asks: to connect costs as much as a test."""
        kept = self._keep(str(make_url(url).database))
        kept.database = kept.database or kept.watched(Database(url))
        return kept.database

    def give_back(self, url: str) -> None:
        """It is emptied for the next who asks, or dropped where that would not make it as its template is."""
        name = str(make_url(url).database)
        template = self._made_from[name]
        if template not in self._as_new:
            self._as_new[template] = AsNew.of(self._place(template))
        if self._keep(name).is_made_as(self._as_new[template]):
            self._idle[template].append(name)
        else:
            self._kept.pop(name).close()
            self._admin.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def close(self) -> None:
        for kept in self._kept.values():
            kept.close()
        self._admin.close()

    def _keep(self, name: str) -> _Kept:
        if name not in self._kept:
            self._kept[name] = _Kept(psycopg.connect(self._place(name), autocommit=True))
        return self._kept[name]

    def _place(self, database: str) -> str:
        return f"host={self._folder} dbname={database} user=postgres"

    def _create(self, name: str, *, template: str) -> str:
        # the default since version 15 writes everything twice, once into the log
        strategy = " STRATEGY FILE_COPY" if self._admin.info.server_version >= 150_000 else ""
        self._admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}{strategy}")
        self._made_from[name] = template
        return name


@dataclass
class _Kept:
    """Of one database: the connection that empties it, and the engine of tests that want no other."""

    connection: psycopg.Connection[Any]
    database: Database | None = None
    processes: set[int] = field(default_factory=set)
    """The server's, of that engine's connections."""
    has_settings: bool = False
    """A test has changed what holds for a connection as long as it lasts."""

    def watched(self, database: Database) -> Database:
        @event.listens_for(database.engine, "connect")
        def _note_process(connection: psycopg.Connection[Any], _record: Any) -> None:
            self.processes.add(connection.info.backend_pid)

        @event.listens_for(database.engine, "before_cursor_execute")
        def _note_setting(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            self.has_settings |= statement.startswith("SET ") and not statement.startswith("SET LOCAL ")

        return database

    def is_made_as(self, new: AsNew) -> bool:
        """False where that cannot be: somebody uses it, its form has changed, or our connection is lost."""
        if self.database and self.has_settings:
            self.database.close()
            self.database, self.has_settings = None, False
        pool = self.database.engine.pool if self.database else None
        if isinstance(pool, QueuePool) and pool.checkedout():
            return False
        try:
            return new.restore(self.connection, ours=self.processes)
        except psycopg.OperationalError:
            return False

    def close(self) -> None:
        if self.database:
            self.database.close()
        self.connection.close()


@contextmanager
def postgresql_server(
    *, connections: int = 100, durable: bool = True, cluster: Path | None = None
) -> Iterator[PostgreSQL]:
    """PostgreSQL with the durability of production: fsync and synchronous_commit are on.

    Without `durable` it would not survive a power cut, which no test brings about, and it is in memory where
    there is room; all else is the same. A `cluster` of `make_cluster` spares making one.
    """
    with _server(connections=connections, durable=durable, cluster=cluster) as (_, server):
        if cluster is None:
            server.prepare_template()
        yield server


def make_cluster(folder: Path) -> None:
    """What a server keeps on disk, with the migrated template, for other servers to begin with a copy."""
    with _server(connections=10, durable=False, cluster=None) as (data, server):
        server.prepare_template()
        # in order, or else each copy would begin with a recovery
        stopping = [_postgresql_binaries() / "pg_ctl", "stop", "--mode=fast", "--wait", "-D", data]
        subprocess.run(stopping, check=True, stdout=subprocess.DEVNULL, **_as(_unprivileged()))
        subprocess.run(["cp", "--archive", data, folder], check=True)


@contextmanager
def _server(*, connections: int, durable: bool, cluster: Path | None) -> Iterator[tuple[Path, PostgreSQL]]:
    durability = "on" if durable else "off"
    binaries = _postgresql_binaries()
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder(owner=_unprivileged(), in_memory=not durable))
        data = folder / "data"
        if cluster is None:
            making = [binaries / "initdb", *INITDB, "-D", data]
            subprocess.run(making, check=True, stdout=subprocess.DEVNULL, **_as(_unprivileged()))
        else:
            subprocess.run(["cp", "--archive", cluster, data], check=True)
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": folder,
            "fsync": durability,
            "full_page_writes": durability,
            "synchronous_commit": "on",
            "max_connections": connections,
            "autovacuum": "on",
        }
        options = [f"-c{name}={value}" for name, value in settings.items()]
        command = [binaries / "postgres", "-D", data, *options]
        stack.enter_context(
            _running(
                command, folder, end=signal.SIGQUIT, ready=lambda: _accepts(folder), user=_unprivileged()
            )
        )
        server = PostgreSQL(folder)
        stack.callback(server.close)
        yield data, server


@contextmanager
def redis_server() -> Iterator[str]:
    """Redis without a TCP port; yields the URL of its socket as Celery takes it."""
    binary = shutil.which("redis-server")
    if binary is None:
        raise RuntimeError("there is no redis-server on this host; run deploy/test-host.sh")
    with short_folder() as folder:
        socket = folder / "redis.sock"
        command = [binary, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder]
        with _running(command, folder, end=signal.SIGTERM, ready=lambda: _answers(socket)):
            yield f"redis+socket://{socket}"


def empty_redis(url: str) -> None:
    with redis.Redis(unix_socket_path=url.removeprefix("redis+socket://")) as client:
        client.flushall()


@contextmanager
def _running(
    command: list[object],
    folder: Path,
    *,
    end: signal.Signals,
    ready: Callable[[], bool],
    user: str | None = None,
) -> Iterator[None]:
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C is for pytest; it ends the servers in order
            preexec_fn=lambda: _LIBC.prctl(_PR_SET_PDEATHSIG, end),
            **_as(user),
        )
    try:
        wait_until(
            ready,
            unless=lambda: process.poll() is not None and log.read_text(errors="replace")[-2000:],
            said=f"the start of {command[0]}",
        )
        yield
    finally:
        process.send_signal(end)
        try:
            process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _accepts(folder: Path) -> bool:
    try:
        psycopg.connect(f"host={folder} dbname=postgres user=postgres").close()
    except psycopg.OperationalError:
        return False
    return True


def _answers(socket: Path) -> bool:
    try:
        with redis.Redis(unix_socket_path=str(socket)) as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False


def _postgresql_binaries() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    if not found:
        raise RuntimeError("there is no PostgreSQL on this host; run deploy/test-host.sh")
    return found[-1].parent


def _unprivileged() -> str | None:
    """Whom PostgreSQL runs as, since it refuses root. None: as ourselves."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _as(user: str | None) -> dict[str, object]:
    if user is None:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": [], "cwd": "/"}

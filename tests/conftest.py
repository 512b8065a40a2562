"""Fixtures for every kind of test. Servers start when the first test asks for one."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from base_images import base_archive
from docker_daemon import DockerDaemon, running_daemon
from hypothesis import settings
from services import PostgreSQL, empty_redis, postgresql_server, redis_server
from sqlalchemy import event
from sqlalchemy.pool import Pool

from store import accounts
from store.database import Database

# no test is a race against the clock
settings.register_profile("dpgate", deadline=None)
settings.load_profile("dpgate")


@event.listens_for(Pool, "checkout")
def _spare_the_disk(connection: Any, record: Any, _proxy: Any) -> None:
    """No test cuts the power: what SQLite commits in this process need not reach the disk. It waits 6 ms each
    time where it must; `test_durability.py` asks that it does outside of tests."""
    if isinstance(connection, sqlite3.Connection) and not record.info.get("spared"):
        connection.execute("PRAGMA synchronous=OFF")
        record.info["spared"] = True


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    with postgresql_server(durable=False) as server:
        yield server


@pytest.fixture(scope="session")
def redis_socket() -> Iterator[str]:
    with redis_server() as url:
        yield url


@pytest.fixture(scope="session")
def docker_daemon() -> Iterator[DockerDaemon]:
    """One for all tests of a session: what a test makes on it, that test removes."""
    with running_daemon() as daemon:
        yield daemon


@pytest.fixture(scope="session")
def docker_image(docker_daemon: DockerDaemon) -> Callable[[str], str]:
    """The digest of a base image by its name, on that daemon. To load a large one takes many seconds."""

    @cache
    def digest(name: str) -> str:
        return docker_daemon.load(base_archive(name))

    return digest


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    database = Database(f"sqlite:///{path}")
    database.migrate()
    database.close()
    return path


@pytest.fixture
def postgresql_url(postgresql: PostgreSQL) -> Iterator[str]:
    """A migrated, empty database of this test's own."""
    url = postgresql.fresh()
    yield url
    postgresql.give_back(url)


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """A migrated, empty database of this test's own."""
    return f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'dpgate.db')}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The test runs once on each of the two databases."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = Database(database_url)
    yield opened
    opened.close()


@pytest.fixture
def redis_url(redis_socket: str) -> str:
    """An empty Redis."""
    empty_redis(redis_socket)
    return redis_socket


@pytest.fixture(scope="module")
def swift_passwords() -> Iterator[None]:
    """Hashes that cost next to nothing, for files with many logins; their price is asked about elsewhere."""
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "_HASHER", hasher)
        patch.setattr(accounts, "_NOBODY", accounts._NOBODY.replace("m=65536,t=3", "m=8,t=1"))
        yield


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 3, 2, 9, 30, tzinfo=UTC)

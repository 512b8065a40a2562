"""Fixtures for every kind of test, and how a session chooses and orders its cases.

Servers start when the first test asks for one.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import forks
import pytest
import reach
import rings
from argon2 import PasswordHasher
from base_images import base_archive
from docker_daemon import DockerDaemon, running_daemon
from hypothesis import settings
from in_process import staying_in_process
from mutant_table import note_loaded, record_mutants
from mutants import LOADED
from once import made_once, one_compiles
from rooms import Rooms, longest_first, record_seconds
from rows import Rows
from services import PostgreSQL, empty_redis, make_cluster, postgresql_server, redis_server
from shared_dialects import share_dialects
from sqlalchemy import event
from sqlalchemy.pool import Pool

from store import accounts
from store.database import Database

# where nothing compiled is kept, each process that a test starts would compile all of our files again
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# no test is a race against the clock, and every change meets the same examples; deep makes more of them, new
# ones each time
settings.register_profile("dpgate", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("deep", deadline=None, max_examples=500)
settings.load_profile("dpgate")

share_dialects()


REACH = pytest.StashKey[reach.Reach]()
REACHED = pytest.StashKey[list[bytes]]()
LEFT_OUT = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dpgate")
    group.addoption("--ring", choices=rings.RINGS, default="test", help="which cases to run (tests/rings.py)")
    group.addoption(
        "--record-cases",
        metavar="FILE",
        nargs="?",
        const="",
        help="write how many cases there are (to tests/recorded), and run none",
    )
    group.addoption("--record-mutants", action="store_true", help="write which mutants were noticed")
    group.addoption("--record-seconds", action="store_true", help="write how long each room took")


def pytest_configure(config: pytest.Config) -> None:
    for marker in rings.MARKERS:
        config.addinivalue_line("markers", marker)
    forks.use_server(getattr(config, "workerinput", {}).get(forks.ADDRESS))
    if config.getoption("--ring") == "deep":
        settings.load_profile("deep")
    # whoever starts us in the background starts us deaf to Ctrl-C, and some cases press it
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Counts all cases, keeps those of the ring, and orders them where several processes share them."""
    config.stash[rings.FOUND] = rings.Found(tuple(items))
    if (file := config.getoption("--record-cases")) is not None:
        if not session.testsfailed:  # what could not be collected could not be counted
            rings.record_cases(items, Path(file) if file else rings.CASES)
        items.clear()
    kept, left = rings.parted(items, config.getoption("--ring"))
    config.hook.pytest_deselected(items=left)
    items[:] = longest_first(kept) if hasattr(config, "workerinput") else kept


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Nearly nothing that is made while cases are collected is garbage."""
    gc.disable()
    with one_compiles(session.config):
        return (yield)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was collected stays to the end: nobody need go through it again to find garbage, nor does pytest
    when it ends."""
    if rings.runs_all_below(reach.TESTS, session):
        session.config.stash[REACH] = reach.Reach()
    gc.enable()
    gc.freeze()
    # what is frozen does not count: by default all the rest would be gone through every some thousand objects
    gc.set_threshold(20_000, 20, 50)
    atexit.register(gc.unfreeze)  # native modules complain of what is left when the interpreter ends


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Five on two processors: cases wait longer than they work, and each process reads all tests first."""
    return (5 * len(os.sched_getaffinity(0)) + 1) // 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Rooms:
    return Rooms(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    here = item.config.stash.get(REACH, None)
    with here.measured() if here and reach.is_measured(item) else nullcontext():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with staying_in_process() if rings.ring_of(item) == "quick" else nullcontext():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    LOADED.clear()
    with staying_in_process() if rings.ring_of(item) == "quick" else nullcontext():
        result = yield
    note_loaded(item, LOADED)
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A process of this session is about to be started."""
    node.workerinput[forks.ADDRESS] = forks.start_server()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A process of this session has ended."""
    if reached := getattr(node, "workeroutput", {}).get(reach.OUTPUT):
        node.config.stash.setdefault(REACHED, []).append(reached)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    config = session.config
    if REACH in config.stash:
        config.stash.setdefault(REACHED, []).append(config.stash[REACH].dumped())
    if hasattr(config, "workerinput"):
        config.workeroutput[reach.OUTPUT] = next(iter(config.stash.get(REACHED, [])), b"")
    elif exitstatus == pytest.ExitCode.OK and REACHED in config.stash:
        config.stash[LEFT_OUT] = reach.left_out(config.stash[REACHED])
        if config.stash[LEFT_OUT]:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if left_out := config.stash.get(LEFT_OUT, ""):
        terminalreporter.section("the unit tests of privacy/ do not reach all of it", red=True)
        terminalreporter.write(left_out)
    if config.getoption("--record-seconds"):
        record_seconds(terminalreporter.stats.values())
    if config.getoption("--record-mutants"):
        record_mutants(terminalreporter.stats.get("passed", ()))


@event.listens_for(Pool, "checkout")
def _spare_the_disk(connection: Any, record: Any, _proxy: Any) -> None:
    """No test cuts the power: what SQLite commits in this process need not reach the disk. It waits 6 ms each
    time where it must; `test_durability.py` asks that it does outside of tests."""
    if isinstance(connection, sqlite3.Connection) and not record.info.get("spared"):
        connection.execute("PRAGMA synchronous=OFF")
        record.info["spared"] = True


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgreSQL]:
    cluster = made_once(tmp_path_factory, "postgresql", make_cluster)
    with postgresql_server(durable=False, cluster=cluster) as server:
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
    def migrate(path: Path) -> None:
        with closing(Database(f"sqlite:///{path}")) as database:
            database.migrate()

    return made_once(tmp_path_factory, "template.db", migrate)


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
def database(request: pytest.FixtureRequest, database_url: str) -> Iterator[Database]:
    if database_url.startswith("postgresql"):
        yield request.getfixturevalue("postgresql").opened(database_url)
        return
    with closing(Database(database_url)) as opened:
        yield opened


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
def subtests(subtests: pytest.Subtests) -> Rows:
    """pytest's, without a report of each row that holds."""
    return Rows(subtests)


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 3, 2, 9, 30, tzinfo=UTC)

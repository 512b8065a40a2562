"""A gateway that browsers can reach, over a database in which much has happened."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from browsing import Browser, chromium
from once import made_once
from serving import Console, running_console
from story import tell

from store import workers
from store.database import Database


@pytest.fixture(scope="module", autouse=True)
def _workers_stay_as_told() -> Iterator[None]:
    """However long tests last, nobody is lost but who was when the story was told."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(workers, "LOST_AFTER", timedelta(days=1, hours=12))
        yield


@pytest.fixture(scope="session")
def told_database(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The story on disk; tests get copies of it."""

    def told(path: Path) -> None:
        shutil.copy(sqlite_template, path)
        with closing(Database(f"sqlite:///{path}")) as database, database.transaction() as connection:
            tell(connection)

    return made_once(tmp_path_factory, "story.db", told)


@pytest.fixture(scope="session")
def shared_console(
    told_database: Path, redis_socket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    """One console for all tests that change nothing."""
    path = shutil.copy(told_database, tmp_path_factory.mktemp("shared") / "dpgate.db")
    with running_console(f"sqlite:///{path}", redis_socket) as console:
        yield console


@pytest.fixture
def console(told_database: Path, redis_socket: str, tmp_path: Path) -> Iterator[Console]:
    """A console of this test's own."""
    path = shutil.copy(told_database, tmp_path / "dpgate.db")
    with running_console(f"sqlite:///{path}", redis_socket) as running:
        yield running


@pytest.fixture(scope="module")
def refusing(
    told_database: Path, redis_socket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    """One console for a file's tests in which nothing is taken; what others left there is no matter."""
    path = shutil.copy(told_database, tmp_path_factory.mktemp("refusing") / "dpgate.db")
    with running_console(f"sqlite:///{path}", redis_socket) as console:
        yield console


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests; each begins without cookies."""
    with chromium() as started:
        yield started

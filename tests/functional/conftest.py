"""Whole platforms for functional tests: the same code on SQLite and on PostgreSQL."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from services import PostgreSQL
from strange_server import strange_server
from terminal import Platform, Terminal, terminal

from dpgate.credentials import Login
from dpgate.embedded.home import Home
from dpgate.embedded.stack import Stack

# of what a researcher does by command; the tests of the store and of the worker have all of it on both
ON_BOTH = {"test_a_researcher_gets_a_release", "test_from_the_twin_to_a_release"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "[postgresql" in item.name and item.name.partition("[")[0] not in ON_BOTH:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def platform(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """A platform on each database, with the data set `ages`."""
    url = None
    if request.param == "postgresql":
        server: PostgreSQL = request.getfixturevalue("postgresql")
        url = server.fresh(template="template0")
    yield from _running(tmp_path_factory.mktemp(request.param), database_url=url)


@pytest.fixture(scope="session")
def one_platform() -> Iterator[Platform]:
    """A platform for tests to which the database does not matter.

    It can run images: users of slots can pass its folder, while pytest's own is closed to them.
    """
    folder = Path(tempfile.mkdtemp(prefix="dpgate-one-"))
    folder.chmod(0o711)
    try:
        yield from _running(folder, database_url=None, DPGATE_IMAGES_FOLDER=str(Home(folder / "home").images))
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def shell(tmp_path: Path) -> Terminal:
    """A terminal without a login."""
    return terminal(tmp_path / "shell")


@pytest.fixture
def other_server() -> Iterator[str]:
    """The address of a web server that is not dpgate."""
    with strange_server() as url:
        yield url


def _running(folder: Path, *, database_url: str | None, **places: str) -> Iterator[Platform]:
    with Stack(Home(folder / "home"), slots=2, database_url=database_url) as stack:
        operator = terminal(folder / "operator", Login(stack.url, stack.operator_token), **places)
        people = {}
        for name, role in (("holder", "rights_holder"), ("ada", "data_user")):
            added = operator.ok("user", "add", name, "--role", role, "--json").json
            people[name] = terminal(folder / name, Login(stack.url, added["token"]), **places)
        platform = Platform(stack, folder, operator, **people)
        platform.dataset("ages")
        yield platform

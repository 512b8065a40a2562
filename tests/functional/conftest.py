"""Terminals, and whole platforms that the tests of a session share: on SQLite and on PostgreSQL."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from known_image import one_look
from services import PostgreSQL
from strange_server import strange_server
from terminal import Platform, Terminal, terminal
from warm_stack import WarmStack
from zones import own_scratch_root

from dpgate.credentials import Login
from dpgate.embedded.home import Home


@pytest.fixture(scope="session", autouse=True)
def one_look_at_this_host() -> Iterator[None]:
    with one_look():
        yield


@pytest.fixture(scope="session")
def one_platform() -> Iterator[Platform]:
    """On SQLite, with the data set `ages`. Tests share it: what one of them spends, changes or writes is its
    own data set, person or folder.

    It can run images: users of slots can pass its folder, while pytest's own is closed to them.
    """
    folder = Path(tempfile.mkdtemp(prefix="dpgate-one-"))
    folder.chmod(0o711)
    try:
        with _running(folder, DPGATE_IMAGES_FOLDER=str(Home(folder / "home").images)) as running:
            yield running
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def platform(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """That platform, and another one on PostgreSQL."""
    if request.param == "sqlite":
        yield request.getfixturevalue("one_platform")
        return
    server: PostgreSQL = request.getfixturevalue("postgresql")
    url = server.fresh(template="template0")
    with _running(tmp_path_factory.mktemp("postgresql"), database_url=url) as running:
        yield running


@pytest.fixture
def shell(tmp_path: Path) -> Terminal:
    """A terminal without a login."""
    return terminal(tmp_path / "shell")


@pytest.fixture
def other_server() -> Iterator[str]:
    """The address of a web server that is not dpgate."""
    with strange_server() as url:
        yield url


@contextmanager
def _running(folder: Path, *, database_url: str | None = None, **places: str) -> Iterator[Platform]:
    # wide: how a table is folded into 80 columns depends on the names that other tests have brought into it
    places |= {"COLUMNS": "240"}
    # with one scratch folder it would take turns with platforms of other processes
    own = {"DPGATE_SCRATCH_FOLDER": str(own_scratch_root("functional"))}
    with WarmStack(Home(folder / "home"), slots=2, database_url=database_url, settings=own) as stack:
        operator = terminal(folder / "operator", Login(stack.url, stack.operator_token), **places)
        people = {}
        for name, role in (("holder", "rights_holder"), ("ada", "data_user")):
            added = operator.ok("user", "add", name, "--role", role, "--json").json
            people[name] = terminal(folder / name, Login(stack.url, added["token"]), **places)
        platform = Platform(stack, folder, operator, **people)
        platform.dataset("ages")
        yield platform

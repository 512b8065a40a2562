"""A gateway per test, and one per file for tests that change nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import Gateway, running_gateway

HERE = Path(__file__).parent

# What is stored, and how it is found again, is tested on both databases with the store, and all pages run on
# SQLite. So most of this runs on one database, and the other is for the long run: on SQLite what is answered
# before any table is asked, on both where requests meet or jobs come in and go out, on PostgreSQL the rest.
ON_SQLITE = {"test_route_matrix.py", "test_scope_matrix.py", "test_openapi_document.py", "test_bad_bodies.py"}
ON_BOTH = {"test_at_once.py", "test_releases.py", "test_submit.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        left_out = "[postgresql" if item.path.name in ON_SQLITE else "[sqlite"
        if item.path.parent == HERE and item.path.name not in ON_BOTH and left_out in item.name:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def gateway(database_url: str, redis_url: str) -> Iterator[Gateway]:
    """A gateway of this test's own; the test runs once on each of the two databases."""
    with running_gateway(database_url, redis_url) as running:
        yield running


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_gateway(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, redis_socket: str
) -> Iterator[Gateway]:
    """One gateway for a whole file, on each of the two databases."""
    if request.param == "postgresql":
        url = request.getfixturevalue("postgresql").fresh()
    else:
        folder: Path = tmp_path_factory.mktemp("shared")
        url = f"sqlite:///{shutil.copy(request.getfixturevalue('sqlite_template'), folder / 'dpgate.db')}"
    with running_gateway(url, redis_socket) as running:
        yield running

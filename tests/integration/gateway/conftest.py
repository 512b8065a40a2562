"""A gateway per test, one per file for tests that change nothing, and an identity provider."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from asking import Gateway, running_gateway
from issuer import Issuer, running_issuer
from services import PostgreSQL


@pytest.fixture
def gateway(database_url: str, redis_url: str) -> Iterator[Gateway]:
    """A gateway of this test's own; the test runs once on each of the two databases."""
    with running_gateway(database_url, redis_url) as running:
        yield running


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    """An identity provider for a whole file."""
    with running_issuer() as running:
        yield running


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_gateway(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, redis_socket: str
) -> Iterator[Gateway]:
    """One gateway for a whole file, on each of the two databases."""
    with ExitStack() as stack:
        if request.param == "postgresql":
            server: PostgreSQL = request.getfixturevalue("postgresql")
            url = server.fresh()
            stack.callback(server.give_back, url)
        else:
            folder: Path = tmp_path_factory.mktemp("shared")
            url = f"sqlite:///{shutil.copy(request.getfixturevalue('sqlite_template'), folder / 'dpgate.db')}"
        yield stack.enter_context(running_gateway(url, redis_socket))

"""A worker zone on a real database, with the real sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kept_slots import KeptSlots
from services import PostgreSQL
from zones import Bench, host_image, open_bench


@pytest.fixture(scope="session")
def kept_slots() -> Iterator[KeptSlots]:
    kept = KeptSlots(host_image())
    yield kept
    kept.close()


@pytest.fixture
def bench(
    request: pytest.FixtureRequest, database_url: str, tmp_path: Path, kept_slots: KeptSlots
) -> Iterator[Bench]:
    database = None
    if database_url.startswith("postgresql"):
        server: PostgreSQL = request.getfixturevalue("postgresql")
        database = server.opened(database_url)
    with open_bench(database_url, tmp_path, kept_slots=kept_slots, database=database) as it:
        yield it


@pytest.fixture
def sqlite_bench(sqlite_url: str, tmp_path: Path, kept_slots: KeptSlots) -> Iterator[Bench]:
    """Where the two databases differ in nothing that is looked at."""
    with open_bench(sqlite_url, tmp_path, kept_slots=kept_slots) as it:
        yield it

"""A worker zone on each of the two databases, with the real sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from zones import Bench, open_bench


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Bench]:
    with open_bench(database_url, tmp_path) as it:
        yield it

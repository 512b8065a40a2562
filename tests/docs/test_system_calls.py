"""The page on system calls shows the tables that the filters are compiled from."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_images.seccomp import describe

TABLES = [describe.additions_table, describe.answers_table, describe.refusals_table, describe.runtime_table]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "system-calls.md"


@pytest.mark.parametrize("table", TABLES)
def test_the_page_shows_this_table(table) -> None:
    assert table().strip() in PAGE.read_text(encoding="utf-8")

"""A backup under load, as `tests/loaded_backups.py` makes it: once on each database, more often by hand."""

from __future__ import annotations

import pytest
from loaded_backups import main


@pytest.mark.deep("a minute; integration/worker restores what one process has left")
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_backup_under_load_loses_nothing(database: str) -> None:
    assert main(["1", "--database", database]) == 0

"""What is committed has reached the disk, where the process is none of tests."""

from __future__ import annotations

import subprocess
import sys

SAYS = """
import sys
from sqlalchemy import text
from store.database import Database
database = Database(sys.argv[1])
with database.transaction() as connection:
    for name in ("synchronous", "journal_mode"):
        print(connection.execute(text(f"PRAGMA {name}")).scalar_one())
database.close()
"""
FULL = 2


def test_sqlite_waits_for_the_disk(sqlite_url: str) -> None:
    said = subprocess.run(
        [sys.executable, "-c", SAYS, sqlite_url], check=True, capture_output=True, text=True
    )
    assert said.stdout.split() == [str(FULL), "wal"]

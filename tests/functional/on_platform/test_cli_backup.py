"""Commands on a worker's host find the database of the platform in a home, whichever it was started with."""

from __future__ import annotations

from pathlib import Path

from terminal import Platform


def test_a_backup_of_a_home_finds_its_database(platform: Platform, tmp_path: Path) -> None:
    home, backup = platform.stack.home, tmp_path / "backup"
    platform.operator.ok("backup", "make", backup, "--home", home.root)
    key = home.worker_zone / "master.key"
    assert "is whole" in platform.operator.ok("backup", "drill", backup, "--key", key).out
    assert (home.root / "database" / "url").exists() is not platform.stack.database_url.startswith("sqlite")

"""Where the database of a home is: what the home keeps of it, refuses to keep, and says."""

from __future__ import annotations

import stat
from contextlib import closing
from pathlib import Path

import pytest

from domain.errors import NotReady
from dpgate.embedded.home import Home
from dpgate.embedded.operator_token import operator_of
from dpgate.embedded.stack import Stack
from store import agreement, audit
from store.database import Database
from store.keys import create_keys
from store.zone_ledger import Kind
from worker.catching_up import begin_ledger, zone_ledger


def test_a_home_keeps_where_its_database_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For its owner alone, wherever the next command is typed, and not what it is without a word."""
    home, place = Home(tmp_path / "home"), tmp_path / "home" / "database" / "url"
    home.make()
    place.with_suffix(".new").symlink_to(tmp_path / "elsewhere")
    home.keep_database_url("postgresql+psycopg://ada:secret@db/dpgate")
    assert not (tmp_path / "elsewhere").exists()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    place.write_text(place.read_text() + "\n")  # as an editor leaves it
    assert home.database_url == "postgresql+psycopg://ada:secret@db/dpgate"
    monkeypatch.chdir(tmp_path)
    home.keep_database_url("sqlite:///other.sqlite")
    assert home.database_url == f"sqlite:///{tmp_path}/other.sqlite"
    home.keep_database_url(f"sqlite:///{home.database}")
    assert not place.exists()


def test_a_home_is_not_started_with_the_database_of_none_or_another(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Nor is its address kept: the next start would go there, too."""
    homes = [Home(tmp_path / name) for name in ("one", "two")]
    for home in homes:
        home.make()
        create_keys(home.worker_zone / "master.key")
        ledger = zone_ledger(home.worker_zone)
        with closing(Database(home.database_url)) as database:
            database.migrate()
            begin_ledger(ledger, database)
            operator_of(database, home.operator_token)
            with database.reading() as connection, ledger.writing() as page:
                page.add(Kind.REFUSED, "job-1", {}, head=audit.head(connection))
            agreement.check_is_of(ledger, database)
    for name, url in {"new": f"sqlite:///{tmp_path}/new.sqlite", "another": homes[1].database_url}.items():
        with subtests.test(name), pytest.raises(NotReady, match="not the one that"):
            Stack(homes[0], database_url=url).start()
        assert homes[0].database_url == f"sqlite:///{homes[0].database}"


def test_no_part_of_a_password_is_in_what_is_said_of_an_address(subtests: pytest.Subtests) -> None:
    """One that holds an @ is cut there; what is behind it was taken for a host or a port, and named."""
    for url in ("postgresql+psycopg://u:s@ecret@db/x", "postgresql+psycopg://u:s@a:ecret@db/x"):
        with subtests.test(url), pytest.raises(NotReady, match="the database URL") as told:
            Database(url)
        assert "ecret" not in str(told.value)

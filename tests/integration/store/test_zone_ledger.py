"""The zone's own ledger as a file: entries are added, and whatever else happens to them shows."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path

import pytest

from domain.errors import NotReady, PlatformError
from store.zone_ledger import Kind, Page, ZoneLedger

KEY, SEALING = bytes(range(32)), bytes(32)


def opening(page: Page) -> None:
    page.add(Kind.OPENING, "cohort", {"spent": {"epsilon": 2**61}}, cohort="cohort")


@pytest.fixture
def ledger(tmp_path: Path) -> ZoneLedger:
    made = ZoneLedger(tmp_path / "ledger.sqlite", key=KEY, sealing=SEALING)
    made.create(opening)
    with made.writing() as page:
        page.add(Kind.CHARGE, "one", {"spent": {"epsilon": 2**61 + 1}}, cohort="cohort", head=(7, "a" * 64))
        page.add(Kind.CHARGE, "two", {"spent": {"epsilon": 2**61 + 2}}, cohort="cohort", head=(5, "b" * 64))
    return made


def by_hand(ledger: ZoneLedger, statement: str, *, triggers: bool = True) -> None:
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as rows:
        if not triggers:
            rows.execute("DROP TRIGGER entries_no_update")
            rows.execute("DROP TRIGGER entries_no_delete")
        rows.execute(statement)


def test_it_is_for_its_owner_alone_and_counts_exactly(ledger: ZoneLedger) -> None:
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    with ledger.reading() as page:
        assert page.spent("cohort") == {"epsilon": 2**61 + 2}
        assert page.newest_head() == (7, "a" * 64)
        assert [entry.number for entry in page.entries()] == [1, 2, 3]


def test_the_same_is_entered_once(ledger: ZoneLedger) -> None:
    with ledger.writing() as page:
        assert not page.add(Kind.CHARGE, "one", {"spent": {}}, cohort="cohort")
        assert page.spent("cohort") == {"epsilon": 2**61 + 2}


def test_an_event_that_was_rewritten_between_two_charges_is_known_as_it_was_first(ledger: ZoneLedger) -> None:
    with ledger.writing() as page:
        page.add(Kind.CHARGE, "three", {"spent": {}}, cohort="cohort", head=(7, "c" * 64))
        assert page.newest_head() == (7, "a" * 64)
        assert page.heads() == {5: "b" * 64, 7: "a" * 64}


def test_what_fails_leaves_nothing(ledger: ZoneLedger) -> None:
    with suppress(KeyError), ledger.writing() as page:
        page.add(Kind.CHARGE, "three", {}, cohort="cohort")
        raise KeyError
    with ledger.reading() as page:
        assert page.find(Kind.CHARGE, "three") is None


@pytest.mark.parametrize("statement", ["DELETE FROM entries", "UPDATE entries SET body = '{}'"])
def test_entries_are_not_changed(ledger: ZoneLedger, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        by_hand(ledger, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries WHERE number = 2",
        "UPDATE entries SET body = '{\"spent\": {}}' WHERE number = 2",
        "UPDATE entries SET head_number = 4 WHERE number = 3",
        "UPDATE entries SET cohort = NULL WHERE number = 1",
    ],
)
def test_a_change_past_the_triggers_shows(ledger: ZoneLedger, statement: str) -> None:
    by_hand(ledger, statement, triggers=False)
    with ledger.reading() as page, pytest.raises(PlatformError, match="is not as it was written"):
        page.entries()


def test_nothing_is_added_to_an_end_that_was_changed(ledger: ZoneLedger) -> None:
    by_hand(ledger, "UPDATE entries SET body = '{\"spent\": {}}' WHERE number = 3", triggers=False)
    with pytest.raises(PlatformError, match="entry 3"), ledger.writing() as page:
        page.add(Kind.CHARGE, "three", {"spent": {}}, cohort="cohort")


def test_another_key_vouches_for_nothing(ledger: ZoneLedger) -> None:
    other = ZoneLedger(ledger.path, key=bytes(32), sealing=SEALING)
    with other.reading() as page, pytest.raises(PlatformError, match="entry 1"):
        page.entries()


def test_a_drawn_release_opens_for_its_job_alone(ledger: ZoneLedger) -> None:
    sealed = ledger.seal({"release": {"value": 1.5}}, job_id="one")
    assert ledger.open(sealed, job_id="one") == {"release": {"value": 1.5}}
    with pytest.raises(PlatformError):
        ledger.open(sealed, job_id="two")


def test_a_drawn_release_that_is_forgotten_is_in_no_page_of_the_file(ledger: ZoneLedger) -> None:
    sealed = ledger.seal({"release": {"value": 1.5}}, job_id="one")
    with ledger.writing() as page:
        page.keep_drawn("one", sealed)
        assert page.all_drawn() == ["one"]
    assert sealed in ledger.path.read_bytes()
    with ledger.writing() as page:
        page.forget_drawn("one")
        assert page.all_drawn() == []
    assert sealed not in ledger.path.read_bytes()


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"something else, longer than a header of a database\n" * 100)
    with pytest.raises(NotReady, match="cannot be opened"), ZoneLedger(path, key=KEY, sealing=KEY).reading():
        pass


def test_one_that_is_lost_is_refused_and_never_renewed(ledger: ZoneLedger, tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="a ledger of this zone already"):
        ledger.create(opening)
    ledger.path.unlink()
    for looked_at in (ledger.reading, ledger.writing):
        with pytest.raises(NotReady, match=r"put back that file.*dpgate ledger begin"), looked_at():
            pass
    assert list(tmp_path.iterdir()) == []
    ledger.path.touch()
    with pytest.raises(NotReady, match="is empty"), ledger.writing():
        pass


def test_one_whose_beginning_fails_is_not_there(tmp_path: Path) -> None:
    made = ZoneLedger(tmp_path / "ledger.sqlite", key=KEY, sealing=SEALING)

    def failing(page: Page) -> None:
        opening(page)
        raise KeyError

    with pytest.raises(KeyError):
        made.create(failing)
    assert list(tmp_path.iterdir()) == []


def test_one_that_somebody_holds_is_a_refusal_without_its_text(
    ledger: ZoneLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.zone_ledger.BUSY_S", 0)
    with ledger.writing(), pytest.raises(NotReady, match=r"OperationalError$"), ledger.writing():
        pass

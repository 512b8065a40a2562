"""The chain of audit events verifies, and tampering shows, also by someone who drops the triggers."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta, timezone
from itertools import count

import pytest
import sqlalchemy as sa
from factories import NOW
from undone import undone

from domain.errors import PlatformError
from domain.permissions import Role, User
from store import audit, history
from store.database import Database
from store.tables import audit_events, audit_head

COUNT = 5


def append(connection, subject="job-1", *, at=NOW, **details):
    audit.append(connection, at=at, actor="ada", action="job.submit", subject=subject, **details)


def append_twice(connection, *, second_at):
    append(connection)
    append(connection, at=second_at)


@pytest.fixture
def trail(database):
    for number in range(COUNT):
        with database.transaction() as connection:
            append(connection, f"job-{number}", number=number, answered_by=None, note="ä\0😀")
    return database


def verdict(database, **expected):
    with database.reading() as connection:
        return audit.verify(connection, **expected)


def head(database):
    with database.reading() as connection:
        return audit.head(connection)


def tamper(database, *statements):
    with database.transaction() as connection:
        tamper_with(connection, *statements)


def tamper_with(connection, *statements):
    if connection.dialect.name == "sqlite":
        for action in ("update", "delete"):
            connection.execute(sa.text(f"DROP TRIGGER audit_events_no_{action}"))
    else:
        connection.execute(sa.text("ALTER TABLE audit_events DISABLE TRIGGER USER"))
    for statement in statements:
        connection.execute(sa.text(statement) if isinstance(statement, str) else statement)


def rewrite(database, events):
    """The whole trail anew, with hashes that fit: what only a kept head can show."""
    with database.transaction() as connection:
        for number, hash_ in connection.execute(sa.select(audit_head.c.number, audit_head.c.hash)).all():
            assert (number, len(hash_)) == (COUNT, 64)
    tamper(database, sa.delete(audit_events), sa.update(audit_head).values(number=0, hash=audit.GENESIS))
    for event in events:
        with database.transaction() as connection:
            append(connection, event)


def test_an_untouched_trail_is_intact(trail):
    assert verdict(trail) == audit.Verdict(events=COUNT, head=head(trail)[1], broken_at=None)


def test_an_empty_trail_is_intact(database):
    assert verdict(database, expected_head=audit.GENESIS).intact


def test_an_event_of_a_transaction_that_failed_leaves_no_gap(trail):
    with pytest.raises(ValueError, match="an instant needs a zone"), trail.transaction() as connection:
        append_twice(connection, second_at=NOW.replace(tzinfo=None))
    with trail.transaction() as connection:
        append(connection)
        append(connection)
    assert verdict(trail).intact
    assert head(trail)[0] == COUNT + 2


def test_an_instant_in_another_zone_verifies(trail):
    berlin = NOW.astimezone(timezone(timedelta(hours=1)))
    with trail.transaction() as connection:
        append(connection, at=berlin)
        append(connection, at=datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=berlin.tzinfo))
    assert verdict(trail).intact


def test_an_old_head_is_found_inside_a_longer_trail(trail):
    kept = head(trail)[1]
    with trail.transaction() as connection:
        append(connection)
    assert verdict(trail, expected_head=kept).intact
    assert not verdict(trail, expected_head="0" * 63 + "1").intact


CHANGES = (
    ("UPDATE audit_events SET details = '{\"number\": 7}' WHERE number = 3", 3),
    ("UPDATE audit_events SET actor = 'eve' WHERE number = 1", 1),
    ("UPDATE audit_events SET at = '2020-01-01 00:00:00' WHERE number = 5", 5),
    ("UPDATE audit_events SET subject = 'job-9' WHERE number = 2", 2),
    ("DELETE FROM audit_events WHERE number = 3", 3),
    ("DELETE FROM audit_events WHERE number = 1", 1),
    ("DELETE FROM audit_events WHERE number = 5", 5),
    ("DELETE FROM audit_events", 1),
    ("UPDATE audit_events SET number = 6 WHERE number = 3", 3),
    ("UPDATE audit_head SET number = 4", 6),
    ("DELETE FROM audit_head", 6),
)


def test_a_change_shows_where_it_is(trail, subtests):
    with trail.transaction() as connection:
        for change, broken_at in CHANGES:
            with subtests.test(msg=change), undone(connection):
                tamper_with(connection, change)
                assert audit.verify(connection).broken_at == broken_at
        assert audit.verify(connection).intact


UNREADABLE = {
    "no document": "details = '{broken'",
    "no number": """details = '{"a": NaN}'""",
    "half a letter": """details = '{"a": "\\ud800"}'""",
    "very deep": f"details = '{'[' * 20_000}{']' * 20_000}'",
    "no instant": "at = 'some day'",
    "bytes for a document": "details = X'FF00'",
    "bytes for a name": "actor = X'FF00'",
    "letters of no encoding": "actor = CAST(X'FF41' AS TEXT)",
}
TAKEN_BY_POSTGRESQL = ("half a letter",)


def test_an_event_that_cannot_be_read_shows_where_it_is(trail, subtests):
    """Somebody with the database's account would else keep everybody from verifying anything."""
    with trail.transaction() as connection:
        for name, change in UNREADABLE.items():
            if trail.is_sqlite or name in TAKEN_BY_POSTGRESQL:
                with subtests.test(name), undone(connection):
                    tamper_with(connection, f"UPDATE audit_events SET {change} WHERE number = 3")
                    assert audit.verify(connection).broken_at == 3


NO_DAY = "at = 'infinity'"


def test_an_event_that_cannot_be_read_is_shown_as_such_among_the_others(trail, subtests):
    """It would else keep everybody from reading any."""
    holder = User(name="ada", role=Role.RIGHTS_HOLDER)
    known = UNREADABLE if trail.is_sqlite else {name: UNREADABLE[name] for name in TAKEN_BY_POSTGRESQL}
    of_both = {"a list": "details = '[1]'", **({} if trail.is_sqlite else {"no day": NO_DAY})}
    with trail.transaction() as connection:
        whole = history.events(connection, history.Wanted())
        for name, change in {**known, **of_both}.items():
            with subtests.test(name), undone(connection):
                tamper_with(connection, f"UPDATE audit_events SET {change} WHERE number = 3")
                assert audit.verify(connection).broken_at == 3
                found = history.events(connection, history.Wanted())
                assert [event.number for event in found] == [5, 4, 3, 2, 1]
                assert [event for event in found if event.number != 3] == whole[:2] + whole[3:]
                (spoilt,) = (event for event in found if event.number == 3)
                assert (spoilt.action, spoilt.actor, spoilt.subject) == (history.SPOILT, "", "")
                assert set(history.actions(connection)) <= {"job.submit"}
                among = history.concerning(connection, holder)
                assert history.events(connection, history.Wanted(), among=among) == []


def test_a_database_that_gives_up_on_the_way_accuses_nobody(sqlite_url):
    database = Database(sqlite_url)
    try:
        for number in range(COUNT):
            with database.transaction() as connection:
                append(connection, f"job-{number}")
        with database.reading() as connection:
            driver = connection.connection.dbapi_connection
            steps = count()
            driver.set_progress_handler(lambda: next(steps) < 0, 1)
            assert audit.verify(connection).intact
            half, steps = next(steps) // 2, count()
            driver.set_progress_handler(lambda: next(steps) >= half, 1)
            with pytest.raises(sa.exc.OperationalError, match="interrupted"):
                audit.verify(connection)
            driver.set_progress_handler(None, 1)
    finally:
        database.close()


def test_events_in_another_order_show(trail):
    moves = [(2, 99), (3, 2), (99, 3)]
    tamper(trail, *(f"UPDATE audit_events SET number = {to} WHERE number = {was}" for was, to in moves))
    assert verdict(trail).broken_at == 2


def test_a_changed_event_with_a_hash_that_fits_breaks_the_next(trail):
    with trail.reading() as connection:
        query = sa.select(audit_events).where(audit_events.c.number == 2)
        event = dict(connection.execute(query).one()._mapping)
    forged = {**event, "actor": "eve"}
    forged["hash"] = audit._hash(forged)
    tamper(trail, sa.update(audit_events).where(audit_events.c.number == 2).values(forged))
    assert verdict(trail).broken_at == 3


def test_a_cut_tail_shows_against_a_kept_head(trail):
    with trail.reading() as connection:
        fourth = connection.execute(
            sa.select(audit_events.c.hash).where(audit_events.c.number == COUNT - 1)
        ).scalar_one()
    kept = head(trail)[1]
    tamper(
        trail,
        f"DELETE FROM audit_events WHERE number = {COUNT}",
        sa.update(audit_head).values(number=COUNT - 1, hash=fourth),
    )
    assert verdict(trail).intact, "without a kept head nobody can know"
    assert verdict(trail, expected_head=kept).broken_at == COUNT
    for known, broken_at in (({COUNT: kept}, COUNT), ({COUNT - 1: fourth}, None), ({2: kept}, 2)):
        assert verdict(trail, known=known).broken_at == broken_at


def test_a_rewritten_trail_shows_against_a_kept_head(trail):
    kept = head(trail)[1]
    rewrite(trail, ["innocent"] * COUNT)
    assert verdict(trail).intact
    assert not verdict(trail, expected_head=kept).intact


def test_a_trail_without_a_head_takes_no_event(trail):
    tamper(trail, "DELETE FROM audit_head")
    with pytest.raises(PlatformError, match="run the migrations"), trail.transaction() as connection:
        append(connection)


def test_an_event_out_of_turn_is_refused(trail):
    with trail.transaction() as connection:
        append(connection)
        connection.execute(sa.update(audit_head).values(hash="0" * 64))
        with pytest.raises(PlatformError, match="out of turn"):
            append(connection)


def test_verifying_while_others_write_raises_no_false_alarm(trail):
    stop = threading.Event()

    def write():
        while not stop.is_set():
            with trail.transaction() as connection:
                append(connection)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert all(verdict(trail).intact for _ in range(30))
    finally:
        stop.set()
        writer.join()

"""Whose turn it is to ask for a sweep: somebody's every few seconds, and never two workers' at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import sqlalchemy as sa

from domain.operation import LOST_AFTER
from store import sweeps
from store.clock import database_time
from store.database import Database
from store.operation_tables import sweeps as table

EVERY_S = 5.0


def asked_before(database: Database, ago: timedelta) -> None:
    with database.transaction() as connection:
        now = database_time(connection)
        assert connection.execute(sa.update(table).values(asked_at=now - ago)).rowcount == 1


def is_asked_for(database: Database) -> bool:
    return word(database) != "none"


def word(database: Database) -> str:
    with database.reading() as connection:
        return sweeps.word(connection)


def ended(database: Database, ago: timedelta = timedelta()) -> None:
    with database.transaction() as connection:
        sweeps.note_end(connection, by="one")
        now = database_time(connection)
        connection.execute(sa.update(table).values(ended_at=now - ago))


def test_one_turn_in_so_many_seconds(database: Database) -> None:
    assert not is_asked_for(database)
    assert sweeps.take_turn(database, every_s=EVERY_S)
    assert is_asked_for(database)
    assert not sweeps.take_turn(database, every_s=EVERY_S)
    asked_before(database, timedelta(seconds=EVERY_S))
    assert sweeps.take_turn(database, every_s=EVERY_S)
    assert not sweeps.take_turn(database, every_s=EVERY_S)


def test_of_many_workers_one_takes_a_turn(database: Database) -> None:
    assert sweeps.take_turn(database, every_s=EVERY_S)
    for _ in range(5):
        asked_before(database, timedelta(seconds=EVERY_S))
        with ThreadPoolExecutor(6) as pool:
            turns = list(pool.map(lambda _: sweeps.take_turn(database, every_s=EVERY_S), range(6)))
        assert turns.count(True) == 1


def test_a_clock_that_was_set_back_holds_up_nobody(database: Database) -> None:
    assert sweeps.take_turn(database, every_s=EVERY_S)
    asked_before(database, -timedelta(hours=1))
    assert not is_asked_for(database)
    assert sweeps.take_turn(database, every_s=EVERY_S)
    assert is_asked_for(database)


def test_a_silence_is_seen(database: Database) -> None:
    assert sweeps.take_turn(database, every_s=EVERY_S)
    asked_before(database, LOST_AFTER + timedelta(seconds=5))
    assert not is_asked_for(database)


def test_asked_for_is_not_done(database: Database) -> None:
    """A worker keeps the timer, and no process of any comes to the end of a sweep."""
    ended(database)
    assert word(database) == "none"  # the end of one that nobody has asked for is nowhere
    assert sweeps.take_turn(database, every_s=EVERY_S)
    assert word(database) == "late"
    ended(database)
    assert word(database) == "ok"
    with database.reading() as connection:
        found = sweeps.last(connection)
        assert found is not None
        assert found.ended_by == "one"
        assert found.ended_at is not None
        assert found.ended_at >= found.asked_at
    for ago in (LOST_AFTER + timedelta(seconds=5), -timedelta(hours=1)):
        ended(database, ago)
        assert word(database) == "late"


def test_who_sweeps_seldom_is_given_the_time(database: Database) -> None:
    assert sweeps.take_turn(database, every_s=600)
    ended(database, timedelta(seconds=600 * sweeps.MISSED - 60))
    asked_before(database, timedelta(minutes=15))
    assert word(database) == "ok"
    ended(database, timedelta(seconds=600 * sweeps.MISSED + 60))
    assert word(database) == "late"
    asked_before(database, timedelta(seconds=600 * sweeps.MISSED + 60))
    assert word(database) == "none"

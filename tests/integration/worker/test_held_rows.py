"""Rows, tables and the turn that somebody holds with the gateway's account at PostgreSQL, for as long as they
like: recovery goes past what it can do without, and says so where it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from services import ROLES, by_role
from zones import Bench, given_heights, move, open_bench, submit

from domain.states import Actor, JobState
from store import sweeps
from store.database import Database
from worker.sweep import sweep

LONG_S = 3600
LOCK_S = 0.5
TURN = "SELECT pg_advisory_lock(110433933554789)"
TABLE = "LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE"
PLANTED = (
    "INSERT INTO audit_events SELECT (jsonb_populate_record(event, "
    "jsonb_build_object('number', number + 1, 'hash', 'planted'))).* "
    "FROM audit_events event ORDER BY number DESC LIMIT 1"
)


@pytest.fixture
def bench(postgresql_url: str, tmp_path: Path) -> Iterator[Bench]:
    with (
        closing(Database(by_role(postgresql_url, ROLES[1]), lock_s=LOCK_S)) as database,
        open_bench(database.url, tmp_path, database=database) as it,
    ):
        sweeps.take_turn(database, every_s=1)
        yield it


@contextmanager
def held(postgresql_url: str, *statements: str) -> Iterator[sa.Connection]:
    """By the gateway's account, until the end of the block."""
    with (
        closing(Database(by_role(postgresql_url, ROLES[0]))) as intruder,
        intruder.engine.connect() as connection,
    ):
        for statement in statements:
            connection.execute(sa.text(statement))
        yield connection
        # a connection that is only closed lets go when its server process has noticed
        connection.rollback()
        connection.execute(sa.text("SELECT pg_advisory_unlock_all()"))
        connection.rollback()


def ended(bench: Bench) -> bool:
    with bench.database.reading() as connection:
        found = sweeps.last(connection)
    assert found is not None
    return found.ended_at is not None


def given_left(bench: Bench) -> str:
    """A job whose worker is gone."""
    job_id = submit(bench, epsilon="0.1")
    bench.sent.take()
    with bench.database.transaction() as connection:
        move(connection, job_id, JobState.QUEUED, JobState.PREPARING, Actor.WORKER, bench.clock())
    return job_id


def test_rows_that_are_held_keep_no_other_job_from_being_taken_up(bench: Bench, postgresql_url: str) -> None:
    given_heights(bench)
    kept, waits, left = submit(bench, epsilon="0.1"), submit(bench, epsilon="0.1"), given_left(bench)
    bench.sent.take()
    bench.clock.forward(LONG_S)
    with held(postgresql_url, f"SELECT 1 FROM jobs WHERE id = '{kept}' FOR UPDATE"):
        sweep(bench.zone)
        assert [message for message in bench.sent.take() if message[0] == "job"] == [("job", waits)]
        assert bench.job(left).state is JobState.QUEUED
        assert ended(bench)
    sweep(bench.zone)
    assert ("job", kept) in bench.sent.take()


@pytest.mark.parametrize("statement", [TURN, TABLE], ids=["the turn", "a table"])
def test_a_sweep_that_is_kept_from_its_work_does_not_count_as_ended(
    bench: Bench, postgresql_url: str, statement: str
) -> None:
    given_heights(bench)
    left = given_left(bench)
    bench.clock.forward(LONG_S)
    with held(postgresql_url, statement):
        sweep(bench.zone)
        assert not ended(bench)
    sweep(bench.zone)
    assert ended(bench)
    assert bench.job(left).state is JobState.QUEUED


def test_nor_does_one_that_cannot_write_to_the_trail(bench: Bench, postgresql_url: str) -> None:
    given_heights(bench)
    given_left(bench)
    bench.clock.forward(LONG_S)
    with held(postgresql_url, PLANTED) as planting:
        planting.commit()
    sweep(bench.zone)
    assert not ended(bench)

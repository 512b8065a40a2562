"""Two workers of one host with different scratch folders: nothing that must be alone begins beside the other,
on both databases, whichever of them came first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from zones import Bench, given_heights, submit

from domain.job import Reason
from domain.operation import LOST_AFTER
from domain.states import JobState
from domain.surroundings import Isolation
from store import runs, workers
from store.clock import database_time
from store.operation_tables import workers as on_record
from worker import execute as route
from worker.chunk import claim_chunk
from worker.execute import execute, execute_chunk
from worker.heartbeat import Heartbeat, Orders
from worker.host_turns import HostTurns, Place, place_of
from worker.neighbours import why_not_beside

ALONE, BESIDE = Isolation.EXCLUSIVE, Isolation.SHARED


@pytest.fixture
def neighbour(bench: Bench, tmp_path: Path) -> Callable[[], Place]:
    """Comes when it is called: a worker of this host that takes its turns in another folder."""
    folder = tmp_path / "another-scratch"
    folder.mkdir()

    def comes() -> Place:
        place = place_of(folder)
        announce(bench, "neighbour", place)
        return place

    return comes


@pytest.fixture(autouse=True)
def on_the_list(bench: Bench) -> None:
    announce(bench, bench.zone.settings.name, bench.zone.turns.place())


def announce(bench: Bench, name: str, place: Place) -> None:
    settings = bench.zone.settings.model_copy(update={"worker_name": name})
    Heartbeat(settings, {}, place).announce(bench.database)


def change(bench: Bench, **values: object) -> None:
    """Of the neighbour's row."""
    with bench.database.transaction() as connection:
        connection.execute(sa.update(on_record).where(on_record.c.name == "neighbour").values(**values))


def charged(bench: Bench, isolation: Isolation) -> str:
    name = f"heights-{isolation}"
    people = {f"{isolation}-{number}": 150 + number for number in range(12)}
    given_heights(bench, people, name=name, policy={"isolation": isolation})
    job_id = submit(bench, dataset=name)
    execute(bench.zone, job_id)
    assert bench.job(job_id).state is JobState.RUNNING
    return job_id


def is_waiting(bench: Bench, job_id: str) -> bool:
    with bench.database.reading() as connection:
        return 0 in runs.waiting(connection, job_id)


def test_a_neighbour_is_who_is_there_on_this_host_with_another_door(bench, neighbour):
    assert why_not_beside(bench.zone, ALONE) is None, "nobody but this worker"
    place = neighbour()
    reason = why_not_beside(bench.zone, ALONE)
    assert reason is not None
    assert "neighbour" in reason
    assert "DPGATE_SCRATCH_FOLDER" in reason
    with bench.database.reading() as connection:
        now = database_time(connection)
    for values in (
        {"host": "0" * 64},
        {"door": bench.zone.turns.place().door},
        {"seen_at": now - LOST_AFTER - timedelta(minutes=1)},
        {"ended_at": now},
        {"host": None, "door": None},
    ):
        change(bench, **values)
        assert why_not_beside(bench.zone, ALONE) is None, values
        change(bench, host=place.host, door=place.door, seen_at=now, ended_at=None)
        assert why_not_beside(bench.zone, ALONE) is not None


def test_a_job_whose_runs_must_be_alone_is_not_charged_beside_one(bench, neighbour):
    neighbour()
    given_heights(bench, policy={"isolation": ALONE})
    job_id = submit(bench)
    execute(bench.zone, job_id)
    job = bench.job(job_id)
    assert job.charged_at is None
    assert job.reason is Reason.SANDBOX_UNAVAILABLE


def test_a_charged_chunk_waits_until_the_neighbour_is_gone(bench, neighbour):
    job_id = charged(bench, ALONE)
    neighbour()
    execute_chunk(bench.zone, job_id, 0)
    assert is_waiting(bench, job_id)
    with bench.database.transaction() as connection:
        assert runs.most_attempts(connection, job_id) == 0, "to wait is no failure"
        workers.note_end(
            connection, name="neighbour", start=_start(connection), now=database_time(connection)
        )
    execute_chunk(bench.zone, job_id, 0)
    assert not is_waiting(bench, job_id)


def _start(connection: sa.Connection) -> str:
    query = sa.select(on_record.c.start).where(on_record.c.name == "neighbour")
    return str(connection.execute(query).scalar_one())


def test_a_neighbour_that_comes_at_the_moment_of_the_claim_is_seen_after_it(bench, neighbour, monkeypatch):
    job_id = charged(bench, ALONE)

    def claimed_as_it_comes(*claim: object) -> object:
        found = claim_chunk(*claim)
        neighbour()
        return found

    monkeypatch.setattr(route, "claim_chunk", claimed_as_it_comes)
    execute_chunk(bench.zone, job_id, 0)
    assert is_waiting(bench, job_id)


def test_other_runs_go_on_beside_a_neighbour_but_not_beside_a_claim_that_must_be_alone(bench, neighbour):
    beside, alone = charged(bench, BESIDE), charged(bench, ALONE)
    chunk = claim_chunk(bench.zone, alone, 0)
    assert chunk is not None
    neighbour()
    execute_chunk(bench.zone, beside, 0)
    assert is_waiting(bench, beside)
    with bench.database.transaction() as connection:
        runs.give_back(connection, job_id=alone, number=0, claim=chunk.claim)
    execute_chunk(bench.zone, beside, 0)
    assert not is_waiting(bench, beside)


def test_a_worker_whose_door_was_removed_is_a_neighbour_of_itself(bench, tmp_path):
    turns = HostTurns(tmp_path, "supervised", end_leftovers=lambda: None)
    zone = replace(bench.zone, turns=turns)
    with bench.database.transaction() as connection:
        connection.execute(sa.delete(on_record))
    announce(bench, bench.zone.settings.name, turns.place())
    assert why_not_beside(zone, ALONE) is None
    (tmp_path / "turn-door").rename(tmp_path / "gone")
    assert why_not_beside(zone, ALONE) is not None


def test_a_neighbour_of_the_same_name_is_seen_and_sees(bench, tmp_path):
    """As two users who start a worker with no name set: both are called after their host."""
    mine = bench.zone.settings.name
    one = Heartbeat(bench.zone.settings, {}, bench.zone.turns.place())
    one.announce(bench.database)
    turns = HostTurns(tmp_path, "supervised", end_leftovers=lambda: None)
    two = Heartbeat(bench.zone.settings, {}, turns.place())
    two.announce(bench.database)
    for zone in (bench.zone, replace(bench.zone, turns=turns)):
        assert mine in str(why_not_beside(zone, ALONE))
    one.beat(bench.database, at_work={})
    one.note_end(bench.database)
    assert why_not_beside(replace(bench.zone, turns=turns), ALONE) is None
    two.note_end(bench.database)
    assert why_not_beside(bench.zone, ALONE) is None


def test_one_that_was_lost_and_replaced_is_seen_when_it_is_back(bench, tmp_path, caplog):
    one = Heartbeat(bench.zone.settings, {}, bench.zone.turns.place())
    one.announce(bench.database)
    turns = HostTurns(tmp_path, "supervised", end_leftovers=lambda: None)
    with bench.database.transaction() as connection:
        long_ago = database_time(connection) - 2 * LOST_AFTER
        connection.execute(sa.update(on_record).values(seen_at=long_ago))
    Heartbeat(bench.zone.settings, {}, turns.place()).announce(bench.database)
    zone = replace(bench.zone, turns=turns)
    assert why_not_beside(zone, ALONE) is None
    one.beat(bench.database, at_work={})
    assert "another worker is called" in caplog.text
    assert why_not_beside(zone, ALONE) is not None


def test_a_drain_of_the_later_one_leaves_the_neighbour_of_the_same_name_at_work(bench, tmp_path):
    one = Heartbeat(bench.zone.settings, {}, bench.zone.turns.place())
    one.announce(bench.database)
    two = Heartbeat(bench.zone.settings, {}, place_of(tmp_path))
    two.announce(bench.database)
    drain(bench, bench.zone.settings.name)
    assert one.orders(bench.database, at_work={}) is Orders.TAKE
    assert two.orders(bench.database, at_work={}) is Orders.LEAVE


def test_a_drained_neighbour_that_finishes_what_nobody_else_would_is_seen(bench, neighbour):
    place = neighbour()
    settings = bench.zone.settings.model_copy(update={"worker_name": "neighbour"})
    drained = Heartbeat(settings, {}, place)
    drained.announce(bench.database)
    drain(bench, "neighbour")
    assert drained.orders(bench.database, at_work={}) is Orders.LEAVE
    assert why_not_beside(bench.zone, ALONE) is None
    job_id = charged(bench, ALONE)
    drain(bench, bench.zone.settings.name)
    assert drained.orders(bench.database, at_work={}) is Orders.FINISH
    execute_chunk(bench.zone, job_id, 0)
    assert is_waiting(bench, job_id)


def drain(bench: Bench, name: str) -> None:
    with bench.database.transaction() as connection:
        workers.drain(connection, name, ends=False, by="olga", now=database_time(connection))

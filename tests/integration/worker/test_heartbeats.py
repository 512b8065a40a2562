"""What a worker says of itself and how it follows orders: by public states, not by when its part is done."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from factories import given_job, given_user

from domain.messages import Message
from domain.operation import WorkerState, WorkKind
from domain.permissions import Role
from domain.profile_request import ProfileRequest
from domain.states import JobState
from store import profiles, sweeps, workers
from store.clock import database_time
from store.database import Database
from store.operation_tables import sweeps as sweeps_table
from store.profile_box import new_key
from store.tables import jobs
from store.workers import Worker
from worker.config import WorkerSettings
from worker.consumer_steps import database_of
from worker.heartbeat import Heartbeat, Orders

JOB = "job-running1"
PROFILE = "profile-0001"
NOTHING: dict[str, str] = {}


def heartbeat(database: Database, name: str, *, announced: bool = True) -> Heartbeat:
    settings = WorkerSettings(
        database_url=database.url, broker_url="redis://", zone_folder=Path("zone"),
        scratch_folder=Path("scratch"), worker_name=name, slots=8, processes=3,
    )  # fmt: skip
    made = Heartbeat(settings, {"seccomp": True})
    if announced:
        made.announce(database)
    return made


def seen(database: Database, name: str) -> Worker:
    with database.reading() as connection:
        return workers.get(connection, name, now=database_time(connection))


def drain(database: Database, name: str, *, ends: bool = False) -> None:
    with database.transaction() as connection:
        workers.drain(connection, name, ends=ends, by="olga", now=database_time(connection))


def put(database: Database, state: JobState) -> None:
    with database.transaction() as connection:
        connection.execute(sa.update(jobs).where(jobs.c.id == JOB).values(state=state))


@pytest.fixture
def running(database: Database) -> Database:
    with database.transaction() as connection:
        given_job(connection, job_id=JOB, state=JobState.RUNNING)
    return database


def test_it_takes_part_until_the_public_state_of_the_job_ends(running: Database) -> None:
    one = heartbeat(running, "one")
    one.took("dpgate.run_chunk", JOB)
    one.took("dpgate.sweep", "")
    for state in (JobState.RUNNING, JobState.AGGREGATING):
        put(running, state)
        # none of its processes has anything in hand any more
        one.beat(running, at_work=NOTHING)
        found = seen(running, "one")
        assert (found.kinds, found.slots) == ((WorkKind.JOBS,), 3)
    put(running, JobState.RELEASED)
    one.beat(running, at_work={"message": "dpgate.rehearse"})
    assert seen(running, "one").kinds == (WorkKind.REHEARSALS,)


def test_it_takes_part_in_a_profile_while_that_is_read(database: Database, now: datetime) -> None:
    one = heartbeat(database, "one")
    request = ProfileRequest(
        name="clinic", delivery="0" * 8 + "-0000-4000-8000-" + "0" * 12, key=new_key()[1]
    )
    with database.transaction() as connection:
        given_user(connection, "holder", Role.RIGHTS_HOLDER)
        profiles.request(connection, profile_id=PROFILE, owner="holder", request=request, now=now)
        found = profiles.claim(connection, PROFILE, now=now, due_at=now)
    assert found is not None
    one.took(Message.PROFILE.value, PROFILE)
    one.beat(database, at_work=NOTHING)
    assert seen(database, "one").kinds == (WorkKind.PROFILES,)
    drain(database, "one")
    # its process may be done: what is public of the profile is not
    assert one.orders(database, at_work=NOTHING) is Orders.FINISH
    with database.transaction() as connection:
        assert profiles.finish(connection, found, sealed=b"sealed", now=now)
    one.beat(database, at_work=NOTHING)
    assert seen(database, "one").kinds == ()
    assert one.orders(database, at_work=NOTHING) is Orders.LEAVE


def test_the_only_worker_finishes_what_runs_before_it_is_drained(running: Database) -> None:
    one = heartbeat(running, "one")
    assert one.orders(running, at_work=NOTHING) is Orders.TAKE
    drain(running, "one", ends=True)
    assert one.orders(running, at_work=NOTHING) is Orders.FINISH
    put(running, JobState.RELEASED)
    assert one.orders(running, at_work={"message": "dpgate.publish"}) is Orders.FINISH
    assert seen(running, "one").state is WorkerState.DRAINING
    assert one.orders(running, at_work=NOTHING) is Orders.END
    assert seen(running, "one").state is WorkerState.DRAINED


def test_with_another_one_there_it_leaves_messages_at_once_and_waits_for_the_public_end(
    running: Database,
) -> None:
    one, _ = heartbeat(running, "one"), heartbeat(running, "two")
    one.took("dpgate.run_chunk", JOB)
    drain(running, "one")
    assert one.orders(running, at_work=NOTHING) is Orders.LEAVE
    # its own part is done, the job is not
    assert seen(running, "one").state is WorkerState.DRAINING
    put(running, JobState.RELEASED)
    assert one.orders(running, at_work=NOTHING) is Orders.LEAVE
    assert seen(running, "one").state is WorkerState.DRAINED


def test_a_drain_that_outlived_a_restart_does_not_end_the_worker_again(database: Database) -> None:
    heartbeat(database, "one")
    drain(database, "one", ends=True)
    again = heartbeat(database, "one")
    assert again.orders(database, at_work=NOTHING) is Orders.LEAVE
    assert seen(database, "one").state is WorkerState.DRAINED


def test_forgotten_by_mistake_it_announces_itself_anew(database: Database) -> None:
    one = heartbeat(database, "one", announced=False)
    one.beat(database, at_work=NOTHING)
    assert seen(database, "one").state is WorkerState.LIVE


def test_two_of_one_name_are_told_so(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    one, two = heartbeat(database, "one"), heartbeat(database, "one")
    one.beat(database, at_work=NOTHING)
    assert "another worker is called one" in caplog.text
    caplog.clear()
    two.beat(database, at_work=NOTHING)
    assert not caplog.text


def test_without_a_name_it_is_called_after_its_host_and_first_slot() -> None:
    common = {
        "database_url": "", "broker_url": "", "zone_folder": Path("zone"), "scratch_folder": Path("scratch"),
    }  # fmt: skip
    names = [WorkerSettings(**common, first_slot=slot).name for slot in (0, 8)]  # type: ignore[arg-type]
    assert [name.rpartition("-")[2] for name in names] == ["0", "8"]
    assert names[0][:-1] == names[1][:-1]


def test_a_look_gives_up_soon_where_somebody_holds_the_database(database: Database) -> None:
    """By default it waits half a minute for a lock of SQLite, and for ever for one of PostgreSQL."""
    beating = heartbeat(database, "one")
    with database.transaction() as connection:
        connection.execute(sa.insert(sweeps_table).values(id=sweeps.ONLY, asked_at=database_time(connection)))
        with closing(database_of(beating.settings)) as brief, pytest.raises(sa.exc.OperationalError):
            sweeps.take_turn(brief, every_s=0)
    with closing(database_of(beating.settings)) as brief:
        beating.beat(brief, at_work=NOTHING)

"""Workers on record on both databases: what is said of them, and that asking twice is asking once."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from factories import NOW, given_dataset, given_job

from domain.dataset import DatasetState
from domain.errors import Conflict, NotFound
from domain.messages import WhyDropped
from domain.operation import BEAT_S, FORGOTTEN_AFTER, LOST_AFTER, MOST_SKEW_S, WorkerState, WorkKind
from domain.states import JobState
from store import workers
from store.clock import ahead_s, database_time
from store.database import Database
from store.doors import doors_of_host
from store.tables import audit_events, datasets
from store.workers import Presence

PRESENCE = Presence(
    name="host-0", start="first", version="0.1.0", python="3.11.7", profile="standard", sandbox="supervised",
    slots=4, features={"seccomp": True, "cgroup": False},
)  # fmt: skip
MOMENT = timedelta(seconds=1)


@pytest.fixture
def connection(database):
    with database.transaction() as connection:
        workers.announce(connection, PRESENCE, now=NOW, skew_s=0.2)
        yield connection


def state(connection, *, after=MOMENT, name="host-0"):
    return workers.get(connection, name, now=NOW + after).state


def actions(connection):
    query = sa.select(audit_events.c.action).order_by(audit_events.c.number)
    return [action for action in connection.execute(query).scalars() if action.startswith("worker.")]


def test_it_is_there_until_it_was_not_seen_for_two_minutes(connection):
    assert state(connection) is WorkerState.LIVE
    assert state(connection, after=LOST_AFTER) is WorkerState.LIVE
    assert state(connection, after=LOST_AFTER + MOMENT) is WorkerState.LOST
    seen = {"kinds": {WorkKind.JOBS}, "now": NOW + LOST_AFTER, "skew_s": 0, "dropped": {WhyDropped.CODE: 2}}
    workers.beat(connection, name="host-0", start="first", **seen)
    assert state(connection, after=LOST_AFTER + MOMENT) is WorkerState.LIVE
    # and while a clock that has gone back shows an earlier time, no longer either
    assert state(connection, after=timedelta()) is WorkerState.LIVE
    assert state(connection, after=-MOMENT) is WorkerState.LOST
    # two beats may be missed
    assert 3 * timedelta(seconds=BEAT_S) < LOST_AFTER
    found = workers.get(connection, "host-0", now=NOW)
    assert (found.kinds, found.missing, found.dropped) == ((WorkKind.JOBS,), ["cgroup"], {WhyDropped.CODE: 2})


def test_the_older_of_two_with_one_name_finds_that_it_was_replaced(connection):
    workers.announce(connection, replace(PRESENCE, start="second"), now=NOW + MOMENT, skew_s=0)
    kinds: set[WorkKind] = set()
    beats = [
        workers.beat(connection, name="host-0", start=start, kinds=kinds, now=NOW, skew_s=0, dropped={})
        for start in ("first", "second")
    ]
    assert beats == [False, True]
    workers.note_end(connection, name="host-0", start="first", now=NOW)
    assert state(connection) is WorkerState.LIVE


def test_draining_is_asked_once_and_outlives_a_restart(connection):
    for _ in range(2):
        workers.drain(connection, "host-0", ends=False, by="olga", now=NOW)
    assert state(connection) is WorkerState.DRAINING
    for _ in range(2):
        workers.note_drained(connection, name="host-0", start="first", now=NOW)
    assert state(connection) is WorkerState.DRAINED
    workers.announce(connection, replace(PRESENCE, start="second"), now=NOW, skew_s=0)
    assert state(connection) is WorkerState.DRAINING
    for _ in range(2):
        workers.resume(connection, "host-0", by="olga", now=NOW)
    assert state(connection) is WorkerState.LIVE
    assert workers.drain_asked(connection, "host-0") is None
    assert actions(connection) == ["worker.drain", "worker.drained", "worker.resume"]


def test_only_what_is_gone_is_forgotten(connection):
    with pytest.raises(Conflict, match="is there"):
        workers.forget(connection, "host-0", by="olga", now=NOW)
    workers.note_end(connection, name="host-0", start="first", now=NOW)
    assert state(connection) is WorkerState.ENDED
    workers.forget(connection, "host-0", by="olga", now=NOW)
    for ask in (workers.drain, workers.resume, workers.forget):
        fields = {"ends": False} if ask is workers.drain else {}
        with pytest.raises(NotFound):
            ask(connection, "host-0", by="olga", now=NOW, **fields)


def test_those_that_are_long_gone_are_forgotten_by_themselves(connection):
    later = NOW + FORGOTTEN_AFTER + MOMENT
    workers.announce(connection, replace(PRESENCE, name="host-1"), now=later, skew_s=0)
    assert [worker.name for worker in workers.listed(connection, now=later)] == ["host-1"]


def test_others_count_only_when_they_take_jobs(connection):
    assert not workers.others_take_jobs(connection, "host-0", now=NOW)
    workers.announce(connection, replace(PRESENCE, name="host-1"), now=NOW, skew_s=0)
    assert workers.others_take_jobs(connection, "host-0", now=NOW)
    assert not workers.others_take_jobs(connection, "host-0", now=NOW + LOST_AFTER + MOMENT)
    workers.drain(connection, "host-1", ends=True, by="olga", now=NOW)
    assert not workers.others_take_jobs(connection, "host-0", now=NOW)


def test_work_is_public_until_its_public_state_ends(connection):
    given_job(connection, job_id="job-running1", state=JobState.RUNNING, now=NOW)
    given_job(connection, job_id="job-queued01", state=JobState.QUEUED, now=NOW, epsilon="0.25")
    dataset = given_dataset(connection, name="other")
    wanted = {
        WorkKind.JOBS: {"job-running1", "job-queued01", "job-nothing1"},
        WorkKind.IMPORTS: {dataset.id},
        WorkKind.PROFILES: set(),
    }
    found = workers.still_on(connection, wanted)
    assert found == {WorkKind.JOBS: {"job-running1"}, WorkKind.IMPORTS: set(), WorkKind.PROFILES: set()}
    importing = {"state": DatasetState.IMPORTING, "snapshot": None}
    connection.execute(sa.update(datasets).where(datasets.c.id == dataset.id).values(importing))
    assert workers.still_on(connection, wanted)[WorkKind.IMPORTS] == {dataset.id}
    assert workers.any_job_taken(connection)


def test_clocks_are_compared_with_the_databases(connection):
    now = database_time(connection)
    assert ahead_s(connection, now + timedelta(seconds=90)) == pytest.approx(90, abs=5)
    found = workers.get(connection, "host-0", now=NOW)
    assert not found.is_off(0)
    assert found.is_off(MOST_SKEW_S + 1)
    assert not replace(found, skew_s=MOST_SKEW_S + 1).is_off(MOST_SKEW_S + 1)


def test_one_from_the_future_is_forgotten_like_one_from_long_ago(connection):
    ahead = replace(PRESENCE, name="ahead", start="ahead")
    workers.announce(connection, ahead, now=NOW + FORGOTTEN_AFTER + MOMENT, skew_s=0)
    assert workers.get(connection, "ahead", now=NOW).state is WorkerState.LOST
    workers.announce(connection, replace(PRESENCE, name="third", start="third"), now=NOW, skew_s=0)
    assert "ahead" not in [worker.name for worker in workers.listed(connection, now=NOW)]


def test_the_doors_of_a_host_as_somebody_outside_reads_them(sqlite_url):
    with closing(Database(sqlite_url)) as database, database.transaction() as connection:
        now = database_time(connection)
        for name, host, door in (("one", "here", "a"), ("two", "here", "b"), ("three", "there", "c")):
            presence = replace(PRESENCE, name=name, start=name, host=host, door=door)
            workers.announce(connection, presence, now=now, skew_s=0)
    assert doors_of_host(sqlite_url, host="here") == {"one": "a", "two": "b"}
    assert doors_of_host(sqlite_url, host="nowhere") == {}


def test_a_database_that_says_nothing_has_no_doors(tmp_path):
    assert doors_of_host(f"sqlite:///{tmp_path}/nothing.sqlite", host="here") is None

"""Chunks are claimed by one worker at a time, and un-noised outputs never outlive the job."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from factories import NOW, given_job
from sqlalchemy.exc import IntegrityError
from standing_in_line import wait_until_another_waits
from undone import undone
from waiting import PATIENCE_S

from domain.states import Actor, JobState
from store import jobs, runs

LEASE = NOW + timedelta(seconds=60)
JOB = "job-running"


@pytest.fixture
def connection(planned):
    with planned.transaction() as connection:
        yield connection


@pytest.fixture
def planned(database):
    with database.transaction() as connection:
        given_job(connection, state=JobState.RUNNING, job_id=JOB)
        runs.plan(connection, job_id=JOB, count=3)
    return database


def claim(connection, number=0):
    return runs.claim(connection, job_id=JOB, number=number, lease_until=LEASE)


def finish(connection, claimed, number=0):
    return runs.finish(connection, job_id=JOB, number=number, claim=claimed, sealed={number: b"\0sealed\xff"})


def test_a_chunk_is_claimed_once_and_finished_once(connection):
    claimed = claim(connection)
    assert claimed
    assert claim(connection) is None
    assert runs.waiting(connection, JOB) == [1, 2]
    assert finish(connection, claimed)
    assert not finish(connection, claimed)
    assert claim(connection) is None
    assert runs.sealed_outputs(connection, JOB) == {0: b"\0sealed\xff"}


def test_of_many_that_claim_at_once_one_gets_it(planned):
    def try_it(_):
        with planned.transaction() as connection:
            return claim(connection)

    with ThreadPoolExecutor(8) as threads:
        assert sum(token is not None for token in threads.map(try_it, range(16))) == 1


def test_a_chunk_given_back_waits_again(connection):
    runs.give_back(connection, job_id=JOB, number=0, claim="somebody else's")
    claimed = claim(connection)
    runs.give_back(connection, job_id=JOB, number=0, claim="somebody else's")
    assert runs.waiting(connection, JOB) == [1, 2]
    runs.give_back(connection, job_id=JOB, number=0, claim=claimed)
    assert runs.waiting(connection, JOB) == [0, 1, 2]
    assert runs.most_attempts(connection, JOB) == 1
    assert claim(connection)
    assert runs.most_attempts(connection, JOB) == 0, "a chunk that may yet succeed is not counted"


def test_a_lost_claim_keeps_nothing(connection):
    first = claim(connection)

    def released(seconds: float) -> list[int]:
        return runs.release_expired(
            connection, job_id=JOB, now=LEASE + timedelta(seconds=seconds), longest_s=60
        )

    assert released(0) == released(-60) == []
    assert released(1) == [0]
    second = claim(connection)
    assert not finish(connection, first)
    assert runs.sealed_outputs(connection, JOB) == {}
    assert finish(connection, second)


def test_all_done_when_every_chunk_is(connection):
    for number in range(3):
        assert not runs.all_done(connection, JOB)
        finish(connection, claim(connection, number), number)
    assert runs.all_done(connection, JOB)
    assert sorted(runs.sealed_outputs(connection, JOB)) == [0, 1, 2]


def test_chunks_are_planned_once(connection):
    with pytest.raises(IntegrityError):
        runs.plan(connection, job_id=JOB, count=1)


def test_outputs_end_with_the_job_or_its_release(connection, subtests):
    finish(connection, claim(connection))
    for after in (JobState.CANCELLED, JobState.ERRORED, JobState.IN_REVIEW):
        with subtests.test(msg=after), undone(connection):
            before, actor = JobState.RUNNING, Actor.OPERATOR if after is JobState.CANCELLED else Actor.SWEEP
            if after is JobState.IN_REVIEW:
                jobs.move(connection, JOB, before, JobState.AGGREGATING, actor=Actor.WORKER, now=NOW)
                before, actor = JobState.AGGREGATING, Actor.WORKER
            assert jobs.move(connection, JOB, before, after, actor=actor, now=NOW)
            assert runs.sealed_outputs(connection, JOB) == {}
            assert runs.waiting(connection, JOB) == []


def test_outputs_that_come_while_the_job_is_cancelled_do_not_stay(planned):
    with planned.transaction() as connection:
        claimed = claim(connection)
    with ThreadPoolExecutor(1) as other:
        with planned.transaction() as connection:
            assert finish(connection, claimed)
            cancelled = other.submit(cancel, planned)
            wait_until_another_waits(planned, unless=cancelled.done)
        assert cancelled.result(PATIENCE_S)
    with planned.reading() as connection:
        assert runs.sealed_outputs(connection, JOB) == {}


def cancel(database):
    with database.transaction() as connection:
        return jobs.move(connection, JOB, JobState.RUNNING, JobState.CANCELLED, actor=Actor.OPERATOR, now=NOW)

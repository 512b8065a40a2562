"""What is found stuck on both databases, and that taking it up again may come twice."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from factories import IMAGE, NOW, given_dataset, given_job, given_user, make_pipeline

from domain.dataset import DatasetState
from domain.errors import Conflict
from domain.job import Reason
from domain.operation import STUCK_AFTER, StuckKind
from domain.rehearsal import RehearsalRequest
from domain.states import Actor, JobState
from store import agreement, jobs, rehearsals, runs, stuck
from store import datasets as datasets_on_record
from store.tables import audit_events, datasets
from store.tables import jobs as job_rows

LONG = timedelta(hours=1)
JOB = "job-stuck-1"


def found(connection, *, now=NOW + LONG):
    return [(one.kind, one.subject) for one in stuck.stuck(connection, now=now)]


def test_a_queued_job_is_stuck_after_a_while_and_is_sent_again_once(database):
    with database.transaction() as connection:
        given_job(connection, job_id=JOB, state=JobState.QUEUED, now=NOW)
        assert found(connection, now=NOW + STUCK_AFTER[StuckKind.QUEUED] / 2) == []
        assert found(connection) == [(StuckKind.QUEUED, JOB)]
        mended = [
            stuck.mend(connection, kind=StuckKind.QUEUED, subject=JOB, by="olga", now=NOW + LONG)
            for _ in range(2)
        ]
        assert mended == [True, False]
        events = connection.execute(sa.select(audit_events).where(audit_events.c.action == "operation.mend"))
        assert [(row.actor, row.subject, row.details) for row in events] == [
            ("olga", JOB, {"kind": "queued"})
        ]


def test_what_is_on_record_of_why_a_job_waits_is_said(database):
    """As that another platform has the host: a message that is sent again changes nothing then."""
    with database.transaction() as connection:
        given_job(connection, job_id=JOB, state=JobState.QUEUED, now=NOW)
        (one,) = stuck.stuck(connection, now=NOW + LONG)
        assert one.sentence == StuckKind.QUEUED.sentence
        agreement.say_why(connection, JOB, Reason.SANDBOX_UNAVAILABLE.name)
        (one,) = stuck.stuck(connection, now=NOW + LONG)
        assert one.sentence == f"A job waits: {Reason.SANDBOX_UNAVAILABLE}."
        assert "another platform" in one.sentence


def test_preparing_for_too_long(database):
    with database.transaction() as connection:
        given_job(connection, job_id=JOB, state=JobState.PREPARING, now=NOW)
        assert found(connection) == [(StuckKind.PREPARING, JOB)]


def test_a_running_job_is_stuck_only_when_a_lease_ran_out_or_its_public_time_passed(database):
    due = NOW + LONG
    with database.transaction() as connection:
        given_job(connection, job_id=JOB, state=JobState.RUNNING, now=NOW)
        connection.execute(sa.update(job_rows).where(job_rows.c.id == JOB).values(due_at=due))
        runs.plan(connection, job_id=JOB, count=2)
        # a healthy worker is at it; however long its runs take, nothing is shown
        runs.claim(connection, job_id=JOB, number=0, lease_until=due)
        assert found(connection, now=due - timedelta(seconds=1)) == []
        assert found(connection, now=due + timedelta(minutes=2)) == [(StuckKind.LEASE, JOB)]
        runs.release_expired(connection, job_id=JOB, now=due + timedelta(minutes=2), longest_s=60)
        assert found(connection, now=due + timedelta(minutes=2)) == []
        assert found(connection, now=due + timedelta(minutes=11)) == [(StuckKind.OVERDUE, JOB)]


def test_an_import_that_does_not_end(database):
    with database.transaction() as connection:
        dataset = given_dataset(connection)
        state = {"state": DatasetState.IMPORTING, "snapshot": None, "created_at": NOW}
        connection.execute(sa.update(datasets).where(datasets.c.id == dataset.id).values(state))
        (one,) = stuck.stuck(connection, now=NOW + LONG)
        assert (one.kind, one.subject, one.name) == (StuckKind.IMPORT, dataset.id, dataset.name)
        for _ in range(2):
            assert stuck.mend(connection, kind=one.kind, subject=one.subject, by="olga", now=NOW + LONG)


def test_a_rehearsal_that_waits_or_whose_worker_is_silent(database):
    """Under the id of a job that is stuck as well: each is seen."""
    with database.transaction() as connection:
        given_job(connection, job_id=JOB, state=JobState.QUEUED, now=NOW)
        given_rehearsal(connection, rehearsal_id=JOB)
        both = {(StuckKind.QUEUED, JOB), (StuckKind.REHEARSAL, JOB)}
        assert set(found(connection, now=NOW + timedelta(minutes=14))) == {(StuckKind.QUEUED, JOB)}
        assert set(found(connection, now=NOW + timedelta(minutes=16))) == both
        due = NOW + LONG
        assert rehearsals.claim(connection, JOB, now=NOW, due_at=due, most_running=1) is not None
        assert (StuckKind.REHEARSAL, JOB) not in found(connection, now=due)
        assert set(found(connection, now=due + timedelta(minutes=16))) == both
        assert stuck.mend(
            connection, kind=StuckKind.REHEARSAL, subject=JOB, by="olga", now=due + timedelta(minutes=16)
        )


def given_rehearsal(connection, *, rehearsal_id):
    """Requested now, by ada."""
    rehearsals.request(
        connection,
        rehearsal_id=rehearsal_id,
        author="ada",
        dataset=datasets_on_record.newest(connection, "heights", given_user(connection, "ada")),
        request=RehearsalRequest(dataset="heights", pipeline=make_pipeline()),
        image_digest=IMAGE,
        now=NOW,
    )


def test_what_moves_is_not_taken_up(database, subtests):
    with database.transaction() as connection:
        given_job(connection, job_id=JOB, state=JobState.QUEUED, now=NOW)
        jobs.move(connection, JOB, JobState.QUEUED, JobState.CANCELLED, actor=Actor.DATA_USER, now=NOW)
        for kind in StuckKind:
            with subtests.test(msg=kind), pytest.raises(Conflict, match="is not stuck"):
                stuck.mend(connection, kind=kind, subject=JOB, by="olga", now=NOW + LONG)

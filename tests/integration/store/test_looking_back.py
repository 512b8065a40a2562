"""What pages look back at, on both databases: versions, spending, events, counts."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from factories import NOW, given_dataset, given_job, given_user, make_user, policy_fields

from domain.dataset import DatasetState
from domain.job import Reason
from domain.permissions import Role
from domain.states import Actor, JobState, LedgerAction
from store import audit, history, jobs
from store.database import Database
from store.history import Wanted


@pytest.fixture
def told(database: Database) -> Database:
    """Two rights holders with a data set each; jobs on one of them."""
    with database.transaction() as connection:
        given_dataset(connection)
        given_dataset(connection, state=DatasetState.IMPORTING)
        given_user(connection, "rival", Role.RIGHTS_HOLDER)
        given_dataset(connection, name="weights", owner="rival")
        given_job(connection, job_id="job-running", state=JobState.RUNNING, epsilon="0.5")
        given_job(connection, job_id="job-rejected", state=JobState.REJECTED, author="bob", epsilon="0.25")
        broken = given_job(connection, job_id="job-broken", state=JobState.PREPARING, epsilon="0.125")
        jobs.move(
            connection, broken.id, JobState.PREPARING, JobState.ERRORED, actor=Actor.WORKER, now=NOW,
            reason=Reason.SNAPSHOT_MISSING.name,
        )  # fmt: skip
        later = NOW + timedelta(days=1)
        audit.append(
            connection, at=later, actor="holder", action="job.decide", subject="job-rejected",
            decision=JobState.REJECTED, reason="too wide",
        )  # fmt: skip
    return database


def test_versions_newest_first(told: Database):
    with told.reading() as connection:
        found = history.versions(connection, "heights")
    assert [(version.version, version.state) for version in found] == [
        (2, DatasetState.IMPORTING), (1, DatasetState.READY),
    ]  # fmt: skip


def test_spending_is_of_the_cohort_or_of_one_author(told: Database):
    with told.reading() as connection:
        everybody = history.spending(connection, cohort="heights")
        bob = history.spending(connection, cohort="heights", author="bob")
        assert history.spending(connection, cohort="weights") == []
    assert [(entry.job_id, entry.action, entry.amount) for entry in everybody[:2]] == [
        ("job-running", LedgerAction.RESERVE, 500_000), ("job-running", LedgerAction.CHARGE, 500_000),
    ]  # fmt: skip
    assert [entry.action for entry in bob] == [LedgerAction.RESERVE, LedgerAction.REFUND]
    assert {entry.author for entry in everybody} == {"ada", "bob"}


def test_events_are_filtered(told: Database, subtests: pytest.Subtests):
    for wanted, count in (
        (Wanted(action="job.decide"), 1),
        (Wanted(actor="bob"), 1),
        (Wanted(subject="job-rej"), 3),
        (Wanted(subject="job_rej"), 0),
        (Wanted(subject="%"), 0),
        (Wanted(since=date(2026, 3, 3)), 1),
        (Wanted(since=date(2026, 3, 4)), 0),
        (Wanted(before=1), 0),
    ):
        with subtests.test(msg=str(wanted)), told.reading() as connection:
            assert len(history.events(connection, wanted)) == count


def test_events_newest_first_and_of_own_subjects_only(told: Database):
    with told.reading() as connection:
        everything = history.events(connection, Wanted())
        own = history.subjects_of(connection, make_user("rival", Role.RIGHTS_HOLDER))
        rivals = history.events(connection, Wanted(), subjects=own)
        assert len(history.events(connection, Wanted(), limit=2)) == 2
        assert {"job.submit", "job.move", "job.decide"} <= set(history.actions(connection))
    numbers = [event.number for event in everything]
    assert numbers == sorted(numbers, reverse=True)
    assert {event.action for event in rivals} == {"dataset.register", "dataset.import"}
    assert not {"job-running", "heights"} & (own.own | own.jobs | own.cohorts)


def test_reviewers_see_the_events_of_what_they_review_and_nothing_of_its_budget(told: Database):
    rival = make_user("rival", Role.RIGHTS_HOLDER)
    with told.transaction() as connection:
        alone = history.subjects_of(connection, rival)
        named = given_dataset(connection, name="ages", policy=policy_fields(reviewers=["rival"]))
        given_job(connection, job_id="job-on-ages", dataset="ages")
        audit.append(connection, at=NOW, actor="holder", action="budget.allot", subject="ages")
        seen = history.subjects_of(connection, rival)
        stranger = history.subjects_of(connection, make_user("other", Role.RIGHTS_HOLDER))
        actions = {event.action for event in history.events(connection, Wanted(), subjects=seen)}
    assert (seen.own - alone.own, seen.jobs - alone.jobs) == ({named.id}, {"job-on-ages"})
    assert {"dataset.register", "job.submit"} <= actions
    assert "budget.allot" not in actions
    assert stranger == history.Subjects(frozenset(), holder="other")


def test_counts_reasons_and_waits(told: Database):
    with told.reading() as connection:
        counted = history.jobs_by_state(connection)
        assert history.reasons(connection) == [(Reason.SNAPSHOT_MISSING, 1)]
        later = NOW + timedelta(minutes=5)
        assert history.waiting_since(connection, (JobState.RUNNING,), now=later) == timedelta(minutes=5)
        assert history.waiting_since(connection, (JobState.QUEUED,), now=later) == timedelta(0)
    assert set(counted) == set(JobState)
    assert (counted[JobState.RUNNING], counted[JobState.ERRORED], counted[JobState.QUEUED]) == (1, 1, 0)

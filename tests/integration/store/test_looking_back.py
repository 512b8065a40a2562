"""What pages look back at, on both databases: versions, spending, events, counts."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import date, timedelta

import pytest
import sqlalchemy as sa
from factories import NOW, given_dataset, given_job, given_user, make_user, policy_fields

from domain.dataset import DatasetState
from domain.job import Reason
from domain.permissions import Role, User
from domain.states import Actor, JobState, LedgerAction
from privacy.cost import Currency
from store import audit, history, jobs, spending
from store.database import Database
from store.history import Wanted
from store.tables import jobs as job_rows


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
    heights = spending.Wanted("heights")
    with told.reading() as connection:
        everybody = spending.newest(connection, heights)[::-1]
        bob = spending.newest(connection, replace(heights, author="bob"))[::-1]
        assert spending.newest(connection, spending.Wanted("weights")) == []
        assert spending.newest(connection, replace(heights, author="bob", reader="ada")) == []
        assert spending.newest(connection, heights, skipped=1, limit=2) == everybody[-3:-1][::-1]
        assert spending.count(connection, heights) == len(everybody)
        assert set(spending.spenders(connection, heights)) == {("ada", None), ("bob", None)}
    assert [(entry.job_id, entry.action, entry.amount) for entry in everybody[:2]] == [
        ("job-running", LedgerAction.RESERVE, 500_000), ("job-running", LedgerAction.CHARGE, 500_000),
    ]  # fmt: skip
    assert [entry.action for entry in bob] == [LedgerAction.RESERVE, LedgerAction.REFUND]
    assert {entry.author for entry in everybody} == {"ada", "bob"}


def test_of_a_long_course_the_first_and_the_newest_are_told_and_all_are_added_up(
    told: Database, subtests: pytest.Subtests
):
    with told.reading() as connection:
        entries = spending.newest(connection, spending.Wanted("heights"))[::-1]
        whole = spending.courses(connection, spending.Wanted("heights"), most=100)[Currency.EPSILON]
        for most in (1, 2, 3, len(entries) - 1):
            few = spending.courses(connection, spending.Wanted("heights"), most=most)[Currency.EPSILON]
            with subtests.test(most=most):
                assert len(few) <= most + 1
                assert (few[0], few[-1]) == (whole[0], whole[-1])
                assert set(few) <= set(whole)
    assert [standing.place for standing in whole] == list(range(1, len(entries) + 1))
    assert {standing.entries for standing in whole} == {len(entries)}
    assert [(standing.spent, standing.reserved) for standing in whole[:2]] == [(0, 500_000), (500_000, 0)]
    charged = sum(entry.amount for entry in entries if entry.action is LedgerAction.CHARGE)
    assert (whole[-1].spent, whole[-1].reserved) == (charged, 0)


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


def seen_by(connection: sa.Connection, user: User) -> set[tuple[str, str]]:
    """Action and subject of every event that concerns this rights holder."""
    own = history.concerning(connection, user)
    return {(event.action, event.subject) for event in history.events(connection, Wanted(), among=own)}


def test_events_newest_first_and_of_own_subjects_only(told: Database):
    with told.reading() as connection:
        everything = history.events(connection, Wanted())
        own = history.concerning(connection, make_user("rival", Role.RIGHTS_HOLDER))
        rivals = history.events(connection, Wanted(), among=own)
        assert len(history.events(connection, Wanted(), limit=2)) == 2
        assert {"job.submit", "job.move", "job.decide"} <= set(history.actions(connection))
    numbers = [event.number for event in everything]
    assert numbers == sorted(numbers, reverse=True)
    assert {event.action for event in rivals} == {"dataset.register", "dataset.import"}


def test_reviewers_see_the_events_of_what_they_review_and_nothing_of_its_budget(told: Database):
    rival = make_user("rival", Role.RIGHTS_HOLDER)
    with told.transaction() as connection:
        before = seen_by(connection, rival)
        named = given_dataset(connection, name="ages", policy=policy_fields(reviewers=["rival"]))
        given_job(connection, job_id="job-on-ages", dataset="ages")
        audit.append(connection, at=NOW, actor="holder", action="budget.allot", subject="ages")
        new = seen_by(connection, rival) - before
        stranger = seen_by(connection, make_user("other", Role.RIGHTS_HOLDER))
    assert {subject for _, subject in new} == {named.id, "job-on-ages"}
    assert {"dataset.register", "job.submit"} <= {action for action, _ in new}
    assert "budget.allot" not in {action for action, _ in new}
    assert stranger == set()


def test_a_rights_holder_with_more_jobs_than_a_statement_takes_values_reads_their_events(told: Database):
    """PostgreSQL takes 65,535 values in one statement, SQLite 32,766."""
    columns = [column for column in job_rows.c if column.name not in ("id", "once")]
    numbers = sa.text(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 66000) SELECT i FROM n"
    )
    count = numbers.columns(sa.column("i", sa.Integer)).subquery()
    name = sa.literal("job-many-") + sa.cast(count.c.i, sa.String)
    many = (
        sa.select(name, *columns)
        .where(job_rows.c.id == "job-running")
        .select_from(job_rows.join(count, sa.true()))
    )
    with told.transaction() as connection:
        connection.execute(sa.insert(job_rows).from_select(["id", *(c.name for c in columns)], many))
        audit.append(connection, at=NOW, actor="ada", action="job.submit", subject="job-many-66000")
    with told.reading() as connection:
        if told.is_sqlite:  # distributions build it with other limits
            raw = connection.connection.driver_connection
            assert isinstance(raw, sqlite3.Connection)
            raw.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32_766)
        holder = history.concerning(connection, make_user("holder", Role.RIGHTS_HOLDER))
        rival = history.concerning(connection, make_user("rival", Role.RIGHTS_HOLDER))
        wanted = Wanted(subject="job-many-")
        assert len(history.events(connection, wanted, among=holder)) == 1
        assert history.events(connection, wanted, among=rival) == []


def test_counts_reasons_and_waits(told: Database):
    with told.reading() as connection:
        counted = history.jobs_by_state(connection)
        assert history.reasons(connection) == [(Reason.SNAPSHOT_MISSING, 1)]
        later = NOW + timedelta(minutes=5)
        assert history.waiting_since(connection, (JobState.RUNNING,), now=later) == timedelta(minutes=5)
        assert history.waiting_since(connection, (JobState.QUEUED,), now=later) == timedelta(0)
    assert set(counted) == set(JobState)
    assert (counted[JobState.RUNNING], counted[JobState.ERRORED], counted[JobState.QUEUED]) == (1, 1, 0)

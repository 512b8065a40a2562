"""What people decided before there were votes is a vote of theirs, with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from factories import NOW
from sqlalchemy.exc import DBAPIError, IntegrityError

from domain.review import Stage, Tally
from store import audit, reviews
from store.database import Database

# who moved which job from where to where, as the trail has it, and the reason where one was given
MOVES = (
    ("job-approved", "holder", "SUBMITTED", "QUEUED", None),
    ("job-approved", "holder", "IN_REVIEW", "WITHHELD", "it says too much"),
    ("job-rejected", "holder", "SUBMITTED", "REJECTED", "bounds <b> too wide"),
    ("job-by-rule-1", "policy", "SUBMITTED", "QUEUED", None),
    ("job-by-rule-1", "policy", "IN_REVIEW", "RELEASED", None),
    ("job-by-rule-1", "worker", "QUEUED", "PREPARING", None),
    ("job-withdrawn", "ada", "SUBMITTED", "CANCELLED", None),
)


@pytest.fixture(params=["sqlite", "postgresql"])
def migrated(request: pytest.FixtureRequest, brought: Any) -> Iterator[Database]:
    """A database as the version before left it, brought to this version's form."""
    with brought(request.param, "0007", decided_before) as database:
        yield database


def decided_before(connection: sa.Connection) -> None:
    # somebody who is called as the platform calls itself decided nothing of what it did
    for name, role in (("holder", "rights_holder"), ("policy", "rights_holder"), ("ada", "data_user")):
        connection.execute(
            sa.text(
                "INSERT INTO users (name, role, token_id, token_hash, created_at) "
                "VALUES (:name, :role, :name, 'h', :now)"
            ),
            {"name": name, "role": role, "now": NOW},
        )
    for number, (job, actor, before, after, reason) in enumerate(MOVES):
        at = NOW + timedelta(minutes=number)
        audit.append(
            connection, at=at, actor=actor, action="job.move", subject=job, before=before, after=after
        )
        if reason:
            audit.append(
                connection, at=at, actor=actor, action="job.decide", subject=job, decision=after,
                reason=reason,
            )  # fmt: skip


def tally(database: Database, job: str, stage: Stage) -> Tally:
    with database.reading() as connection:
        return reviews.tally(connection, subject=job, stage=stage, needed=1)


DECIDED = (
    ("job-approved", Stage.APPROVAL, "approve", "", 0),
    ("job-approved", Stage.RELEASE, "withhold", "it says too much", 1),
    ("job-rejected", Stage.APPROVAL, "reject", "bounds <b> too wide", 2),
)


def test_a_decision_of_then_is_a_vote(migrated: Database, subtests: pytest.Subtests):
    for job, stage, word, reason, minute in DECIDED:
        with subtests.test(msg=f"{job} {stage}"):
            (vote,) = tally(migrated, job, stage).votes
            assert (vote.reviewer, vote.word, vote.reason) == ("holder", word, reason)
            assert vote.at == NOW + timedelta(minutes=minute)
    for job in ("job-by-rule-1", "job-withdrawn"):
        for stage in (Stage.APPROVAL, Stage.RELEASE):
            with subtests.test(msg=f"nobody decided {job} {stage}"):
                assert tally(migrated, job, stage) == Tally(needed=1, given=0)


def test_the_trail_still_holds(migrated: Database):
    with migrated.reading() as connection:
        assert audit.verify(connection).intact


def test_constraints_hold_from_now_on(migrated: Database, subtests: pytest.Subtests):
    for statement in ("UPDATE votes SET approves = true", "DELETE FROM votes"):
        refused = pytest.raises(DBAPIError, match="append-only")
        with subtests.test(msg=statement), refused, migrated.transaction() as connection:
            connection.execute(sa.text(statement))
    for statement in (
        "INSERT INTO votes (subject, stage, reviewer, approves, reason, at) "
        "SELECT subject, stage, reviewer, approves, reason, at FROM votes",
        "INSERT INTO votes (subject, stage, reviewer, approves, reason, at) "
        "SELECT subject, 'MOOD', reviewer, approves, reason, at FROM votes",
        "INSERT INTO votes (subject, stage, reviewer, approves, reason, at) "
        "SELECT subject, 'TWIN', 'nobody', approves, reason, at FROM votes",
        "INSERT INTO twin_reviews (dataset_id, needed) VALUES ('none', 1)",
        "INSERT INTO comments (job_id, thread, author, text, at) "
        "SELECT subject, 'job', reviewer, reason, at FROM votes",
    ):
        refused = pytest.raises(IntegrityError)
        with subtests.test(msg=statement), refused, migrated.transaction() as connection:
            connection.execute(sa.text(statement))

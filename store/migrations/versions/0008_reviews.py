"""Votes and comments. What was decided before becomes votes of those who decided it, with their reasons."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
EVENTS = sa.table(
    "audit_events",
    *(sa.column(name) for name in ("number", "actor", "action", "subject")),
    sa.column("details", sa.JSON),
    sa.column("at", sa.DateTime(timezone=True)),
)
USERS = sa.table("users", sa.column("name"))
# a move of a job that a person decided: what was decided, and how
DECISIONS = {
    ("SUBMITTED", "QUEUED"): ("APPROVAL", True),
    ("SUBMITTED", "REJECTED"): ("APPROVAL", False),
    ("IN_REVIEW", "RELEASED"): ("RELEASE", True),
    ("IN_REVIEW", "WITHHELD"): ("RELEASE", False),
}
# who moves jobs without a person's decision
NOBODY = {"policy", "worker", "sweep", "rights_holder"}


def upgrade() -> None:
    votes = create_votes()
    create_twin_reviews()
    create_comments()
    carry_over(votes)
    forbid_changes()


def create_votes() -> sa.Table:
    table = op.create_table(
        "votes",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("subject", sa.String(length=64), nullable=False),
        sa.Column("stage", sa.String(length=10), nullable=False),
        sa.Column("reviewer", sa.String(length=63), nullable=False),
        sa.Column("approves", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("stage IN ('APPROVAL', 'RELEASE', 'TWIN')", name=op.f("ck_votes_stage_known")),
        sa.ForeignKeyConstraint(["reviewer"], ["users.name"], name=op.f("fk_votes_reviewer")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_votes")),
        sa.UniqueConstraint("subject", "stage", "reviewer", name=op.f("uq_votes_subject_stage_reviewer")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_votes_reviewer", "votes", ["reviewer"], unique=False)
    return table


def create_twin_reviews() -> None:
    op.create_table(
        "twin_reviews",
        sa.Column("dataset_id", sa.String(length=36), nullable=False),
        sa.Column("needed", sa.Integer(), nullable=False),
        sa.Column("approved", sa.Boolean(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(approved IS NULL) = (decided_at IS NULL)", name=op.f("ck_twin_reviews_decided_at_once")
        ),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_twin_reviews_dataset_id")),
        sa.PrimaryKeyConstraint("dataset_id", name=op.f("pk_twin_reviews")),
    )


def create_comments() -> None:
    op.create_table(
        "comments",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("thread", sa.String(length=10), nullable=False),
        sa.Column("author", sa.String(length=63), nullable=False),
        sa.Column("text", sa.String(length=4000), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("thread IN ('job', 'release')", name=op.f("ck_comments_thread_known")),
        sa.ForeignKeyConstraint(["author"], ["users.name"], name=op.f("fk_comments_author")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_comments_job_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_comments")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_comments_job_id", "comments", ["job_id"], unique=False)


def carry_over(votes: sa.Table) -> None:
    """Every move that a person decided, and the reason where one was given."""
    connection = op.get_bind()
    people = set(connection.execute(sa.select(USERS.c.name)).scalars()) - NOBODY
    reasons = {
        (event.subject, event.details.get("decision")): str(event.details.get("reason", ""))[:1000]
        for event in events(connection, "job.decide")
    }
    for event in events(connection, "job.move"):
        before, after = event.details.get("before"), event.details.get("after")
        if event.actor not in people or (before, after) not in DECISIONS:
            continue
        stage, approves = DECISIONS[before, after]
        connection.execute(
            sa.insert(votes).values(
                subject=event.subject,
                stage=stage,
                reviewer=event.actor,
                approves=approves,
                reason=reasons.get((event.subject, after), ""),
                at=event.at,
            )
        )


def events(connection: sa.Connection, action: str) -> list[Any]:
    query = sa.select(EVENTS).where(EVENTS.c.action == action).order_by(EVENTS.c.number)
    return list(connection.execute(query))


def forbid_changes() -> None:
    for table in ("votes", "comments"):
        if op.get_bind().dialect.name == "postgresql":
            op.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
            )
            continue
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )

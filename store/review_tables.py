"""Votes, reviews of twins, and comments: their tables. Triggers in the migration keep votes and comments as
they were written."""

from __future__ import annotations

import sqlalchemy as sa

from domain.review import MAX_COMMENT, MAX_REASON, Stage, Thread
from store.tables import Moment, Sequence, metadata, one_of

votes = sa.Table(
    "votes",
    metadata,
    sa.Column("number", Sequence, primary_key=True, autoincrement=True),
    # a job, or the version of a data set whose twin it is
    sa.Column("subject", sa.String(64), nullable=False),
    sa.Column("stage", sa.String(10), nullable=False),
    sa.Column("reviewer", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("approves", sa.Boolean, nullable=False),
    sa.Column("reason", sa.String(MAX_REASON), nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.UniqueConstraint("subject", "stage", "reviewer"),
    one_of("stage", Stage),
    sqlite_autoincrement=True,
)
sa.Index("ix_votes_reviewer", votes.c.reviewer)

twin_reviews = sa.Table(
    "twin_reviews",
    metadata,
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), primary_key=True),
    # votes, by the policy that was in effect at the first one
    sa.Column("needed", sa.Integer, nullable=False),
    sa.Column("approved", sa.Boolean),
    sa.Column("decided_at", Moment),
    sa.CheckConstraint("(approved IS NULL) = (decided_at IS NULL)", name="decided_at_once"),
)

comments = sa.Table(
    "comments",
    metadata,
    sa.Column("number", Sequence, primary_key=True, autoincrement=True),
    sa.Column("job_id", sa.ForeignKey("jobs.id"), nullable=False),
    sa.Column("thread", sa.String(10), nullable=False),
    sa.Column("author", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("text", sa.String(MAX_COMMENT), nullable=False),
    sa.Column("at", Moment, nullable=False),
    one_of("thread", Thread),
    sqlite_autoincrement=True,
)
sa.Index("ix_comments_job_id", comments.c.job_id)

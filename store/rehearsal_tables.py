"""Rehearsals on the twin, and drafts of jobs. Nothing here has seen original data."""

from __future__ import annotations

import sqlalchemy as sa

from domain.rehearsal import RehearsalState
from store.tables import Moment, metadata, one_of

rehearsals = sa.Table(
    "rehearsals",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("author", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("pipeline_digest", sa.String(71), nullable=False),
    sa.Column("request", sa.JSON, nullable=False),
    sa.Column("image_digest", sa.String(71), sa.ForeignKey("images.digest"), nullable=False),
    # the job whose counts its twin is drawn from; none where it is the blank form
    sa.Column("counts", sa.String(64)),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    # runs made, and runs to make: of a twin, so anybody may know
    sa.Column("done", sa.Integer, nullable=False),
    sa.Column("total", sa.Integer, nullable=False),
    sa.Column("problem", sa.Text),
    sa.Column("runs", sa.JSON(none_as_null=True)),
    sa.Column("preview", sa.JSON(none_as_null=True)),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("moved_at", Moment, nullable=False),
    # when a worker that says nothing is taken for lost, or a message for it
    sa.Column("due_at", Moment, nullable=False),
    one_of("state", RehearsalState),
    sa.CheckConstraint("done >= 0 AND done <= total", name="within_total"),
)
sa.Index("ix_rehearsals_author_created_at", rehearsals.c.author, rehearsals.c.created_at)
sa.Index("ix_rehearsals_state_due_at", rehearsals.c.state, rehearsals.c.due_at)

job_drafts = sa.Table(
    "job_drafts",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("author", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("content", sa.JSON, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
)
sa.Index("ix_job_drafts_author_updated_at", job_drafts.c.author, job_drafts.c.updated_at)

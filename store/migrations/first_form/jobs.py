"""Tables of images, jobs, what they wait for and what they released."""

from __future__ import annotations

import sqlalchemy as sa

from store.migrations.first_form.kinds import MOMENT, SEQUENCE, metadata, one_of

sa.Table(
    "images",
    metadata,
    sa.Column("digest", sa.String(71), primary_key=True),
    sa.Column("name", sa.String(63), nullable=False),
    sa.Column("description", sa.Text(), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("approved_by", sa.String(63)),
    sa.Column("approved_at", MOMENT),
    sa.Column("kind", sa.String(10), nullable=False),
    sa.Column("tree_digest", sa.String(71)),
    sa.Column("source_digest", sa.String(71)),
    sa.Column("size", sa.BigInteger()),
    sa.Column("syscalls", sa.String(10)),
    sa.Column("warm", sa.Boolean(), nullable=False),
    sa.Column("withdrawn_by", sa.String(63)),
    sa.Column("withdrawn_at", MOMENT),
    one_of("kind", "host imported"),
    one_of("syscalls", "strict standard"),
)

sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("dataset_id", sa.String(36), sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("author", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("project", sa.String(63)),
    sa.Column("through", sa.String(255)),
    sa.Column("request", sa.JSON(), nullable=False),
    sa.Column("image_digest", sa.String(71), sa.ForeignKey("images.digest")),
    sa.Column("question", sa.String(71), nullable=False),
    sa.Column("policy_number", sa.Integer(), nullable=False),
    sa.Column("once", sa.String(71), unique=True),
    sa.Column("state", sa.String(12), nullable=False),
    sa.Column("attempts", sa.Integer(), nullable=False),
    sa.Column("slots", sa.Integer()),
    sa.Column("answered_by", sa.String(64), sa.ForeignKey("jobs.id")),
    sa.Column("reason", sa.String(20)),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("moved_at", MOMENT, nullable=False),
    sa.Column("charged_at", MOMENT),
    sa.Column("due_at", MOMENT),
    sa.Column("publish_at", MOMENT),
    sa.Column("nudged_at", MOMENT),
    one_of(
        "reason",
        "IMAGE_CHANGED COMMAND_MISSING SNAPSHOT_MISSING SANDBOX_UNAVAILABLE NOT_SYNTHETIC "
        "TIMING_NOT_PADDED CHANNELS_OF_DOCKER CHANNELS_OF_STANDARD CHANNELS_OF_IMAGE "
        "ENOUGH_UNDER_WAY DATASET_WITHDRAWN WORKERS_LOST LEDGER_BEHIND LEDGER_MISSING NOT_IN_LEDGER "
        "MANDATE_MISSING MANDATE_EXPIRED MANDATE_DIFFERS",
    ),
    one_of(
        "state",
        "SUBMITTED QUEUED PREPARING RUNNING AGGREGATING IN_REVIEW RELEASED WITHHELD REJECTED "
        "CANCELLED ERRORED",
    ),
    sa.Index("ix_jobs_author_created_at_id", "author", "created_at", "id"),
    sa.Index("ix_jobs_dataset_id_created_at_id", "dataset_id", "created_at", "id"),
    sa.Index("ix_jobs_question", "question"),
    sa.Index("ix_jobs_state", "state"),
)

sa.Table(
    "chunks",
    metadata,
    sa.Column("job_id", sa.String(64), sa.ForeignKey("jobs.id"), primary_key=True),
    sa.Column("number", sa.Integer(), primary_key=True),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("attempts", sa.Integer(), nullable=False),
    sa.Column("claim", sa.String(36)),
    sa.Column("lease_until", MOMENT),
    sa.Column("ran_in", sa.JSON()),
    one_of("state", "WAITING CLAIMED DONE"),
)

sa.Table(
    "run_outputs",
    metadata,
    sa.Column("job_id", sa.String(64), sa.ForeignKey("jobs.id"), primary_key=True),
    sa.Column("run", sa.Integer(), primary_key=True),
    sa.Column("sealed", sa.LargeBinary(), nullable=False),
)

sa.Table(
    "releases",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("job_id", sa.String(64), sa.ForeignKey("jobs.id"), nullable=False, unique=True),
    sa.Column("body", sa.JSON(), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
)

sa.Table(
    "votes",
    metadata,
    sa.Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column("subject", sa.String(64), nullable=False),
    sa.Column("stage", sa.String(10), nullable=False),
    sa.Column("reviewer", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("approves", sa.Boolean(), nullable=False),
    sa.Column("reason", sa.String(1000), nullable=False),
    sa.Column("at", MOMENT, nullable=False),
    one_of("stage", "APPROVAL RELEASE TWIN"),
    sa.UniqueConstraint("subject", "stage", "reviewer"),
    sa.Index("ix_votes_reviewer", "reviewer"),
    sqlite_autoincrement=True,
)

sa.Table(
    "comments",
    metadata,
    sa.Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column("job_id", sa.String(64), sa.ForeignKey("jobs.id"), nullable=False),
    sa.Column("thread", sa.String(10), nullable=False),
    sa.Column("author", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("text", sa.String(4000), nullable=False),
    sa.Column("at", MOMENT, nullable=False),
    one_of("thread", "job release"),
    sa.Index("ix_comments_job_id", "job_id"),
    sqlite_autoincrement=True,
)

sa.Table(
    "twin_counts",
    metadata,
    sa.Column("job_id", sa.String(64), sa.ForeignKey("jobs.id"), primary_key=True),
    sa.Column("dataset_id", sa.String(36), sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("needed", sa.Integer()),
    sa.Column("approved", sa.Boolean()),
    sa.Column("decided_at", MOMENT),
    sa.CheckConstraint("(approved IS NULL) = (decided_at IS NULL)", name="decided_at_once"),
    sa.Index("ix_twin_counts_dataset_id", "dataset_id"),
)

sa.Table(
    "job_drafts",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("author", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("content", sa.JSON(), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("updated_at", MOMENT, nullable=False),
    sa.Index("ix_job_drafts_author_updated_at", "author", "updated_at"),
)

sa.Table(
    "rehearsals",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("author", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("dataset_id", sa.String(36), sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("pipeline_digest", sa.String(71), nullable=False),
    sa.Column("request", sa.JSON(), nullable=False),
    sa.Column("image_digest", sa.String(71), sa.ForeignKey("images.digest"), nullable=False),
    sa.Column("counts", sa.String(64)),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("attempts", sa.Integer(), nullable=False),
    sa.Column("done", sa.Integer(), nullable=False),
    sa.Column("total", sa.Integer(), nullable=False),
    sa.Column("problem", sa.Text()),
    sa.Column("runs", sa.JSON()),
    sa.Column("preview", sa.JSON()),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("moved_at", MOMENT, nullable=False),
    sa.Column("due_at", MOMENT, nullable=False),
    one_of("state", "QUEUED RUNNING DONE FAILED"),
    sa.CheckConstraint("done >= 0 AND done <= total", name="within_total"),
    sa.Index("ix_rehearsals_author_created_at", "author", "created_at"),
    sa.Index("ix_rehearsals_state_due_at", "state", "due_at"),
)

"""Counts that twins are drawn from, and where their approval stands. The counts themselves are releases."""

from __future__ import annotations

import sqlalchemy as sa

from store.tables import Moment, metadata

twin_counts = sa.Table(
    "twin_counts",
    metadata,
    sa.Column("job_id", sa.ForeignKey("jobs.id"), primary_key=True),
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), nullable=False),
    # votes, by the policy that was in effect at the first one
    sa.Column("needed", sa.Integer),
    sa.Column("approved", sa.Boolean),
    sa.Column("decided_at", Moment),
    sa.CheckConstraint("(approved IS NULL) = (decided_at IS NULL)", name="decided_at_once"),
)
sa.Index("ix_twin_counts_dataset_id", twin_counts.c.dataset_id)

"""Lists of jobs, part by part, without reading every job."""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_index("ix_jobs_author_created_at_id", "jobs", ["author", "created_at", "id"])
    op.create_index("ix_jobs_dataset_id_created_at_id", "jobs", ["dataset_id", "created_at", "id"])

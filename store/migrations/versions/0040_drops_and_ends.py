"""How many messages each worker has dropped, and when a sweep ended, by whom."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    op.add_column("workers", sa.Column("dropped", sa.JSON()))
    op.add_column("sweeps", sa.Column("every_s", sa.Float()))
    op.add_column("sweeps", sa.Column("ended_at", sa.DateTime(timezone=True)))
    op.add_column("sweeps", sa.Column("ended_by", sa.String(63)))

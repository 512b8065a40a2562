"""On which host a worker is, and by which door its processes take turns there."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    for name in ("host", "door"):
        op.add_column("workers", sa.Column(name, sa.String(64), nullable=True))

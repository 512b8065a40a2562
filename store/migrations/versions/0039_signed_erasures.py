"""Why the worker zone does not erase yet what was asked to be erased."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    op.add_column("erasures", sa.Column("held", sa.String(length=20), nullable=True))

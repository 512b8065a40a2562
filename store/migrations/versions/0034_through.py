"""Through which service a job was submitted, where one acted for its author."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("through", sa.String(length=255), nullable=True))

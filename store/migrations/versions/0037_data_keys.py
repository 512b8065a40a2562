"""Which of the worker zone's keys a version of a data set is sealed under."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.add_column("datasets", sa.Column("data_key", sa.String(length=32), nullable=True))

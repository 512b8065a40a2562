"""From when on what a provider says of somebody counts again, after it ended their logins."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0031"


def upgrade() -> None:
    with op.batch_alter_table("identities") as table:
        table.add_column(sa.Column("ended_before", sa.DateTime(timezone=True), nullable=True))

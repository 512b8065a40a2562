"""What was asked to be erased, with the zone's word that it was, and the notice that goes with it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"

MOMENT = sa.DateTime(timezone=True)
KINDS = (
    "kind IN ('job_waits', 'job_decided', 'job_failed', 'release_waits', 'release_ready', "
    "'twin_waits', 'twin_decided', 'dataset_withdrawn', 'dataset_erased', 'grant_asked', 'grant_decided', "
    "'budget_low', 'comment', 'test', 'confirmation')"
)


def upgrade() -> None:
    op.create_table(
        "erasures",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("asked_by", sa.String(length=63), nullable=False),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.Column("done_at", MOMENT, nullable=True),
        sa.Column("record", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(["asked_by"], ["users.name"], name=op.f("fk_erasures_asked_by_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasures")),
    )
    op.create_index("ix_erasures_name", "erasures", ["name"])
    # SQLite cannot change a constraint: there a new table takes the old one's place
    for table_name in ("notices", "muted_notices"):
        with op.batch_alter_table(table_name) as table:
            constraint = op.f(f"ck_{table_name}_kind_known")
            table.drop_constraint(constraint, type_="check")
            table.create_check_constraint(constraint, KINDS)

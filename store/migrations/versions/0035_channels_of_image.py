"""A reason for jobs whose image is not kept in memory, against their policy."""

from __future__ import annotations

from alembic import op

revision = "0035"
down_revision = "0034"

REASONS = (
    "reason IN ('IMAGE_CHANGED', 'COMMAND_MISSING', 'SNAPSHOT_MISSING', 'SANDBOX_UNAVAILABLE', "
    "'NOT_SYNTHETIC', 'TIMING_NOT_PADDED', 'CHANNELS_OF_DOCKER', 'CHANNELS_OF_STANDARD', "
    "'CHANNELS_OF_IMAGE', 'ENOUGH_UNDER_WAY', 'WORKERS_LOST', 'LEDGER_BEHIND', 'LEDGER_MISSING', "
    "'NOT_IN_LEDGER', 'MANDATE_MISSING', 'MANDATE_EXPIRED', 'MANDATE_DIFFERS')"
)


def upgrade() -> None:
    # SQLite cannot change a constraint: there a new table takes the old one's place
    with op.batch_alter_table("jobs") as table:
        table.drop_constraint(op.f("ck_jobs_reason_known"), type_="check")
        table.create_check_constraint(op.f("ck_jobs_reason_known"), REASONS)
    if op.get_bind().dialect.name == "sqlite":
        broken = op.get_bind().exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise RuntimeError(f"{len(broken)} rows would lead nowhere; nothing was changed")

"""States for data sets that were withdrawn or erased, with the reason, problem and notice that go with it."""

from __future__ import annotations

from alembic import op

revision = "0036"
down_revision = "0035"

STATES = "state IN ('IMPORTING', 'READY', 'REFUSED', 'WITHDRAWN', 'ERASED')"
PROBLEMS = (
    "problem IN ('NOT_DELIVERED', 'UNFINISHED', 'CHECKSUM', 'FILE_MISSING', 'FILE_UNDECLARED', "
    "'TABLE_UNDECLARED', 'NOT_BIDS', 'NOT_A_FILE', 'FILE_NAME', 'TOO_LARGE', 'NOT_UTF8', "
    "'NOT_A_TABLE', 'NOT_PARQUET', 'UNIT_COLUMN_MISSING', 'COLUMN_MISSING', 'COLUMN_REPEATED', "
    "'PERSON_EMPTY', 'PERSON_NAME', 'PERSON_REPEATED', 'PERSON_MENTIONED', 'TOO_MANY_PEOPLE', "
    "'PEOPLE_MISSING', 'FOLDER_MISSING', 'VOLUME_PLACE', 'SAME_PEOPLE', 'WITHDRAWN')"
)
REASONS = (
    "reason IN ('IMAGE_CHANGED', 'COMMAND_MISSING', 'SNAPSHOT_MISSING', 'SANDBOX_UNAVAILABLE', "
    "'NOT_SYNTHETIC', 'TIMING_NOT_PADDED', 'CHANNELS_OF_DOCKER', 'CHANNELS_OF_STANDARD', 'CHANNELS_OF_IMAGE', "
    "'ENOUGH_UNDER_WAY', 'DATASET_WITHDRAWN', 'WORKERS_LOST', 'LEDGER_BEHIND', 'LEDGER_MISSING', "
    "'NOT_IN_LEDGER', 'MANDATE_MISSING', 'MANDATE_EXPIRED', 'MANDATE_DIFFERS')"
)
KINDS = (
    "kind IN ('job_waits', 'job_decided', 'job_failed', 'release_waits', 'release_ready', "
    "'twin_waits', 'twin_decided', 'dataset_withdrawn', 'grant_asked', 'grant_decided', "
    "'budget_low', 'comment', 'test', 'confirmation')"
)


def upgrade() -> None:
    # SQLite cannot change a constraint: there a new table takes the old one's place
    for table_name, constraint, allowed in (
        ("datasets", "ck_datasets_state_known", STATES),
        ("datasets", "ck_datasets_problem_known", PROBLEMS),
        ("jobs", "ck_jobs_reason_known", REASONS),
        ("notices", "ck_notices_kind_known", KINDS),
        ("muted_notices", "ck_muted_notices_kind_known", KINDS),
    ):
        with op.batch_alter_table(table_name) as table:
            table.drop_constraint(op.f(constraint), type_="check")
            table.create_check_constraint(op.f(constraint), allowed)
    if op.get_bind().dialect.name == "sqlite":
        broken = op.get_bind().exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise RuntimeError(f"{len(broken)} rows would lead nowhere; nothing was changed")

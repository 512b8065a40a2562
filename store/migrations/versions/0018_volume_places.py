"""Imports can be refused for volumes that do not lie as declared."""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"

PROBLEMS = (
    "problem IN ('NOT_DELIVERED', 'UNFINISHED', 'CHECKSUM', 'FILE_MISSING', 'FILE_UNDECLARED', "
    "'TABLE_UNDECLARED', 'NOT_BIDS', 'NOT_A_FILE', 'FILE_NAME', 'TOO_LARGE', 'NOT_UTF8', 'NOT_A_TABLE', "
    "'NOT_PARQUET', 'UNIT_COLUMN_MISSING', 'COLUMN_MISSING', 'COLUMN_REPEATED', 'PERSON_EMPTY', "
    "'PERSON_NAME', 'PERSON_REPEATED', 'PERSON_MENTIONED', 'TOO_MANY_PEOPLE', 'PEOPLE_MISSING', "
    "'FOLDER_MISSING', 'VOLUME_PLACE', 'SAME_PEOPLE')"
)
NAME = "ck_datasets_problem_known"


def upgrade() -> None:
    with op.batch_alter_table("datasets") as table:
        table.drop_constraint(op.f(NAME), type_="check")
        table.create_check_constraint(op.f(NAME), PROBLEMS)
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    # there a new table has taken the old one's place, with foreign keys off
    if is_sqlite and (broken := op.get_bind().exec_driver_sql("PRAGMA foreign_key_check").fetchall()):
        raise RuntimeError(f"{len(broken)} rows would lead nowhere; nothing was changed")

"""Imports can be refused for more reasons: checksums, BIDS trees, Parquet tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

PROBLEMS = (
    "problem IN ('NOT_DELIVERED', 'UNFINISHED', 'CHECKSUM', 'FILE_MISSING', 'FILE_UNDECLARED', "
    "'TABLE_UNDECLARED', 'NOT_BIDS', 'NOT_A_FILE', 'FILE_NAME', 'TOO_LARGE', 'NOT_UTF8', 'NOT_A_TABLE', "
    "'NOT_PARQUET', 'UNIT_COLUMN_MISSING', 'COLUMN_MISSING', 'COLUMN_REPEATED', 'PERSON_EMPTY', "
    "'PERSON_NAME', 'PERSON_REPEATED', 'PERSON_MENTIONED', 'TOO_MANY_PEOPLE', 'PEOPLE_MISSING', "
    "'FOLDER_MISSING', 'SAME_PEOPLE')"
)
STATES = "state IN ('IMPORTING', 'READY', 'REFUSED')"
COLUMNS = "id, name, version, owner, cohort, declaration, delivery, state, problem, snapshot, created_at"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        rebuild_sqlite()
    else:
        op.drop_constraint(op.f("ck_datasets_problem_known"), "datasets")
        op.create_check_constraint(op.f("ck_datasets_problem_known"), "datasets", PROBLEMS)


def rebuild_sqlite() -> None:
    """SQLite cannot change a constraint: a new table takes the old one's place, with foreign keys off."""
    create_datasets("datasets_new")
    op.execute(f"INSERT INTO datasets_new ({COLUMNS}) SELECT {COLUMNS} FROM datasets")  # noqa: S608 - ours
    op.drop_table("datasets")
    op.rename_table("datasets_new", "datasets")
    if broken := op.get_bind().exec_driver_sql("PRAGMA foreign_key_check").fetchall():
        raise RuntimeError(f"{len(broken)} rows would lead nowhere; nothing was changed")


def create_datasets(name: str) -> None:
    op.create_table(
        name,
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(length=63), nullable=False),
        sa.Column("cohort", sa.String(length=63), nullable=False),
        sa.Column("declaration", sa.JSON(), nullable=False),
        sa.Column("delivery", sa.String(length=36), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("problem", sa.String(length=20), nullable=True),
        sa.Column("snapshot", sa.String(length=71), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(PROBLEMS, name=op.f("ck_datasets_problem_known")),
        sa.CheckConstraint(STATES, name=op.f("ck_datasets_state_known")),
        sa.ForeignKeyConstraint(["cohort"], ["cohorts.id"], name=op.f("fk_datasets_cohort")),
        sa.ForeignKeyConstraint(["owner"], ["users.name"], name=op.f("fk_datasets_owner")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasets")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_datasets_name_version")),
    )

"""The foundation: users, images, cohorts, ledger, data sets, jobs, releases, audit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

APPEND_ONLY = ("audit_events", "ledger_entries", "releases")


def upgrade() -> None:
    create_tables()
    op.execute(
        sa.text("INSERT INTO audit_head (id, number, hash) VALUES (1, 0, :hash)").bindparams(hash="0" * 64)
    )
    if op.get_bind().dialect.name == "sqlite":
        forbid_changes_sqlite()
    else:
        forbid_changes_postgresql()


def forbid_changes_sqlite() -> None:
    for table in APPEND_ONLY:
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


def forbid_changes_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    for table in APPEND_ONLY:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )


def create_tables() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("cohort", sa.String(length=63), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("holder", sa.String(length=63), nullable=False),
        sa.Column("cap", sa.BigInteger(), nullable=False),
        sa.Column("reserved", sa.BigInteger(), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("kind IN ('cohort', 'project', 'user')", name=op.f("ck_accounts_kind_known")),
        sa.CheckConstraint("reserved + spent <= cap", name=op.f("ck_accounts_within_cap")),
        sa.CheckConstraint("reserved >= 0 AND spent >= 0", name=op.f("ck_accounts_not_negative")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("cohort", "kind", "holder", name=op.f("uq_accounts_cohort_kind_holder")),
    )
    op.create_table(
        "audit_events",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=80), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=80), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit_events")),
        sa.UniqueConstraint("hash", name=op.f("uq_audit_events_hash")),
    )
    op.create_table(
        "audit_head",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_audit_head_single")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_head")),
    )
    op.create_table(
        "images",
        sa.Column("digest", sa.String(length=71), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("approved_by", sa.String(length=63), nullable=True),
        sa.Column("approved_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_images")),
    )
    op.create_table(
        "platform_facts",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_platform_facts")),
    )
    op.create_table(
        "users",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("token_id", sa.String(length=32), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "role IN ('data_user', 'rights_holder', 'operator')", name=op.f("ck_users_role_known")
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_users")),
        sa.UniqueConstraint("token_id", name=op.f("uq_users_token_id")),
    )
    op.create_table(
        "cohorts",
        sa.Column("id", sa.String(length=63), nullable=False),
        sa.Column("owner", sa.String(length=63), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["users.name"], name=op.f("fk_cohorts_owner")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cohorts")),
    )
    op.create_table(
        "ledger_entries",
        sa.Column(
            "number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("action", sa.String(length=10), nullable=False),
        sa.Column("micro_epsilon", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "action IN ('reserve', 'charge', 'refund')", name=op.f("ck_ledger_entries_action_known")
        ),
        sa.CheckConstraint("micro_epsilon > 0", name=op.f("ck_ledger_entries_positive")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_ledger_entries_account_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_ledger_entries")),
        sa.UniqueConstraint(
            "account_id", "job_id", "action", name=op.f("uq_ledger_entries_account_id_job_id_action")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_ledger_entries_job_id", "ledger_entries", ["job_id"], unique=False)
    op.create_index(
        "uq_ledger_entries_settled",
        "ledger_entries",
        ["account_id", "job_id"],
        unique=True,
        sqlite_where=sa.text("action != 'reserve'"),
        postgresql_where=sa.text("action != 'reserve'"),
    )
    op.create_table(
        "project_members",
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("member", sa.String(length=63), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_project_members_account_id")),
        sa.ForeignKeyConstraint(["member"], ["users.name"], name=op.f("fk_project_members_member")),
        sa.PrimaryKeyConstraint("account_id", "member", name=op.f("pk_project_members")),
    )
    op.create_table(
        "datasets",
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
        sa.CheckConstraint(
            "problem IN ('NOT_DELIVERED', 'FILE_MISSING', 'FILE_UNDECLARED', 'NOT_A_FILE', 'FILE_NAME', 'TOO_LARGE', 'NOT_UTF8', 'NOT_A_TABLE', 'UNIT_COLUMN_MISSING', 'COLUMN_MISSING', 'COLUMN_REPEATED', 'PERSON_EMPTY', 'PERSON_NAME', 'PERSON_REPEATED', 'PEOPLE_MISSING', 'FOLDER_MISSING', 'SAME_PEOPLE')",
            name=op.f("ck_datasets_problem_known"),
        ),
        sa.CheckConstraint(
            "state IN ('IMPORTING', 'READY', 'REFUSED')", name=op.f("ck_datasets_state_known")
        ),
        sa.ForeignKeyConstraint(["cohort"], ["cohorts.id"], name=op.f("fk_datasets_cohort")),
        sa.ForeignKeyConstraint(["owner"], ["users.name"], name=op.f("fk_datasets_owner")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasets")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_datasets_name_version")),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=36), nullable=False),
        sa.Column("author", sa.String(length=63), nullable=False),
        sa.Column("project", sa.String(length=63), nullable=True),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("image_digest", sa.String(length=71), nullable=False),
        sa.Column("question", sa.String(length=71), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=True),
        sa.Column("answered_by", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.String(length=20), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("charged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("publish_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("nudged_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "reason IN ('IMAGE_CHANGED', 'SNAPSHOT_MISSING', 'SANDBOX_UNAVAILABLE', 'WORKERS_LOST')",
            name=op.f("ck_jobs_reason_known"),
        ),
        sa.CheckConstraint(
            "state IN ('SUBMITTED', 'QUEUED', 'PREPARING', 'RUNNING', 'AGGREGATING', 'IN_REVIEW', 'RELEASED', 'WITHHELD', 'REJECTED', 'CANCELLED', 'ERRORED')",
            name=op.f("ck_jobs_state_known"),
        ),
        sa.ForeignKeyConstraint(["answered_by"], ["jobs.id"], name=op.f("fk_jobs_answered_by")),
        sa.ForeignKeyConstraint(["author"], ["users.name"], name=op.f("fk_jobs_author")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_jobs_dataset_id")),
        sa.ForeignKeyConstraint(["image_digest"], ["images.digest"], name=op.f("fk_jobs_image_digest")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index("ix_jobs_question", "jobs", ["question"], unique=False)
    op.create_index("ix_jobs_state", "jobs", ["state"], unique=False)
    op.create_table(
        "chunks",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("claim", sa.String(length=36), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("state IN ('WAITING', 'CLAIMED', 'DONE')", name=op.f("ck_chunks_state_known")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_chunks_job_id")),
        sa.PrimaryKeyConstraint("job_id", "number", name=op.f("pk_chunks")),
    )
    op.create_table(
        "releases",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_releases_job_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_releases")),
        sa.UniqueConstraint("job_id", name=op.f("uq_releases_job_id")),
    )
    op.create_table(
        "run_outputs",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_run_outputs_job_id")),
        sa.PrimaryKeyConstraint("job_id", "block", name=op.f("pk_run_outputs")),
    )

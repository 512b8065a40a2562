"""The tables. Constraints restate in the database what the code promises; triggers (in the migrations) make
`audit_events`, `ledger_entries` and `releases` append-only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

from domain.dataset import DatasetState, ImportProblem
from domain.image import ImageKind, SyscallTable
from domain.job import Reason
from domain.permissions import Role
from domain.states import JobState, LedgerAction
from privacy.cost import Currency


class Moment(sa.TypeDecorator[datetime]):
    """An instant in UTC; SQLite keeps no zone, so it is added when read. What is none is read as Broken."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError("an instant needs a zone")
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        if not isinstance(value, datetime):
            return value
        return value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)


def one_of(column: str, values: Any) -> sa.CheckConstraint:
    """A closed list, as a constraint rather than a native enum: the same on both databases."""
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")


metadata = sa.MetaData(
    naming_convention={
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)
# autoincrement that never reuses a number, on both databases
Sequence = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

users = sa.Table(
    "users",
    metadata,
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("token_id", sa.String(32), nullable=False, unique=True),
    sa.Column("token_hash", sa.String(64), nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    # nobody is deleted: what they did stays on record under their name
    sa.Column("disabled_at", Moment),
    one_of("role", Role),
)

images = sa.Table(
    "images",
    metadata,
    sa.Column("digest", sa.String(71), primary_key=True),
    sa.Column("name", sa.String(63), nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("approved_by", sa.String(63)),
    sa.Column("approved_at", Moment),
    sa.Column("kind", sa.String(10), nullable=False),
    # of an imported image: over its files as unpacked, and over the archive as it came
    sa.Column("tree_digest", sa.String(71)),
    sa.Column("source_digest", sa.String(71)),
    sa.Column("size", sa.BigInteger),
    # what the operator approved it for
    sa.Column("syscalls", sa.String(10)),
    sa.Column("warm", sa.Boolean, nullable=False),
    sa.Column("withdrawn_by", sa.String(63)),
    sa.Column("withdrawn_at", Moment),
    one_of("kind", ImageKind),
    one_of("syscalls", SyscallTable),
)

accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("cohort", sa.String(63), nullable=False),
    sa.Column("kind", sa.String(10), nullable=False),
    sa.Column("holder", sa.String(63), nullable=False),
    sa.Column("currency", sa.String(10), nullable=False),
    # all three in whole units of the currency
    sa.Column("cap", sa.BigInteger, nullable=False),
    sa.Column("reserved", sa.BigInteger, nullable=False),
    sa.Column("spent", sa.BigInteger, nullable=False),
    sa.UniqueConstraint("cohort", "kind", "holder", "currency"),
    one_of("kind", ("cohort", "project", "user")),
    one_of("currency", Currency),
    sa.CheckConstraint("reserved >= 0 AND spent >= 0", name="not_negative"),
    sa.CheckConstraint("reserved + spent <= cap", name="within_cap"),
)

cohorts = sa.Table(
    "cohorts",
    metadata,
    sa.Column("id", sa.String(63), primary_key=True),
    sa.Column("owner", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("created_at", Moment, nullable=False),
)

ledger_entries = sa.Table(
    "ledger_entries",
    metadata,
    sa.Column("number", Sequence, primary_key=True, autoincrement=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("job_id", sa.String(64), nullable=False),
    sa.Column("action", sa.String(10), nullable=False),
    # in units of the account's currency
    sa.Column("amount", sa.BigInteger, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.UniqueConstraint("account_id", "job_id", "action"),
    one_of("action", LedgerAction),
    sa.CheckConstraint("amount > 0", name="positive"),
    sqlite_autoincrement=True,
)
# a reservation is settled once: charged or refunded, never both
sa.Index(
    "uq_ledger_entries_settled",
    ledger_entries.c.account_id,
    ledger_entries.c.job_id,
    unique=True,
    sqlite_where=ledger_entries.c.action != "reserve",
    postgresql_where=ledger_entries.c.action != "reserve",
)
sa.Index("ix_ledger_entries_job_id", ledger_entries.c.job_id)

datasets = sa.Table(
    "datasets",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("name", sa.String(63), nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("owner", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("cohort", sa.String(63), sa.ForeignKey("cohorts.id"), nullable=False),
    sa.Column("declaration", sa.JSON, nullable=False),
    sa.Column("delivery", sa.String(36), nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("problem", sa.String(20)),
    sa.Column("snapshot", sa.String(71)),
    # of the key in the worker zone that it is sealed under; none where it has no key of its own
    sa.Column("data_key", sa.String(32)),
    sa.Column("created_at", Moment, nullable=False),
    sa.UniqueConstraint("name", "version"),
    one_of("state", DatasetState),
    one_of("problem", (problem.name for problem in ImportProblem)),
)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("author", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("project", sa.String(63)),
    # the service that submitted it for its author
    sa.Column("through", sa.String(255)),
    sa.Column("request", sa.JSON, nullable=False),
    # none where no code of a data user runs
    sa.Column("image_digest", sa.String(71), sa.ForeignKey("images.digest")),
    sa.Column("question", sa.String(71), nullable=False),
    # of the policies of its data set, the one it was submitted under
    sa.Column("policy_number", sa.Integer, nullable=False),
    # names what may be released only once; given up with a refund
    sa.Column("once", sa.String(71), unique=True),
    sa.Column("state", sa.String(12), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("slots", sa.Integer),
    sa.Column("answered_by", sa.String(64), sa.ForeignKey("jobs.id")),
    sa.Column("reason", sa.String(20)),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("moved_at", Moment, nullable=False),
    sa.Column("charged_at", Moment),
    sa.Column("due_at", Moment),
    sa.Column("publish_at", Moment),
    sa.Column("nudged_at", Moment),
    one_of("state", JobState),
    one_of("reason", (reason.name for reason in Reason)),
)
sa.Index("ix_jobs_question", jobs.c.question)
sa.Index("ix_jobs_state", jobs.c.state)
# lists go from the newest to the oldest, part by part, past requests that may be long
sa.Index("ix_jobs_author_created_at_id", jobs.c.author, jobs.c.created_at, jobs.c.id)
sa.Index("ix_jobs_dataset_id_created_at_id", jobs.c.dataset_id, jobs.c.created_at, jobs.c.id)

chunks = sa.Table(
    "chunks",
    metadata,
    sa.Column("job_id", sa.ForeignKey("jobs.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("claim", sa.String(36)),
    sa.Column("lease_until", Moment),
    # where the runs of a pipeline were made, for the certificate
    sa.Column("ran_in", sa.JSON(none_as_null=True)),
    one_of("state", ("WAITING", "CLAIMED", "DONE")),
)

run_outputs = sa.Table(
    "run_outputs",
    metadata,
    sa.Column("job_id", sa.ForeignKey("jobs.id"), primary_key=True),
    sa.Column("run", sa.Integer, primary_key=True),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
)

pac_states = sa.Table(
    "pac_states",
    metadata,
    sa.Column("cohort", sa.String(63), sa.ForeignKey("cohorts.id"), primary_key=True),
    # which half-sample is the secret one, and what the releases so far have told about it
    sa.Column("sealed", sa.LargeBinary, nullable=False),
)

releases = sa.Table(
    "releases",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("job_id", sa.ForeignKey("jobs.id"), nullable=False, unique=True),
    sa.Column("body", sa.JSON, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
)

audit_events = sa.Table(
    "audit_events",
    metadata,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("actor", sa.String(80), nullable=False),
    sa.Column("action", sa.String(40), nullable=False),
    sa.Column("subject", sa.String(80), nullable=False),
    sa.Column("details", sa.JSON, nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),
)

audit_head = sa.Table(
    "audit_head",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.CheckConstraint("id = 1", name="single"),
)

platform_facts = sa.Table(
    "platform_facts",
    metadata,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

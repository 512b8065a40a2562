"""Tables of data sets, their profiles and what is made of them."""

from __future__ import annotations

import sqlalchemy as sa

from store.migrations.first_form.kinds import MOMENT, metadata, one_of

sa.Table(
    "datasets",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("name", sa.String(63), nullable=False),
    sa.Column("version", sa.Integer(), nullable=False),
    sa.Column("owner", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("cohort", sa.String(63), sa.ForeignKey("cohorts.id"), nullable=False),
    sa.Column("declaration", sa.JSON(), nullable=False),
    sa.Column("delivery", sa.String(36), nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("problem", sa.String(20)),
    sa.Column("snapshot", sa.String(71)),
    sa.Column("data_key", sa.String(32)),
    sa.Column("created_at", MOMENT, nullable=False),
    one_of(
        "problem",
        "NOT_DELIVERED UNFINISHED CHECKSUM FILE_MISSING FILE_UNDECLARED TABLE_UNDECLARED NOT_BIDS "
        "NOT_A_FILE FILE_NAME TOO_LARGE NOT_UTF8 NOT_A_TABLE NOT_PARQUET UNIT_COLUMN_MISSING "
        "COLUMN_MISSING COLUMN_REPEATED PERSON_EMPTY PERSON_NAME PERSON_REPEATED PERSON_MENTIONED "
        "TOO_MANY_PEOPLE PEOPLE_MISSING FOLDER_MISSING VOLUME_PLACE SAME_PEOPLE WITHDRAWN",
    ),
    one_of("state", "IMPORTING READY REFUSED WITHDRAWN ERASED"),
    sa.UniqueConstraint("name", "version"),
)

sa.Table(
    "registration_drafts",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("owner", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("revision", sa.Integer(), nullable=False),
    sa.Column("content", sa.JSON(), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("changed_at", MOMENT, nullable=False),
    sa.Index("ix_registration_drafts_owner", "owner"),
)

sa.Table(
    "profiles",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("owner", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("name", sa.String(63), nullable=False),
    sa.Column("delivery", sa.String(36), nullable=False),
    sa.Column("key", sa.String(44), nullable=False),
    sa.Column("people", sa.JSON(), nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("attempts", sa.Integer(), nullable=False),
    sa.Column("problem", sa.String(20)),
    sa.Column("sealed", sa.LargeBinary()),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("moved_at", MOMENT, nullable=False),
    sa.Column("due_at", MOMENT, nullable=False),
    sa.CheckConstraint("(state = 'FAILED') = (problem IS NOT NULL)", name="failed_or_not"),
    sa.CheckConstraint("(state = 'SEALED') = (sealed IS NOT NULL)", name="sealed_or_not"),
    one_of("state", "WAITING READING SEALED FAILED"),
    sa.Index("ix_profiles_delivery", "delivery"),
    sa.Index("ix_profiles_owner_created_at", "owner", "created_at"),
    sa.Index("ix_profiles_state_due_at", "state", "due_at"),
)

sa.Table(
    "twin_reports",
    metadata,
    sa.Column("dataset_id", sa.String(36), sa.ForeignKey("datasets.id"), primary_key=True),
    sa.Column("page", sa.LargeBinary(), nullable=False),
    sa.Column("digest", sa.String(71), nullable=False),
    sa.Column("put_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("put_at", MOMENT, nullable=False),
)

sa.Table(
    "twin_reviews",
    metadata,
    sa.Column("dataset_id", sa.String(36), sa.ForeignKey("datasets.id"), primary_key=True),
    sa.Column("needed", sa.Integer(), nullable=False),
    sa.Column("approved", sa.Boolean()),
    sa.Column("decided_at", MOMENT),
    sa.CheckConstraint("(approved IS NULL) = (decided_at IS NULL)", name="decided_at_once"),
)

sa.Table(
    "scrambles",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("dataset_id", sa.String(36), sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("offered_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("offered_at", MOMENT, nullable=False),
    sa.Column("offer", sa.JSON(), nullable=False),
    sa.Column("expires", sa.Date(), nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("moved_at", MOMENT, nullable=False),
    sa.Column("size", sa.Integer()),
    one_of("state", "waiting signed attached refused withdrawn expired"),
    sa.Index("ix_scrambles_state_expires", "state", "expires"),
    sa.Index(
        "uq_scrambles_open",
        "dataset_id",
        unique=True,
        sqlite_where=sa.text("state IN ('waiting', 'signed', 'attached')"),
        postgresql_where=sa.text("state IN ('waiting', 'signed', 'attached')"),
    ),
)

sa.Table(
    "scramble_parts",
    metadata,
    sa.Column("scramble_id", sa.String(64), sa.ForeignKey("scrambles.id"), primary_key=True),
    sa.Column("number", sa.Integer(), primary_key=True),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("content", sa.LargeBinary(), nullable=False),
)

sa.Table(
    "scramble_signatures",
    metadata,
    sa.Column("scramble_id", sa.String(64), sa.ForeignKey("scrambles.id"), primary_key=True),
    sa.Column("signer", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    sa.Column("signs", sa.Boolean(), nullable=False),
    sa.Column("reason", sa.String(1000), nullable=False),
    sa.Column("at", MOMENT, nullable=False),
)

sa.Table(
    "scramble_takers",
    metadata,
    sa.Column("scramble_id", sa.String(64), sa.ForeignKey("scrambles.id"), primary_key=True),
    sa.Column("taker", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    sa.Column("terms", sa.String(64), nullable=False),
    sa.Column("first_at", MOMENT, nullable=False),
)

sa.Table(
    "erasures",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("name", sa.String(63), nullable=False),
    sa.Column("asked_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("asked_at", MOMENT, nullable=False),
    sa.Column("done_at", MOMENT),
    sa.Column("held", sa.String(20)),
    sa.Column("record", sa.JSON()),
    sa.Index("ix_erasures_name", "name"),
)

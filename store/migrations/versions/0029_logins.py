"""Persons and services apart, what a provider said of people, and logins that a provider ends.

Whoever came before is kept as a person: nothing on record tells which of them were services. A service that
comes again is a user of its own, under a name with a number behind it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    with op.batch_alter_table("identities") as table:
        table.add_column(sa.Column("kind", sa.String(length=10), nullable=False, server_default="person"))
        for name, length in (("display_name", 200), ("affiliation", 200), ("email", 220)):
            table.add_column(sa.Column(name, sa.String(length=length), nullable=True))
    with op.batch_alter_table("identities") as table:
        table.alter_column("kind", existing_type=sa.String(length=10), server_default=None)
        table.drop_constraint(op.f("pk_identities"), type_="primary")
        table.create_primary_key(op.f("pk_identities"), ["issuer", "subject", "kind"])
        table.create_check_constraint(op.f("ck_identities_kind_known"), "kind IN ('person', 'service')")
    with op.batch_alter_table("sessions") as table:
        table.add_column(sa.Column("login", sa.String(length=64), nullable=True))
        table.add_column(sa.Column("acr", sa.String(length=255), nullable=True))
        table.add_column(sa.Column("shown_at", MOMENT, nullable=True))
        table.create_index("ix_sessions_login", ["login"])
    with op.batch_alter_table("api_tokens") as table:
        table.add_column(sa.Column("login", sa.String(length=64), nullable=True))
    op.create_table(
        "ended_logins",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("until", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_ended_logins")),
    )

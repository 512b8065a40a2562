"""What entitlements give, who is entitled, and until when an identity provider's word counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

# as they were when this was written
RIGHTS = ("role", "reviewer", "member", "lead")
DAYS = 30


def upgrade() -> None:
    op.create_table(
        "entitlement_rules",
        sa.Column("number", _number(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("entitlement", sa.String(length=512), nullable=False),
        sa.Column("gives", sa.String(length=10), nullable=False),
        sa.Column("about", sa.String(length=63), nullable=False),
        sa.Column("made_by", sa.String(length=63), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(_one_of("gives", RIGHTS), name=op.f("ck_entitlement_rules_gives_known")),
        sa.ForeignKeyConstraint(["made_by"], ["users.name"], name=op.f("fk_entitlement_rules_made_by")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_entitlement_rules")),
        sa.UniqueConstraint("id", name=op.f("uq_entitlement_rules_id")),
        sa.UniqueConstraint(
            "entitlement", "gives", "about", name=op.f("uq_entitlement_rules_entitlement_gives_about")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_entitlement_rules_about", "entitlement_rules", ["gives", "about"])
    _create_holders()
    _date_identities()


def _create_holders() -> None:
    op.create_table(
        "entitled",
        sa.Column("rule", _number(), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.ForeignKeyConstraint(["rule"], ["entitlement_rules.number"], name=op.f("fk_entitled_rule")),
        sa.ForeignKeyConstraint(["name"], ["users.name"], name=op.f("fk_entitled_name")),
        sa.PrimaryKeyConstraint("rule", "name", name=op.f("pk_entitled")),
    )
    op.create_index("ix_entitled_name", "entitled", ["name"])
    op.create_table(
        "entitled_members",
        sa.Column("project", sa.String(length=63), nullable=False),
        sa.Column("member", sa.String(length=63), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_entitled_members_project")),
        sa.ForeignKeyConstraint(["member"], ["users.name"], name=op.f("fk_entitled_members_member")),
        sa.PrimaryKeyConstraint("project", "member", name=op.f("pk_entitled_members")),
    )


def _date_identities() -> None:
    """Who came before keeps what they hold for as long as after a login; then the provider is asked again."""
    names = ("heard_at", "counts_until")
    with op.batch_alter_table("identities") as table:
        for name in names:
            table.add_column(sa.Column(name, sa.DateTime(timezone=True), nullable=True))
    now = datetime.now(UTC)
    moment = sa.DateTime(timezone=True)
    identities = sa.table("identities", *(sa.column(name, moment) for name in ("created_at", *names)))
    op.execute(
        identities.update().values(
            heard_at=identities.c.created_at, counts_until=sa.literal(now + timedelta(days=DAYS), moment)
        )
    )
    with op.batch_alter_table("identities") as table:
        for name in names:
            table.alter_column(name, existing_type=moment, nullable=False)


def _number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _one_of(column: str, values: tuple[str, ...]) -> str:
    return f"{column} IN ({', '.join(repr(value) for value in values)})"

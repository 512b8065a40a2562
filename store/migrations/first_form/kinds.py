"""What the tables share: their names for constraints, an instant, and a number that is never used again."""

from __future__ import annotations

import sqlalchemy as sa

MOMENT = sa.DateTime(timezone=True)
SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

metadata = sa.MetaData(
    naming_convention={
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)


def one_of(column: str, values: str) -> sa.CheckConstraint:
    """A closed list: the values stand apart by spaces."""
    listed = ", ".join(f"'{value}'" for value in values.split())
    return sa.CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")

"""Cohorts that count rho: as much of it as the declared epsilon and delta allow by the tight conversion.

What was declared stays. Without this, a further version of such a data set, which declares the same, would be
refused: the cap that follows from it would not be the account's.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import sqlalchemy as sa
from alembic import op

from privacy.accounting import rho_cap
from privacy.cost import ATTO
from privacy.loss import MICRO

revision = "0021"
down_revision = "0020"

ACCOUNTS = sa.table("accounts", *(sa.column(name) for name in ("id", "cohort", "kind", "currency", "cap")))
DATASETS = sa.table("datasets", sa.column("cohort"), sa.column("declaration", sa.JSON))


def upgrade() -> None:
    connection = op.get_bind()
    for account, cap in list(_caps(connection)):
        connection.execute(sa.update(ACCOUNTS).where(ACCOUNTS.c.id == account).values(cap=cap))


def _caps(connection: sa.Connection) -> Iterator[tuple[object, int]]:
    """Id and cap of each cohort's account of rho; all versions of a cohort declare the same budgets."""
    of_rho = (ACCOUNTS.c.kind == "cohort") & (ACCOUNTS.c.currency == "rho")
    for account in connection.execute(sa.select(ACCOUNTS.c.id, ACCOUNTS.c.cohort).where(of_rho)).all():
        query = sa.select(DATASETS.c.declaration).where(DATASETS.c.cohort == account.cohort).limit(1)
        if (declaration := connection.execute(query).scalar()) is not None:
            epsilon, delta = (Decimal(str(declaration[name])) for name in ("budget_epsilon", "budget_delta"))
            yield account.id, rho_cap(micro_epsilon=int(epsilon * MICRO), atto_delta=int(delta * ATTO))

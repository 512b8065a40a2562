"""The secret of PAC privacy, one for each cohort: sealed, read and replaced in a publishing transaction.

Which half-sample is the secret one and what the releases so far have told about it must outlive every
release: what is told about a second secret for the same people is not counted against the first.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from store.database import insert_once
from store.tables import accounts, pac_states


def read(connection: sa.Connection, *, cohort: str, first: Callable[[], bytes]) -> bytes:
    """The sealed state, made by `first` when there is none; locked until this transaction ends."""
    query = sa.select(pac_states.c.sealed).where(pac_states.c.cohort == cohort).with_for_update()
    found: bytes | None = connection.execute(query).scalar()
    if found is None:
        # whoever comes at the same moment waits here, and then finds the other's secret
        insert_once(connection, pac_states, {"cohort": cohort, "sealed": first()})
        found = connection.execute(query).scalar_one()
    return found


def lock(connection: sa.Connection, *, cohort: str) -> None:
    """Until this transaction ends nobody else who asks here gets on: by the cohort's own account, which is
    there before the first state is."""
    own = sa.and_(accounts.c.cohort == cohort, accounts.c.kind == "cohort")
    connection.execute(sa.select(accounts.c.spent).where(own).with_for_update()).all()


def kept(connection: sa.Connection, *, cohort: str) -> bytes:
    """The sealed state of a cohort that has one."""
    found: bytes = connection.execute(
        sa.select(pac_states.c.sealed).where(pac_states.c.cohort == cohort)
    ).scalar_one()
    return found


def replace(connection: sa.Connection, *, cohort: str, sealed: bytes) -> None:
    """After a release, in its transaction."""
    connection.execute(sa.update(pac_states).where(pac_states.c.cohort == cohort).values(sealed=sealed))

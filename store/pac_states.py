"""The secret of PAC privacy, one for each cohort: sealed, read and replaced in a publishing transaction.

Which half-sample is the secret one and what the releases so far have told about it must outlive every
release: what is told about a second secret for the same people is not counted against the first.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from store.database import insert_once
from store.tables import pac_states

# the lock's name: "pac" in ASCII, and of the cohort a number; two of one number wait for each other
_WAIT = sa.text("SELECT pg_advisory_xact_lock(7364963, hashtext(:cohort))")


def take_turn(connection: sa.Connection, *, cohort: str) -> None:
    """Wait until no other release of the cohort is under way, also where there is no state yet to lock. The
    turn ends with the transaction; on SQLite every transaction that writes has it."""
    if connection.dialect.name != "sqlite":
        connection.execute(_WAIT, {"cohort": cohort})


def read(connection: sa.Connection, *, cohort: str, first: Callable[[], bytes]) -> bytes:
    """The sealed state, made by `first` when there is none; locked until this transaction ends."""
    query = sa.select(pac_states.c.sealed).where(pac_states.c.cohort == cohort).with_for_update()
    found: bytes | None = connection.execute(query).scalar()
    if found is None:
        # whoever comes at the same moment waits here, and then finds the other's secret
        insert_once(connection, pac_states, {"cohort": cohort, "sealed": first()})
        found = connection.execute(query).scalar_one()
    return found


def kept(connection: sa.Connection, *, cohort: str) -> bytes:
    """The sealed state of a cohort that has one."""
    found: bytes = connection.execute(
        sa.select(pac_states.c.sealed).where(pac_states.c.cohort == cohort)
    ).scalar_one()
    return found


def replace(connection: sa.Connection, *, cohort: str, sealed: bytes) -> None:
    """After a release, in its transaction. The first one's worker may have died: then there is no row yet."""
    if not insert_once(connection, pac_states, {"cohort": cohort, "sealed": sealed}):
        connection.execute(sa.update(pac_states).where(pac_states.c.cohort == cohort).values(sealed=sealed))

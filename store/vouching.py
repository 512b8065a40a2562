"""Until when an identity provider's word on somebody counts, and ending it before."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import sqlalchemy as sa

from store import sessions, tokens
from store.account_tables import identities


def ask_again(connection: sa.Connection, names: Iterable[str], *, now: datetime) -> None:
    """What was said of these users counts no longer: their sessions and tokens have ended for good, and they
    come in when the provider has said something new. No event: whoever ends it says why."""
    for name in sorted(names):
        connection.execute(sa.update(identities).where(identities.c.name == name).values(counts_until=now))
        sessions.close_all(connection, name)
        tokens.revoke_all(connection, name=name, now=now)

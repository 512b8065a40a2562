"""Until when an identity provider's word on somebody counts, and ending it before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta

import sqlalchemy as sa

from domain.identity import Kind
from store import sessions, tokens
from store.account_tables import api_tokens, ended_logins, identities
from store.account_tables import sessions as sessions_table
from store.database import insert_once

# longer than access tokens last
KEPT = timedelta(days=30)
# clocks of the provider and of this host; the seconds that a token's own instant leaves out
SAME_INSTANT = timedelta(seconds=2)


def ask_again(connection: sa.Connection, names: Iterable[str], *, now: datetime) -> None:
    """What was said of these users counts no longer: their sessions and tokens have ended for good, and they
    come in when the provider has said something new. No event: whoever ends it says why."""
    for name in sorted(names):
        connection.execute(sa.update(identities).where(identities.c.name == name).values(counts_until=now))
        sessions.close_all(connection, name)
        tokens.revoke_all(connection, name=name, now=now)


def login_key(issuer: str, login: str) -> str:
    """What is kept of a login at a provider: a digest, whatever the provider calls it."""
    return hashlib.sha256(f"{issuer}\0{login}".encode()).hexdigest()


def has_ended(connection: sa.Connection, issuer: str, login: str | None) -> bool:
    """Did the provider end this login?"""
    if login is None:
        return False
    query = sa.select(ended_logins.c.key).where(ended_logins.c.key == login_key(issuer, login))
    return connection.execute(query).first() is not None


def take_once(connection: sa.Connection, issuer: str, token_id: str, *, now: datetime) -> bool:
    """Is a logout token new? Sent again it would end what its person began since."""
    connection.execute(sa.delete(ended_logins).where(ended_logins.c.until < now))
    row = {"key": login_key(issuer, f"logout token {token_id}"), "until": now + KEPT}
    return insert_once(connection, ended_logins, row)


def end_logins(
    connection: sa.Connection,
    *,
    issuer: str,
    subject: str | None,
    login: str | None,
    said_at: datetime,
    now: datetime,
) -> list[str]:
    """The provider ends a login, or all of a person's. Returns the names of the users whom it concerns.

    What came of that very login has ended for good; with a subject alone, all that the person holds. The rest
    of what they hold rests until the provider speaks of them again: which login an older token came of is not
    always known, and whoever has left must have nothing. `said_at` is an instant of the provider's clock, as
    that of a token's making: what was made until then brings nothing back, however the clocks differ.
    """
    names = _whom(connection, issuer, subject, login)
    # the second after it: a token of the same second may be from before
    ended = said_at + timedelta(seconds=1)
    if subject is not None:
        _keep_end(connection, issuer, subject, ended)
    if login is None:
        ask_again(connection, names, now=now)
    else:
        key = login_key(issuer, login)
        insert_once(connection, ended_logins, {"key": key, "until": now + KEPT})
        connection.execute(sa.delete(sessions_table).where(sessions_table.c.login == key))
        its = (api_tokens.c.login == key, api_tokens.c.revoked_at.is_(None))
        connection.execute(sa.update(api_tokens).where(*its).values(revoked_at=now))
    for name in names:
        mine = identities.c.name == name
        heard = connection.execute(sa.select(identities.c.heard_at).where(mine)).scalar_one()
        values = {"counts_until": now, "heard_at": max(heard, ended + SAME_INSTANT), "ended_before": ended}
        connection.execute(sa.update(identities).where(mine).values(values))
    return names


def ended_before(connection: sa.Connection, issuer: str, subject: str) -> datetime | None:
    """When the provider last ended all logins of somebody, be it before they came here."""
    query = sa.select(ended_logins.c.until).where(ended_logins.c.key == _of_person(issuer, subject))
    until: datetime | None = connection.execute(query).scalar_one_or_none()
    return None if until is None else until - KEPT


def _keep_end(connection: sa.Connection, issuer: str, subject: str, ended: datetime) -> None:
    """Also of somebody who has not been here: a token from before must not make them a user afterwards."""
    row = {"key": _of_person(issuer, subject), "until": ended + KEPT}
    if not insert_once(connection, ended_logins, row):
        its = (ended_logins.c.key == row["key"], ended_logins.c.until < row["until"])
        connection.execute(sa.update(ended_logins).where(*its).values(until=row["until"]))


def _of_person(issuer: str, subject: str) -> str:
    return login_key(issuer, f"all logins of {subject}")


def _whom(connection: sa.Connection, issuer: str, subject: str | None, login: str | None) -> list[str]:
    """Rows of identities are locked in the order of their names."""
    query = sa.select(identities.c.name).where(
        identities.c.issuer == issuer, identities.c.kind == Kind.PERSON
    )
    if subject is not None:
        query = query.where(identities.c.subject == subject)
    else:
        key = login_key(issuer, login or "")
        held = sa.union(
            sa.select(sessions_table.c.name).where(sessions_table.c.login == key),
            sa.select(api_tokens.c.name).where(api_tokens.c.login == key),
        )
        query = query.where(identities.c.name.in_(held))
    return list(connection.execute(query.order_by(identities.c.name).with_for_update()).scalars())

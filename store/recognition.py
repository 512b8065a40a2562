"""What people may recognise a user by: what their identity provider says, and who is called alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from domain.identity import Kind, Profile
from domain.near_names import near_ones
from domain.permissions import User
from store import users
from store.account_tables import identities


@dataclass(frozen=True)
class Said:
    """What the provider said of somebody, at their last login."""

    issuer: str
    subject: str
    kind: Kind
    profile: Profile
    heard_at: datetime


@dataclass(frozen=True)
class Person:
    """A user. `said` is None for an account of this platform's own."""

    user: User
    said: Said | None
    near: tuple[User, ...]


def people(connection: sa.Connection, names: Iterable[str] | None = None) -> dict[str, Person]:
    """By name, those of `names` who are users, or everybody."""
    everybody = users.listed(connection)
    wanted = {user.name for user in everybody} if names is None else set(names)
    query = sa.select(identities)
    if names is not None:
        query = query.where(identities.c.name.in_(wanted))
    said = {row.name: _said(row) for row in connection.execute(query)}
    shown = sa.select(identities.c.name, identities.c.display_name).where(
        identities.c.display_name.is_not(None)
    )
    near = near_ones(wanted, everybody, {row.name: row.display_name for row in connection.execute(shown)})
    return {
        user.name: Person(user, said.get(user.name), tuple(near[user.name]))
        for user in everybody
        if user.name in wanted
    }


def _said(row: sa.Row[tuple[object, ...]]) -> Said:
    profile = Profile(row.display_name, row.affiliation, row.email)
    return Said(row.issuer, row.subject, Kind(row.kind), profile, row.heard_at)

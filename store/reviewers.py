"""Who reviews a data set: its owner, those whom the policy in effect names, and rights holders whom an
entitlement makes reviewers of it, as long as their provider's word counts.

How many votes a job needs is part of what was promised when it was submitted. Who may look and vote is a
right, and rights are those of now: whoever is taken off the policy sees nothing more from that moment on.
"""

from __future__ import annotations

from contextlib import suppress

import sqlalchemy as sa

from domain.entitlement import Right
from domain.errors import Spoilt
from domain.permissions import Role, User
from store import policies, users
from store.account_tables import identities
from store.clock import database_time
from store.entitlement_tables import entitled
from store.entitlement_tables import entitlement_rules as rules
from store.policies import policies as policy_rows
from store.tables import datasets, jobs
from store.tables import users as user_rows


def of(connection: sa.Connection, dataset: str) -> frozenset[str]:
    """Names of those who may vote about this data set and can log in; `dataset` is its name."""
    return _named(connection, dataset) - users.disabled(connection)


def is_reviewer(connection: sa.Connection, user: User, dataset: str) -> bool:
    return user.role is Role.RIGHTS_HOLDER and user.name in _named(connection, dataset)


def reviewed_by(connection: sa.Connection, user: User) -> frozenset[str]:
    """Names of the data sets that this user reviews, as owner or as the policy says."""
    if user.role is not Role.RIGHTS_HOLDER:
        return frozenset()
    owned = sa.select(datasets.c.name).where(datasets.c.owner == user.name).distinct()
    newest = sa.select(policy_rows.c.name, policy_rows.c.body).where(
        policy_rows.c.number == policies.newest_number(policy_rows.c.name)
    )
    named = (
        row.name
        for row in connection.execute(newest)
        # a policy that cannot be read names nobody
        if isinstance(row.body, dict) and user.name in row.body.get("reviewers", ())
    )
    mine = _by_entitlement(connection).where(entitled.c.name == user.name)
    by_group = connection.execute(mine.with_only_columns(rules.c.about)).scalars()
    return frozenset([*connection.execute(owned).scalars(), *named, *by_group])


def jobs_seen_by(connection: sa.Connection, user: User) -> list[sa.ColumnElement[bool]]:
    """What holds of the jobs, beside their data sets, that this user may see."""
    if user.role is Role.DATA_USER:
        return [jobs.c.author == user.name]
    if user.role is Role.RIGHTS_HOLDER:
        return [datasets.c.name.in_(reviewed_by(connection, user))]
    return []


def _named(connection: sa.Connection, dataset: str) -> frozenset[str]:
    query = sa.select(datasets.c.owner).where(datasets.c.name == dataset).distinct()
    further: tuple[str, ...] = ()
    with suppress(Spoilt):  # then its owner alone
        edition = policies.in_effect(connection, dataset)
        further = edition.policy.reviewers if edition else ()
    by_group = connection.execute(_by_entitlement(connection).where(rules.c.about == dataset)).scalars()
    return frozenset([*connection.execute(query).scalars(), *further, *by_group])


def _by_entitlement(connection: sa.Connection) -> sa.Select[str]:
    """Names of rights holders whom a rule makes reviewers of something."""
    return (
        sa.select(entitled.c.name)
        .join(rules, rules.c.number == entitled.c.rule)
        .join(user_rows, user_rows.c.name == entitled.c.name)
        .join(identities, identities.c.name == entitled.c.name)
        .where(rules.c.gives == Right.REVIEWER, user_rows.c.role == Role.RIGHTS_HOLDER)
        .where(identities.c.counts_until > database_time(connection))
    )

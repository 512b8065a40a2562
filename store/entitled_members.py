"""Who is in a project, or leads it, by an entitlement and not by hand."""

from __future__ import annotations

from collections import defaultdict

import sqlalchemy as sa

from domain.entitlement import Right
from store.entitlement_tables import entitled, entitled_members, entitlement_rules


def came_by_entitlement(connection: sa.Connection, project: str, member: str) -> bool:
    return connection.execute(sa.select(entitled_members).where(_is(project, member))).first() is not None


def keep(connection: sa.Connection, project: str, member: str) -> None:
    """They stay when the entitlement goes: somebody chose them by hand."""
    connection.execute(sa.delete(entitled_members).where(_is(project, member)))


def further_leads(connection: sa.Connection, projects: list[str]) -> dict[str, set[str]]:
    """By project, for whom a rule holds by which they lead it too."""
    found: dict[str, set[str]] = defaultdict(set)
    query = (
        sa.select(entitlement_rules.c.about, entitled.c.name)
        .join(entitled, entitled.c.rule == entitlement_rules.c.number)
        .where(entitlement_rules.c.gives == Right.LEAD, entitlement_rules.c.about.in_(projects))
    )
    for row in connection.execute(query) if projects else ():
        found[row.about].add(row.name)
    return found


def _is(project: str, member: str) -> sa.ColumnElement[bool]:
    return sa.and_(entitled_members.c.project == project, entitled_members.c.member == member)

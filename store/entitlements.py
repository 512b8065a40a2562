"""What entitlements give: the rules that people make, for whom they hold, and who is in a project by them.

Nothing is kept of an entitlement that no rule names. A rule gives nothing of what its maker could not give by
hand, and what it gave ends with it, or with the next word of the provider in which the entitlement is gone.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.entitlement import IN_PROJECT, MAX_RULES, EntitlementRule, Right
from domain.errors import Conflict, InvalidRequest, NotFound
from domain.permissions import Role
from domain.project import MAX_MEMBERS, subject_of_project
from store import audit, projects, vouching
from store.database import insert_once
from store.entitlement_tables import entitled, entitled_members
from store.entitlement_tables import entitlement_rules as rules
from store.spoilt import readable, reads
from store.tables import datasets, users

_RULE = tuple(EntitlementRule.model_fields)
_NEEDED = {
    Right.REVIEWER: Role.RIGHTS_HOLDER,
    Right.MEMBER: Role.DATA_USER,
    Right.LEAD: Role.DATA_USER,
}
"""The role that somebody has to have for a rule to give them anything."""


@dataclass(frozen=True)
class Standing:
    """A rule, and for whom it holds now, by name."""

    rule: EntitlementRule
    holders: tuple[str, ...]


def make(
    connection: sa.Connection, entitlement: str, *, gives: Right, about: str, by: str, now: datetime
) -> EntitlementRule:
    """A rule from now on. It holds for nobody before they were vouched for anew. Raises Conflict."""
    of_it = sa.select(sa.func.count()).where(rules.c.about == about, _same_thing(gives))
    if connection.execute(of_it).scalar_one() >= MAX_RULES:
        raise InvalidRequest("entitlement", f"there are {MAX_RULES} already.", "Remove one first.")
    rule = EntitlementRule(
        id=uuid.uuid4().hex[:16], entitlement=entitlement, gives=gives, about=about, made_by=by, made_at=now
    )
    if not insert_once(connection, rules, rule.model_dump()):
        raise Conflict("entitlement", f"it gives this already: {gives} of {about}.", "See the list.")
    _note(connection, "entitlement.map", rule, by=by, now=now)
    return rule


def remove(
    connection: sa.Connection,
    rule_id: str,
    *,
    gives: Iterable[Right],
    about: str | None,
    by: str,
    now: datetime,
) -> None:
    """End a rule and what it gave, a role with every session and token of its holders. Raises NotFound."""
    query = sa.select(rules).where(rules.c.id == rule_id, rules.c.gives.in_(list(gives))).with_for_update()
    row = connection.execute(query if about is None else query.where(rules.c.about == about)).one_or_none()
    if row is None:
        raise NotFound("rule", f"there is no entitlement {rule_id} here.", "See the list.")
    rule = _rule(row)
    ended = sa.delete(entitled).where(entitled.c.rule == row.number).returning(entitled.c.name)
    holders = tuple(sorted(connection.execute(ended).scalars()))
    connection.execute(sa.delete(rules).where(rules.c.number == row.number))
    if rule.gives is Right.ROLE:
        vouching.ask_again(connection, holders, now=now)
    elif rule.gives in IN_PROJECT:
        projects.get(connection, rule.about, lock=True)
    _note(connection, "entitlement.unmap", rule, by=by, now=now, held_for=list(holders))
    if rule.gives in IN_PROJECT:
        settle_project(connection, rule.about, by=by, now=now)


def listed(connection: sa.Connection, gives: Iterable[Right], about: str | None = None) -> list[Standing]:
    """The rules about one thing, or of all roles, in the order in which they were made. Holders are those to
    whom they give something: who else is in a group is not for whoever names it in a rule."""
    query = sa.select(rules).where(rules.c.gives.in_(list(gives))).order_by(rules.c.number)
    found = connection.execute(query if about is None else query.where(rules.c.about == about)).all()
    holders = (
        sa.select(entitled, users.c.role)
        .join(users, users.c.name == entitled.c.name)
        .where(entitled.c.rule.in_([row.number for row in found]))
    )
    needed = {row.number: _NEEDED.get(row.gives) for row in found}
    names: dict[int, list[str]] = {row.number: [] for row in found}
    for row in connection.execute(holders.order_by(entitled.c.name)):
        if needed[row.rule] in (None, row.role):
            names[row.rule].append(row.name)
    return readable(lambda row: Standing(_rule(row), tuple(names[row.number])), found)


def matching(
    connection: sa.Connection, claimed: frozenset[str], *, hold: bool = False
) -> dict[int, EntitlementRule]:
    """The rules of these entitlements, letter by letter, by number: the oldest first. With `hold` nobody ends
    one of them before this transaction has ended."""
    if not claimed:
        return {}
    query = sa.select(rules).where(rules.c.entitlement.in_(sorted(claimed))).order_by(rules.c.number)
    query = query.with_for_update(read=True, key_share=True) if hold else query
    # a database could be told to compare texts more kindly than letter by letter
    return _numbered(row for row in connection.execute(query) if row.entitlement in claimed)


def held_by(connection: sa.Connection, name: str) -> dict[int, EntitlementRule]:
    """The rules that hold for this user, by the provider's last word."""
    query = sa.select(rules).join(entitled, entitled.c.rule == rules.c.number).where(entitled.c.name == name)
    return _numbered(connection.execute(query.order_by(rules.c.number)))


def hold_projects(
    connection: sa.Connection, now_hold: dict[int, EntitlementRule], *, name: str | None
) -> None:
    """Lock the projects that `settle` may change members of: before anything takes its turn."""
    found = [*now_hold.values(), *(held_by(connection, name).values() if name else ())]
    for project in sorted({rule.about for rule in found if rule.gives in IN_PROJECT}):
        projects.get(connection, project, lock=True)


def settle(
    connection: sa.Connection, name: str, now_hold: dict[int, EntitlementRule], *, now: datetime
) -> None:
    """From now on these rules hold for the user, and no others. After `hold_projects`, and after their role
    was settled."""
    before = held_by(connection, name)
    gone = [rule for number, rule in before.items() if number not in now_hold]
    new = [rule for number, rule in now_hold.items() if number not in before]
    lost = [number for number in before if number not in now_hold]
    connection.execute(sa.delete(entitled).where(entitled.c.name == name, entitled.c.rule.in_(lost)))
    for number in now_hold:
        insert_once(connection, entitled, {"rule": number, "name": name})
    for action, changed in (("entitlement.lose", gone), ("entitlement.gain", new)):
        for rule in changed:
            _note(connection, action, rule, by="gateway", now=now, user=name)
    touched = {rule.about for rule in (*before.values(), *now_hold.values()) if rule.gives in IN_PROJECT}
    for project in sorted(touched):
        settle_project(connection, project, by="gateway", now=now)


def settle_project(connection: sa.Connection, name: str, *, by: str, now: datetime) -> None:
    """Its members by entitlement are those for whom a rule holds, as long as there is room. Whom somebody
    added by hand, and who leads it by name, stays."""
    project = projects.get(connection, name, lock=True)
    query = sa.select(entitled_members.c.member).where(entitled_members.c.project == name)
    came = set(connection.execute(query).scalars())
    wanted = _wanted(connection, name)
    room = max(0, MAX_MEMBERS - len(project.members)) if project.is_living(now) else 0
    added = sorted(wanted - set(project.members))[:room]
    left = came - wanted
    # who leads it by name is no longer there by entitlement
    connection.execute(
        sa.delete(entitled_members).where(
            entitled_members.c.project == name,
            entitled_members.c.member.in_(sorted(left | {project.lead or ""})),
        )
    )
    for member in added:
        insert_once(connection, entitled_members, {"project": name, "member": member})
    removed = sorted((left & set(project.members)) - {project.lead})
    if added or removed:
        projects.change_members(connection, project, by=by, now=now, added=added, removed=removed)


def _wanted(connection: sa.Connection, project: str) -> set[str]:
    query = (
        sa.select(entitled.c.name)
        .join(rules, rules.c.number == entitled.c.rule)
        .join(users, users.c.name == entitled.c.name)
        .where(rules.c.about == project, rules.c.gives.in_(sorted(IN_PROJECT)))
        .where(users.c.role == Role.DATA_USER, users.c.disabled_at.is_(None))
    )
    return set(connection.execute(query).scalars())


def _same_thing(gives: Right) -> sa.ColumnElement[bool]:
    return rules.c.gives.in_(sorted(IN_PROJECT) if gives in IN_PROJECT else [gives])


def _note(
    connection: sa.Connection,
    action: str,
    rule: EntitlementRule,
    *,
    by: str,
    now: datetime,
    **more: object,
) -> None:
    facts = {"rule": rule.id, "entitlement": rule.entitlement, "gives": rule.gives, "about": rule.about}
    subject = _subject(connection, rule)
    audit.append(connection, at=now, actor=by, action=action, subject=subject, **facts, **more)


def _subject(connection: sa.Connection, rule: EntitlementRule) -> str:
    """Where those look whom it is about: at the data set or the project."""
    if rule.gives in IN_PROJECT:
        return subject_of_project(rule.about)
    newest = sa.select(datasets.c.id).where(datasets.c.name == rule.about)
    newest = newest.order_by(datasets.c.version.desc()).limit(1)
    found = connection.execute(newest).scalar() if rule.gives is Right.REVIEWER else None
    return found or f"entitlement:{rule.id}"


def _numbered(rows: Iterable[sa.Row[Any]]) -> dict[int, EntitlementRule]:
    """One that cannot be read gives nobody anything, and keeps nobody from a login."""
    return dict(readable(lambda row: (row.number, _rule(row)), rows))


@reads("entitlement rule")
def _rule(row: sa.Row[Any]) -> EntitlementRule:
    found = EntitlementRule(**{name: row._mapping[name] for name in _RULE})
    if found.gives is Right.ROLE:
        Role(found.about)  # raises where it is none
    return found

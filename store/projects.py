"""Projects and their members. Every change locks the project's row first: submissions hold it meanwhile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.errors import Conflict, InvalidRequest, NotAllowed, NotFound, Spoilt
from domain.permissions import Role, User
from domain.project import (
    MAX_LED,
    MAX_MEMBERS,
    NewProject,
    Project,
    check_end,
    check_leads,
    subject_of_project,
    today,
)
from store import audit, entitled_members
from store.database import insert_once
from store.project_tables import grants, project_members, projects
from store.spoilt import readable, reads
from store.tables import datasets, users

_KEPT = ("name", "title", "purpose", "lead", "made_by", "made_at", "ends_on")


def make(connection: sa.Connection, new: NewProject, *, lead: str, now: datetime) -> Project:
    """A project of this lead, who is its first member. Raises Conflict when the name is taken."""
    check_end(new.ends_on, now)
    led = sa.select(sa.func.count()).where(projects.c.lead == lead, _is_open(now))
    if connection.execute(led).scalar_one() >= MAX_LED:
        raise InvalidRequest("name", f"you lead {MAX_LED} open projects already.", "Close one of them.")
    values = new.model_dump() | {"lead": lead, "made_by": lead, "made_at": now}
    _insert(connection, values, members=(lead,))
    audit.append(
        connection, at=now, actor=lead, action="project.make", subject=subject_of_project(new.name),
        title=new.title, ends_on=str(new.ends_on),
    )  # fmt: skip
    return get(connection, new.name)


def make_kept(
    connection: sa.Connection, name: str, *, keeper: str, members: Iterable[str], now: datetime
) -> Project:
    """A project without a lead, for a rights holder who allots to people of their own choice."""
    purpose = f"Made by {keeper}, who allotted a share of a budget to it and keeps its members."
    members = sorted(set(members))
    values = {"name": name, "title": name, "purpose": purpose, "made_by": keeper, "made_at": now}
    _insert(connection, values, members=members)
    audit.append(
        connection,
        at=now,
        actor=keeper,
        action="project.make",
        subject=subject_of_project(name),
        members=members,
    )
    return get(connection, name)


def get(connection: sa.Connection, name: str, *, lock: bool = False) -> Project:
    """The project. With `lock`, nobody else changes it before this transaction ends."""
    found = find(connection, name, lock=lock)
    if found is None:
        raise _absent(name)
    return found


def find(connection: sa.Connection, name: str, *, lock: bool = False) -> Project | None:
    query = sa.select(projects).where(projects.c.name == name)
    rows = connection.execute(query.with_for_update() if lock else query).all()
    found = _projects(connection, rows)
    if rows and not found:
        raise Spoilt.of("project", name)
    return found[0] if found else None


def get_visible(connection: sa.Connection, name: str, user: User, *, lock: bool = False) -> Project:
    """The project, if this user may see it. The same words for absent and forbidden."""
    query = sa.select(projects.c.name).where(projects.c.name == name, _visible(user))
    if connection.execute(query).scalar() is None:
        raise _absent(name)
    return get(connection, name, lock=lock)


def visible_to(connection: sa.Connection, user: User) -> list[Project]:
    """A data user's own projects; those that asked a rights holder or were made by them. By name."""
    query = sa.select(projects).where(_visible(user)).order_by(projects.c.name)
    return _projects(connection, connection.execute(query).all())


def names_of(connection: sa.Connection, user: User) -> set[str]:
    """The projects that this user is a member of."""
    query = sa.select(project_members.c.project).where(project_members.c.member == user.name)
    return set(connection.execute(query).scalars())


def add_member(connection: sa.Connection, name: str, member: str, *, by: User, now: datetime) -> Project:
    """Its lead adds a data user. Once is as good as twice."""
    project = _led(connection, name, by, now)
    _check_data_user(connection, member)
    if member in project.members:
        # whom a lead adds by hand stays when a group of theirs goes
        entitled_members.keep(connection, name, member)
    else:
        if len(project.members) >= MAX_MEMBERS:
            raise InvalidRequest(
                "member", f"a project has at most {MAX_MEMBERS} members.", "Remove one first."
            )
        change_members(connection, project, by=by.name, now=now, added=[member])
    return get(connection, name)


def remove_member(connection: sa.Connection, name: str, member: str, *, by: User, now: datetime) -> Project:
    """Its lead removes a member, or a member leaves. Raises NotFound for nobody of the project."""
    project = get_visible(connection, name, by, lock=True)
    if member != by.name:
        check_leads(by, project)
    if member not in project.members:
        raise NotFound("member", f"{member} is no member of {name}.", f"See `dpgate project show {name}`.")
    if member == project.lead:
        raise Conflict(
            "member", "the lead cannot leave.", "Let another member lead first, or close the project."
        )
    if entitled_members.came_by_entitlement(connection, name, member):
        raise Conflict(
            "member",
            f"a group of their organisation makes {member} a member.",
            "Remove the entitlement from the project, or have them leave the group.",
        )
    change_members(connection, project, by=by.name, now=now, removed=[member])
    return get(connection, name)


def set_members(
    connection: sa.Connection, name: str, members: Iterable[str], *, keeper: str, now: datetime
) -> None:
    """Replace the members of a project that a rights holder keeps."""
    project = get(connection, name, lock=True)
    if project.lead is not None or project.made_by != keeper:
        raise NotAllowed("members", f"are kept by {project.lead or project.made_by}.", "Leave them out.")
    before, after = set(project.members), set(members)
    if before != after:
        removed, added = sorted(before - after), sorted(after - before)
        change_members(connection, project, by=keeper, now=now, added=added, removed=removed)


def hand_over(connection: sa.Connection, name: str, to: str, *, by: User, now: datetime) -> Project:
    """Another member leads from now on."""
    project = _led(connection, name, by, now)
    check_leads(by, project, by_name=True)
    if to not in project.members:
        raise NotFound("lead", f"{to} is no member of {name}.", "Add them first.")
    if to != by.name:
        _check_data_user(connection, to)
        entitled_members.keep(connection, name, to)
        connection.execute(sa.update(projects).where(projects.c.name == name).values(lead=to))
        audit.append(
            connection,
            at=now,
            actor=by.name,
            action="project.lead",
            subject=subject_of_project(name),
            lead=to,
        )
    return get(connection, name)


def close(connection: sa.Connection, name: str, *, by: User, now: datetime) -> Project:
    """For good. Nothing can be submitted with it any more; what was submitted goes on."""
    project = get_visible(connection, name, by, lock=True)
    check_leads(by, project, by_name=True)
    if not project.is_closed:
        connection.execute(sa.update(projects).where(projects.c.name == name).values(closed_at=now))
        audit.append(
            connection, at=now, actor=by.name, action="project.close", subject=subject_of_project(name)
        )
    return get(connection, name)


def _led(connection: sa.Connection, name: str, by: User, now: datetime) -> Project:
    """A living project, locked, that this user leads."""
    project = get_visible(connection, name, by, lock=True)
    check_leads(by, project)
    check_living(project, now)
    return project


def check_living(project: Project, now: datetime) -> None:
    """Raises Conflict for a project that is closed or over."""
    if not project.is_living(now):
        how = "is closed" if project.is_closed else f"ended on {project.ends_on}"
        raise Conflict("project", f"{project.name} {how}.", "Make a new project.")


def change_members(
    connection: sa.Connection,
    project: Project,
    *,
    by: str,
    now: datetime,
    added: Iterable[str] = (),
    removed: Iterable[str] = (),
) -> None:
    gone, new = list(removed), list(added)
    if gone:
        connection.execute(
            sa.delete(project_members).where(
                project_members.c.project == project.name, project_members.c.member.in_(gone)
            )
        )
    for member in new:
        insert_once(connection, project_members, {"project": project.name, "member": member})
    audit.append(
        connection, at=now, actor=by, action="project.members", subject=subject_of_project(project.name),
        added=new, removed=gone,
    )  # fmt: skip


def _insert(connection: sa.Connection, values: dict[str, Any], *, members: Iterable[str]) -> None:
    if not insert_once(connection, projects, values):
        raise Conflict("name", f"the name {values['name']} is taken.", "Choose another name.")
    for member in members:
        connection.execute(sa.insert(project_members).values(project=values["name"], member=member))


def _check_data_user(connection: sa.Connection, name: str) -> None:
    query = sa.select(users.c.role).where(users.c.name == name, users.c.disabled_at.is_(None))
    if connection.execute(query).scalar() != Role.DATA_USER:
        # the same words for absent, disabled and another role
        raise NotFound("member", f"there is no data user {name}.", "Ask the operator to add them.")


def _visible(user: User) -> sa.ColumnElement[bool]:
    if user.role is Role.DATA_USER:
        own = sa.select(project_members.c.project).where(project_members.c.member == user.name)
        return projects.c.name.in_(own)
    if user.role is Role.RIGHTS_HOLDER:
        owned = sa.select(datasets.c.name).where(datasets.c.owner == user.name)
        asked = sa.select(grants.c.project).where(grants.c.dataset.in_(owned))
        is_kept = projects.c.lead.is_(None) & (projects.c.made_by == user.name)
        return is_kept | projects.c.name.in_(asked)
    return sa.false()


def _is_open(now: datetime) -> sa.ColumnElement[bool]:
    return projects.c.closed_at.is_(None) & sa.or_(
        projects.c.ends_on.is_(None), projects.c.ends_on >= today(now)
    )


def _projects(connection: sa.Connection, rows: Iterable[sa.Row[Any]]) -> list[Project]:
    rows = list(rows)
    members = defaultdict(list)
    query = sa.select(project_members).where(project_members.c.project.in_([row.name for row in rows]))
    for row in connection.execute(query.order_by(project_members.c.member)) if rows else ():
        members[row.project].append(row.member)
    leads = entitled_members.further_leads(connection, [row.name for row in rows])

    @reads("project", by="name")
    def read(row: sa.Row[Any]) -> Project:
        return Project(
            **{name: row._mapping[name] for name in _KEPT},
            members=tuple(members[row.name]),
            further_leads=tuple(sorted(leads[row.name] & set(members[row.name]))),
            is_closed=row.closed_at is not None,
        )

    return readable(read, rows)


def _absent(name: str) -> NotFound:
    return NotFound("project", f"there is no project {name} of yours.", "See `dpgate project list`.")

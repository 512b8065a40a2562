"""Projects whose lead can no longer log in. An operator names another of their members to lead: nobody comes
to a data set by it who did not have it before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

import sqlalchemy as sa

from domain.errors import Conflict, NotFound
from domain.project import Project, subject_of_project
from store import audit, projects, users
from store.project_tables import projects as project_rows
from store.spoilt import all_but_spoilt
from store.tables import users as user_rows


@dataclass(frozen=True)
class Leadless:
    """A living project whose lead was disabled, and the members that could lead it."""

    project: str
    lead: str
    candidates: tuple[str, ...]


def leadless(connection: sa.Connection, *, now: datetime) -> list[Leadless]:
    """By name."""
    query = (
        sa.select(project_rows.c.name)
        .join(user_rows, user_rows.c.name == project_rows.c.lead)
        .where(user_rows.c.disabled_at.is_not(None))
        .order_by(project_rows.c.name)
    )
    gone = users.disabled(connection)
    names = connection.execute(query).scalars().all()
    found = all_but_spoilt(partial(projects.get, connection, name) for name in names)
    return [Leadless(one.name, one.lead or "", _candidates(one, gone)) for one in found if one.is_living(now)]


def name_lead(connection: sa.Connection, name: str, to: str, *, by: str, now: datetime) -> None:
    """Let this member lead. Raises NotFound for no such project or candidate, Conflict
    for a project that is over or whose lead can hand over."""
    project = projects.find(connection, name, lock=True)
    if project is None:
        raise NotFound("project", f"there is no project {name}.", "See `dpgate project leadless`.")
    projects.check_living(project, now)
    gone = users.disabled(connection)
    if project.lead not in gone:
        keeper = project.lead or project.made_by
        raise Conflict("project", f"{keeper} keeps {name} and can still log in.", f"Ask {keeper}.")
    if to not in _candidates(project, gone):
        raise NotFound(
            "lead",
            f"{to} is no member of {name} who can log in.",
            "Name a member; where none is left, the rights holders can end the grants.",
        )
    connection.execute(sa.update(project_rows).where(project_rows.c.name == name).values(lead=to))
    audit.append(
        connection, at=now, actor=by, action="project.lead", subject=subject_of_project(name), lead=to,
        instead_of=project.lead,
    )  # fmt: skip


def _candidates(project: Project, gone: set[str]) -> tuple[str, ...]:
    return tuple(member for member in project.members if member not in gone)

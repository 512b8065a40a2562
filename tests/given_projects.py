"""Projects and grants put through the store, as `factories` does it for everything else."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import pytest
import sqlalchemy as sa
from factories import NOW, given_user, make_user

from domain.errors import Conflict, InvalidRequest, NotAllowed, NotFound, RequestError
from domain.model import parse
from domain.permissions import Role
from domain.project import Ask, Grant, NewProject, Project, Terms
from store import granting, grants, projects


@cache
def last_day() -> date:
    """Far enough away for both clocks: the one of the tests, and the one on the wall."""
    return max(NOW, datetime.now(UTC)).date() + timedelta(days=300)


def project_fields(**overrides: Any) -> dict[str, Any]:
    return {
        "name": "sleep",
        "title": "Sleep and memory",
        "purpose": "How sleep bears on memory in old age.",
        "ends_on": str(last_day()),
        **overrides,
    }


def given_project(
    connection: sa.Connection, name: str = "sleep", *, members: tuple[str, ...] = ("ada",), **fields: Any
) -> Project:
    """A project whose first member leads it."""
    for member in members:
        given_user(connection, member)
    lead, *others = members
    new = parse(NewProject, project_fields(name=name, **fields))
    projects.make(connection, new, lead=lead, now=NOW)
    for member in others:
        projects.add_member(connection, name, member, by=make_user(lead), now=NOW)
    return projects.get(connection, name)


def given_ask(connection: sa.Connection, project: str = "sleep", dataset: str = "heights") -> Grant:
    """Asked for by the project's lead."""
    lead = make_user(projects.get(connection, project).lead or "")
    why = parse(Ask, {"why": "Its ages, for the comparison."}).why
    return granting.ask(connection, project=project, dataset=dataset, why=why, by=lead, now=NOW)


def given_grant(
    connection: sa.Connection, project: str = "sleep", dataset: str = "heights", **terms: Any
) -> Grant:
    """Asked for by the lead, granted by the data set's rights holder; `terms` override what they say."""
    holder = given_user(connection, grants.owner_of(connection, dataset) or "holder", Role.RIGHTS_HOLDER)
    given_ask(connection, project, dataset)
    said = parse(Terms, {"amounts": {"epsilon": "2"}, **terms})
    return granting.grant(connection, project=project, dataset=dataset, terms=said, by=holder, now=NOW)


def refuses(words: str, *kinds: type[RequestError]) -> Any:
    """A block that ends with a refusal in these words."""
    return pytest.raises(kinds or (NotAllowed, Conflict, NotFound, InvalidRequest), match=words)

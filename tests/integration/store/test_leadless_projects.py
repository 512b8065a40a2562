"""Projects whose lead was disabled, on both databases: who may lead next, and that nobody new comes in."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from factories import NOW, given_user, make_user
from given_projects import given_project, refuses

from domain.errors import Conflict, NotFound
from domain.permissions import Role
from store import leadless, projects, users
from store.leadless import Leadless
from store.tables import audit_events

YEARS = timedelta(days=700)


@pytest.fixture
def connection(database):
    """Ada leads `sleep` with bob and zoe; ada and zoe were disabled. Bob leads `other`. Eve is in none."""
    with database.transaction() as connection:
        given_user(connection, "eve")
        given_user(connection, "holder", Role.RIGHTS_HOLDER)
        given_project(connection, members=("ada", "bob", "zoe"))
        given_project(connection, "other", members=("bob", "ada"))
        for name in ("ada", "zoe"):
            users.disable(connection, name=name, now=NOW)
        yield connection


def test_a_member_who_can_log_in_leads_on(connection):
    assert leadless.leadless(connection, now=NOW) == [Leadless("sleep", "ada", ("bob",))]
    leadless.name_lead(connection, "sleep", "bob", by="olga", now=NOW)
    assert leadless.leadless(connection, now=NOW) == []
    found = projects.add_member(connection, "sleep", "eve", by=make_user("bob"), now=NOW)
    assert (found.lead, set(found.members)) == ("bob", {"ada", "bob", "eve", "zoe"})
    events = connection.execute(sa.select(audit_events).where(audit_events.c.action == "project.lead"))
    assert [(row.actor, row.subject, row.details) for row in events] == [
        ("olga", "project:sleep", {"lead": "bob", "instead_of": "ada"})
    ]


def test_nobody_else_comes_in(connection, subtests):
    before = projects.get(connection, "sleep")
    for name in ("eve", "zoe", "ada", "nobody"):
        with subtests.test(msg=name):
            with refuses(f"{name} is no member of sleep who can log in", NotFound):
                leadless.name_lead(connection, "sleep", name, by="olga", now=NOW)
            assert projects.get(connection, "sleep") == before


def test_a_lead_who_can_log_in_is_left_alone(connection):
    with refuses("bob keeps other and can still log in", Conflict):
        leadless.name_lead(connection, "other", "bob", by="olga", now=NOW)
    projects.make_kept(connection, "kept", keeper="holder", members=["bob"], now=NOW)
    with refuses("holder keeps kept and can still log in", Conflict):
        leadless.name_lead(connection, "kept", "bob", by="olga", now=NOW)
    with refuses("there is no project none", NotFound):
        leadless.name_lead(connection, "none", "bob", by="olga", now=NOW)


def test_a_project_that_is_over_needs_no_lead(connection):
    assert leadless.leadless(connection, now=NOW + YEARS) == []
    with refuses("sleep ended on", Conflict):
        leadless.name_lead(connection, "sleep", "bob", by="olga", now=NOW + YEARS)

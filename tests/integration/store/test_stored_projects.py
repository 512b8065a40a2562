"""Projects on record: who may change them, and who may be in them."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from factories import NOW, given_dataset, given_user, make_user, policy_fields
from given_projects import given_ask, given_project, project_fields, refuses
from sqlalchemy.exc import IntegrityError

from domain.errors import Conflict, InvalidRequest, NotAllowed, NotFound
from domain.model import parse
from domain.permissions import Role
from domain.project import MAX_LED, NewProject, Terms
from store import granting, grants, projects, users

ADA, BOB, EVE = (make_user(name) for name in ("ada", "bob", "eve"))
HOLDER, RIVAL = (make_user(name, Role.RIGHTS_HOLDER) for name in ("holder", "rival"))
OLGA = make_user("olga", Role.OPERATOR)
A_SHARE = parse(Terms, {"amounts": {"epsilon": "1"}})


@pytest.fixture
def connection(database):
    """Ada leads `sleep` with bob."""
    with database.transaction() as connection:
        for user in (ADA, BOB, EVE, HOLDER, RIVAL, OLGA):
            given_user(connection, user.name, user.role)
        given_dataset(connection, policy=policy_fields(data_users=[]))
        given_project(connection, members=("ada", "bob"))
        yield connection


def test_the_lead_alone_changes_a_project(connection):
    steps = (
        lambda by: projects.add_member(connection, "sleep", "eve", by=by, now=NOW),
        lambda by: projects.remove_member(connection, "sleep", "ada", by=by, now=NOW),
        lambda by: projects.hand_over(connection, "sleep", "bob", by=by, now=NOW),
        lambda by: projects.close(connection, "sleep", by=by, now=NOW),
        lambda by: granting.ask(connection, project="sleep", dataset="heights", why="x", by=by, now=NOW),
        lambda by: granting.withdraw(connection, project="sleep", dataset="heights", by=by, now=NOW),
    )
    given_ask(connection)
    before = projects.get(connection, "sleep")
    for step in steps:
        with refuses("only ada may do this", NotAllowed):
            step(BOB)
        for stranger in (EVE, RIVAL, OLGA):
            with refuses("there is no project sleep of yours", NotFound):
                step(stranger)
    assert projects.get(connection, "sleep") == before


def test_a_lead_hands_over_and_leaves(connection):
    with refuses("the lead cannot leave", Conflict):
        projects.remove_member(connection, "sleep", "ada", by=ADA, now=NOW)
    with refuses("eve is no member", NotFound):
        projects.hand_over(connection, "sleep", "eve", by=ADA, now=NOW)
    projects.hand_over(connection, "sleep", "bob", by=ADA, now=NOW)
    assert projects.remove_member(connection, "sleep", "ada", by=ADA, now=NOW).members == ("bob",)


def test_members_are_data_users(connection, subtests):
    given_user(connection, "gone")
    users.disable(connection, name="gone", now=NOW)
    for name in ("nobody", "holder", "olga", "gone"):
        with subtests.test(msg=name), refuses(f"there is no data user {name}", NotFound):
            projects.add_member(connection, "sleep", name, by=ADA, now=NOW)


def test_a_closed_project_cannot_be_changed(connection):
    given_ask(connection)
    projects.close(connection, "sleep", by=ADA, now=NOW)
    for step in (
        lambda: projects.add_member(connection, "sleep", "eve", by=ADA, now=NOW),
        lambda: projects.hand_over(connection, "sleep", "bob", by=ADA, now=NOW),
        lambda: given_ask(connection, dataset="other"),
        lambda: granting.grant(
            connection, project="sleep", dataset="heights", terms=A_SHARE,
            by=HOLDER, now=NOW,
        ),
    ):  # fmt: skip
        with refuses("sleep is closed", Conflict):
            step()
    assert grants.waiting_asks(connection, HOLDER) == []


def test_names_are_taken_once_and_leads_are_bounded(connection):
    with refuses("the name sleep is taken", Conflict), connection.begin_nested():
        given_project(connection, members=("eve",))
    for number in range(MAX_LED):
        projects.make(connection, parse(NewProject, project_fields(name=f"p{number}")), lead="eve", now=NOW)
    with refuses(f"you lead {MAX_LED} open projects already", InvalidRequest):
        given_project(connection, "one-more", members=("eve",))


def test_the_database_keeps_what_the_code_promises(connection, subtests):
    given_ask(connection)
    for statement in (
        "INSERT INTO project_members VALUES ('sleep', 'nobody')",
        "INSERT INTO project_members VALUES ('nothing', 'ada')",
        "UPDATE grants SET state = 'PERHAPS'",
        "UPDATE grants SET project = 'nothing'",
        "UPDATE projects SET lead = 'nobody'",
        "DELETE FROM projects",
    ):
        refused = pytest.raises(IntegrityError)
        with subtests.test(msg=statement), refused, connection.begin_nested():
            connection.execute(sa.text(statement))

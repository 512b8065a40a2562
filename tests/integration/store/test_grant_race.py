"""Who submits holds project, membership and grant: whatever ends them waits until the job is on record.

On SQLite there is one writer at a time anyway; on PostgreSQL it takes the locks that are watched here.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from factories import NOW, given_dataset, given_user, make_user, policy_fields
from given_projects import given_grant, given_project, refuses
from services import PostgreSQL
from standing_in_line import wait_until_another_waits
from waiting import PATIENCE_S

from domain.errors import NotAllowed
from domain.permissions import Role
from store import granting, grants, projects
from store.database import Database

ADA, BOB, HOLDER = make_user("ada"), make_user("bob"), make_user("holder", Role.RIGHTS_HOLDER)
Ending = Callable[[sa.Connection], object]


def end(connection: sa.Connection) -> None:
    granting.end(connection, project="sleep", dataset="heights", reason="Done.", by=HOLDER, now=NOW)


def close(connection: sa.Connection) -> None:
    projects.close(connection, "sleep", by=ADA, now=NOW)


def remove(connection: sa.Connection) -> None:
    projects.remove_member(connection, "sleep", "bob", by=ADA, now=NOW)


@pytest.fixture
def granted(postgresql: PostgreSQL, postgresql_url: str) -> Database:
    database = postgresql.opened(postgresql_url)
    with database.transaction() as connection:
        given_user(connection, "holder", Role.RIGHTS_HOLDER)
        given_dataset(connection, policy=policy_fields(data_users=[]))
        given_project(connection, members=("ada", "bob"))
        given_grant(connection)
    return database


def check(connection: sa.Connection) -> None:
    grants.check_spending(connection, user=BOB, project="sleep", dataset="heights", now=NOW)


@pytest.mark.parametrize("ending", [end, close, remove])
def test_what_a_submission_relies_on_ends_after_it(granted: Database, ending: Ending):
    def take() -> None:
        with granted.transaction() as connection:
            ending(connection)

    with ThreadPoolExecutor(1) as other:
        with granted.transaction() as submission:
            check(submission)
            taken = other.submit(take)
            wait_until_another_waits(granted, unless=taken.done)
            check(submission)
        taken.result(PATIENCE_S)
    with granted.transaction() as connection, refuses("sleep", NotAllowed):
        check(connection)


@pytest.mark.parametrize("ending", [end, close, remove])
def test_a_submission_that_comes_second_is_refused(granted: Database, ending: Ending):
    def submit() -> None:
        with granted.transaction() as connection:
            check(connection)

    with ThreadPoolExecutor(1) as other:
        with granted.transaction() as first:
            ending(first)
            submitted = other.submit(submit)
            wait_until_another_waits(granted, unless=submitted.done)
        with refuses("sleep", NotAllowed):
            submitted.result(PATIENCE_S)


def test_submissions_do_not_wait_for_each_other(granted: Database):
    with granted.transaction() as one, granted.transaction() as another:
        another.execute(sa.text("SET LOCAL lock_timeout = '5s'"))
        check(one)
        check(another)

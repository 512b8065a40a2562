"""Who submits holds project, membership and grant: whatever ends them waits until the job is on record.

On SQLite there is one writer at a time anyway; on PostgreSQL it takes the locks that are watched here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing

import pytest
import sqlalchemy as sa
from factories import NOW, given_dataset, given_user, make_user, policy_fields
from given_projects import given_grant, given_project, refuses

from domain.errors import NotAllowed
from domain.permissions import Role
from store import granting, grants, projects
from store.database import Database

PATIENCE_S = 30
ADA, BOB, HOLDER = make_user("ada"), make_user("bob"), make_user("holder", Role.RIGHTS_HOLDER)
WAITING = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)
Ending = Callable[[sa.Connection], object]


def end(connection: sa.Connection) -> None:
    granting.end(connection, project="sleep", dataset="heights", reason="Done.", by=HOLDER, now=NOW)


def close(connection: sa.Connection) -> None:
    projects.close(connection, "sleep", by=ADA, now=NOW)


def remove(connection: sa.Connection) -> None:
    projects.remove_member(connection, "sleep", "bob", by=ADA, now=NOW)


@pytest.fixture
def granted(postgresql_url: str) -> Iterator[Database]:
    with closing(Database(postgresql_url)) as database:
        with database.transaction() as connection:
            given_user(connection, "holder", Role.RIGHTS_HOLDER)
            given_dataset(connection, policy=policy_fields(data_users=[]))
            given_project(connection, members=("ada", "bob"))
            given_grant(connection)
        yield database


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
            _wait_for_a_lock(granted, taken)
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
            _wait_for_a_lock(granted, submitted)
        with refuses("sleep", NotAllowed):
            submitted.result(PATIENCE_S)


def test_submissions_do_not_wait_for_each_other(granted: Database):
    with granted.transaction() as one, granted.transaction() as another:
        another.execute(sa.text("SET LOCAL lock_timeout = '5s'"))
        check(one)
        check(another)


def _wait_for_a_lock(database: Database, behind: Future[None]) -> None:
    """Until the other transaction stands in line. One that did not wait has ended."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        assert not behind.done(), "nothing kept it from going ahead"
        with database.reading() as connection:
            if connection.execute(WAITING).scalar_one():
                return
        time.sleep(0.02)
    raise TimeoutError("the other transaction neither waits nor ends")

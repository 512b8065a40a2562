"""Policies on record: numbered, never changed, one change at a time; jobs keep theirs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from factories import (
    NOW,
    given_dataset,
    given_image,
    given_job,
    given_user,
    make_declaration,
    make_policy,
    make_user,
    policy_fields,
    table_fields,
)
from sqlalchemy.exc import DBAPIError

from domain.errors import Conflict, InvalidRequest, NotFound
from domain.model import parse
from domain.permissions import Role
from domain.policy import Policy
from domain.states import JobState
from domain.surroundings import Isolation
from store import audit, datasets, history, job_lists, past_jobs, policies, users
from store.database import Database
from store.policies import policies as policy_rows

HOUR = timedelta(hours=1)
BOB = make_user("bob")


def change(database: Database, *, expected: int, reason: str = "so", **fields: Any) -> policies.Edition:
    with database.transaction() as connection:
        holder = given_user(connection, "holder", Role.RIGHTS_HOLDER)
        return policies.change(
            connection,
            dataset=datasets.newest(connection, "heights", holder),
            policy=parse(Policy, policy_fields(**fields)),
            expected=expected,
            by="holder",
            reason=reason,
            now=NOW,
        )


def numbers(database: Database) -> list[tuple[int, str]]:
    with database.reading() as connection:
        return [(one.number, one.reason) for one in policies.history(connection, "heights")]


@pytest.fixture
def heights(database: Database) -> Database:
    with database.transaction() as connection:
        given_user(connection, "ada")
        given_dataset(connection)
    return database


def test_a_registration_brings_its_policy_into_effect(heights: Database) -> None:
    with heights.transaction() as connection:
        again = given_dataset(connection)
        assert (again.version, again.policy_number) == (2, 1)
        other = given_dataset(connection, policy=policy_fields(max_epsilon_per_job="2"))
        assert (other.version, other.policy_number) == (3, 2)
    assert numbers(heights) == [(2, "declared with version 3"), (1, "declared with version 1")]


def test_a_change_holds_for_all_versions_and_is_on_record(heights: Database) -> None:
    with heights.transaction() as connection:
        first = given_dataset(connection)
    edition = change(heights, expected=1, reason="bob joins", data_users=["ada", "bob"])
    assert (edition.number, edition.policy.data_users) == (2, ("ada", "bob"))
    with heights.reading() as connection:
        assert datasets.get(connection, first.id).declaration.policy == edition.policy
        assert datasets.newest(connection, "heights", BOB).policy_number == 2
        own = history.concerning(connection, make_user("holder", Role.RIGHTS_HOLDER))
        (event,) = history.events(connection, history.Wanted(action="policy.change"), among=own)
        assert audit.verify(connection).intact
    assert (event.actor, event.details) == (
        "holder",
        {"name": "heights", "number": 2, "fields": ["data_users"], "reason": "bob joins"},
    )


def test_who_is_no_longer_named_sees_nothing(heights: Database) -> None:
    change(heights, expected=1, data_users=["bob"])
    with heights.reading() as connection:
        datasets.newest(connection, "heights", BOB)
        with pytest.raises(NotFound):
            datasets.newest(connection, "heights", make_user("ada"))


def test_a_change_of_an_older_policy_is_refused(heights: Database) -> None:
    change(heights, expected=1, max_epsilon_per_job="2")
    with pytest.raises(Conflict, match="number 2 is in effect"):
        change(heights, expected=1, max_epsilon_per_job="3")
    with pytest.raises(Conflict):
        change(heights, expected=3, max_epsilon_per_job="3")
    assert [number for number, _ in numbers(heights)] == [2, 1]


def test_of_changes_at_the_same_moment_one_is_made(heights: Database) -> None:
    def client(number: int) -> bool:
        try:
            change(heights, expected=1, max_epsilon_per_job=f"{number + 2}")
        except Conflict:
            return False
        return True

    with heights.transaction() as connection:
        given_user(connection, "holder", Role.RIGHTS_HOLDER)
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(client, range(4))) == 1
    assert [number for number, _ in numbers(heights)] == [2, 1]
    with heights.reading() as connection:
        assert len(history.events(connection, history.Wanted(action="policy.change"))) == 1


def test_the_same_again_is_no_change(heights: Database) -> None:
    with pytest.raises(InvalidRequest, match="is the same as number 1"):
        change(heights, expected=1)


def test_a_reviewer_is_another_rights_holder_who_can_log_in(
    heights: Database, subtests: pytest.Subtests
) -> None:
    with heights.transaction() as connection:
        given_user(connection, "gone", Role.RIGHTS_HOLDER)
        given_user(connection, "rival", Role.RIGHTS_HOLDER)
        users.disable(connection, name="gone", now=NOW)
    for name in ("nobody", "ada", "holder", "gone"):
        with subtests.test(msg=name):
            with pytest.raises(InvalidRequest, match="reviewers"):
                change(heights, expected=1, reviewers=["rival", name])
            with (
                pytest.raises(InvalidRequest, match=r"policy\.reviewers"),
                heights.transaction() as connection,
            ):
                given_dataset(connection, policy=policy_fields(reviewers=[name]))
    assert change(heights, expected=1, reviewers=["rival"], votes=2).number == 2


def test_a_limit_for_projects_must_be_countable_and_rows_bounded_for_a_time_grid(database: Database) -> None:
    coarse: dict[str, Any] = {"review_releases": True, "timing": {"mode": "coarse", "step_seconds": 5}}
    with database.transaction() as connection:
        given_dataset(
            connection,
            accounting="zcdp",
            budget_delta="0.000001",
            tables=[table_fields(rows_per_person="many")],
            policy=policy_fields(**coarse),
        )
    with pytest.raises(InvalidRequest, match="max_epsilon_per_project: needs losses"):
        change(database, expected=1, max_epsilon_per_project="1")
    with pytest.raises(InvalidRequest, match=r"timing.mode: cannot be padded: .* rows in participants.tsv"):
        change(database, expected=1)
    assert change(database, expected=1, **coarse, approve_jobs=True).number == 2


def test_a_job_keeps_the_policy_of_its_submission(heights: Database) -> None:
    with heights.transaction() as connection:
        before = given_job(connection, job_id="job-before")
    change(heights, expected=1, review_releases=True, timing={"mode": "coarse", "step_seconds": 5})
    with heights.transaction() as connection:
        after = given_job(connection, job_id="job-later1", now=NOW + HOUR, epsilon="0.25")
        kept, new = datasets.of_job(connection, before), datasets.of_job(connection, after)
        assert datasets.get(connection, before.dataset_id) == new
        assert (kept.policy_number, kept.declaration.policy.timing.mode) == (1, "padded")
        assert (new.policy_number, new.declaration.policy.timing.mode) == (2, "coarse")
        assert [job.policy_number for job in job_lists.on_dataset(connection, "heights", limit=9)] == [2, 1]


def test_past_jobs_come_with_their_own_policies_over_all_versions(heights: Database) -> None:
    with heights.transaction() as connection:
        given_image(connection)
        given_job(connection, job_id="job-older1", state=JobState.RELEASED)
        given_dataset(connection, policy=policy_fields(max_epsilon_per_job="2"))
        given_job(connection, job_id="job-newer1", epsilon="2")
        given_dataset(connection, name="others", policy=policy_fields(approve_jobs=True))
        given_job(connection, job_id="job-others", dataset="others")
        found = past_jobs.newest(connection, "heights", limit=9)
        assert {job.id: dataset.policy_number for job, dataset in found} == {"job-older1": 1, "job-newer1": 2}
        assert len(past_jobs.newest(connection, "heights", limit=1)) == 1
        assert past_jobs.count(connection, "heights") == 2
        assert past_jobs.count(connection, "heights", on_their_way=True) == 1


def test_no_policy_is_changed_or_removed_afterwards(heights: Database) -> None:
    for statement in ("UPDATE policies SET number = 9", "DELETE FROM policies"):
        with pytest.raises(DBAPIError, match="append-only"), heights.transaction() as connection:
            connection.execute(sa.text(statement))


def test_no_policy_no_edition(database: Database) -> None:
    with database.reading() as connection:
        assert policies.in_effect(connection, "nothing") is None
        assert policies.history(connection, "nothing") == []
    assert make_declaration().policy == make_policy()


def test_a_policy_from_before_there_was_a_choice_says_that_runs_are_beside_each_other(
    heights: Database,
) -> None:
    """The times of its releases were promised for all slots. What is stored now says what was chosen."""
    older = make_policy().model_dump(mode="json") | {"max_epsilon_per_job": "0.5"}
    assert older.pop("isolation") == "exclusive"
    row = {"name": "heights", "number": 2, "body": older, "changed_by": "holder", "at": NOW, "reason": "so"}
    with heights.transaction() as connection:
        connection.execute(sa.insert(policy_rows).values(**row))
    with heights.reading() as connection:
        newest, first = policies.history(connection, "heights")
        assert (newest.policy.isolation, first.policy.isolation) == (Isolation.SHARED, Isolation.EXCLUSIVE)
        (holder,) = (user for user in users.listed(connection) if user.name == "holder")
        found = datasets.newest(connection, "heights", holder)
        assert found.declaration.policy.isolation is Isolation.SHARED

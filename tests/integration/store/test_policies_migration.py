"""What versions declared becomes numbered policies; jobs keep the one of their version."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from factories import IMAGE, make_declaration, make_job_request, policy_fields
from sqlalchemy.exc import IntegrityError

from domain.states import JobState
from store import datasets, jobs, policies
from store.database import Database

# name, version, state, largest epsilon: what a policy is told by here
DECLARED = (
    ("heights", 1, "READY", "1"),
    ("heights", 2, "READY", "1"),
    ("heights", 3, "REFUSED", "9"),
    ("heights", 4, "READY", "2"),
    ("heights", 5, "IMPORTING", "1"),
    ("failed", 1, "REFUSED", "3"),
    ("failed", 2, "REFUSED", "4"),
)
JOBS = {"job-on-v1": "heights-1", "job-on-v2": "heights-2", "job-on-v4": "heights-4"}
A_DATASET = (
    "INSERT INTO datasets VALUES (:id, :name, :version, 'holder', :name, :declared, 'x', :state, NULL, NULL, "
    ":now)"
)
A_JOB = (
    "INSERT INTO jobs (id, dataset_id, author, request, image_digest, question, state, attempts, created_at, "
    "moved_at) VALUES (:id, :dataset, 'ada', :request, :image, 'q', 'SUBMITTED', 0, :now, :now)"
)
A_PERSON = "INSERT INTO users (name, role, token_id, token_hash, created_at) VALUES"
PEOPLE = (
    f"{A_PERSON} ('holder', 'rights_holder', 't', 'h', :now)",
    f"{A_PERSON} ('ada', 'data_user', 'u', 'h', :now)",
    "INSERT INTO cohorts VALUES ('heights', 'holder', :now)",
    "INSERT INTO cohorts VALUES ('failed', 'holder', :now)",
    "INSERT INTO images (digest, name, description, created_at, kind, warm) "
    "VALUES (:image, 'python', '', :now, 'host', true)",
)


@pytest.fixture(params=["sqlite", "postgresql"])
def carried(request: pytest.FixtureRequest, brought: Any) -> Iterator[Database]:
    """A database as the version before left it, brought to this version's form."""
    with brought(request.param, "0005", fill) as database:
        yield database


def fill(connection: sa.Connection) -> None:
    known = {"now": "2026-03-02 09:30:00+00:00", "image": IMAGE}
    for statement in PEOPLE:
        connection.execute(sa.text(statement), known)
    for name, version, state, epsilon in DECLARED:
        declared = make_declaration(name=name, policy=policy_fields(max_epsilon_per_job=epsilon))
        row = {"id": f"{name}-{version}", "name": name, "version": version, "state": state}
        text = declared.model_dump_json()
        connection.execute(sa.text(A_DATASET), {**known, **row, "declared": text})
    asked = json.dumps(make_job_request().model_dump(mode="json"))
    for job, dataset in JOBS.items():
        connection.execute(sa.text(A_JOB), {**known, "id": job, "dataset": dataset, "request": asked})


def test_versions_of_the_same_policy_share_a_number(carried: Database) -> None:
    with carried.reading() as connection:
        found = policies.history(connection, "heights")
    assert [(one.number, one.policy.max_epsilon_per_job, one.reason) for one in found] == [
        (3, "1", "declared with version 5"),
        (2, "2", "declared with version 4"),
        (1, "1", "declared with version 1"),
    ]
    assert {one.changed_by for one in found} == {"holder"}


def test_what_was_refused_counts_only_where_nothing_else_is(carried: Database) -> None:
    with carried.reading() as connection:
        found = policies.history(connection, "failed")
    assert [one.policy.max_epsilon_per_job for one in found] == ["4", "3"]


def test_jobs_keep_the_policy_of_their_version(carried: Database) -> None:
    with carried.reading() as connection:
        kept = {name: datasets.of_job(connection, jobs.get(connection, name)) for name in JOBS}
    assert {name: dataset.policy_number for name, dataset in kept.items()} == {
        "job-on-v1": 1, "job-on-v2": 1, "job-on-v4": 2,
    }  # fmt: skip
    assert kept["job-on-v4"].declaration.policy.max_epsilon_per_job == "2"


def test_a_job_without_a_policy_is_refused_by_the_database(carried: Database) -> None:
    with pytest.raises(IntegrityError), carried.transaction() as connection:
        connection.execute(sa.text("UPDATE jobs SET policy_number = NULL"))
    with carried.reading() as connection:
        assert jobs.get(connection, "job-on-v1").state is JobState.SUBMITTED

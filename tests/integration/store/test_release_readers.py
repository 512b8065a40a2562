"""A release is read as the worker zone has signed it, or not at all: whoever writes past the platform, with
the database's account, shows nobody a number."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from certified import KEY, certified
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from factories import given_job, make_release
from undone import undone

from domain.errors import Conflict
from domain.job import Job
from domain.release import Release, ReleasedResult, ReleasedValue, opened
from domain.states import JobState
from dpgate.verification import check_release
from store import releases
from store.database import PINNED
from store.envelopes import sign
from store.tables import jobs as job_rows
from store.tables import platform_facts
from store.tables import releases as rows
from worker.certificate import key_id_of, public_key_pem

SAYS = "its release on record is not what the worker zone has signed"
RESULT = ReleasedResult(
    name="slope", kind="slope", parts=("mean_age",), centres=(), value=1.0, lower_95=0.5, upper_95=1.5
)
VALUE = ReleasedValue(
    name="mean_age", value=41.5, projected=40.0, grid_step=0.001, noise_scale=1.5, lower_95=38, upper_95=45,
    sampling_lower_95=37, sampling_upper_95=46,
)  # fmt: skip


@pytest.fixture
def connection(database):
    with database.transaction() as connection:
        yield connection


@pytest.fixture
def job(connection) -> Job:
    """Released, with something of each kind that a release may hold."""
    job = given_job(connection, state=JobState.RELEASED)
    if connection.dialect.name == "sqlite":
        connection.execute(sa.text("DROP TRIGGER releases_no_update"))
    else:
        connection.execute(sa.text("ALTER TABLE releases DISABLE TRIGGER USER"))
    write(connection, certified(whole(job)).model_dump(mode="json"))
    assert releases.read(connection, job).values == (VALUE,)
    return job


def whole(job: Job) -> Release:
    more = {"diagnostics": (VALUE,), "results": (RESULT,), "binary_files": {"model.npz": "AAAA"}}
    return make_release(job_id=job.id, values=(VALUE,), **more)


def write(connection: sa.Connection, body: Any) -> None:
    connection.execute(sa.update(rows).values(body=body))


def body_of(connection: sa.Connection) -> Any:
    return json.loads(json.dumps(connection.execute(sa.select(rows.c.body)).scalar_one()))


def refuses(connection: sa.Connection, job: Job) -> None:
    with pytest.raises(Conflict, match=SAYS):
        releases.read(connection, job)
    with pytest.raises(Conflict, match=SAYS):
        releases.read_for_review(connection, job)


def places(body: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where its numbers and texts lie."""
    if isinstance(body, dict):
        return [place for name, part in body.items() for place in places(part, (*at, name))]
    if isinstance(body, list):
        return [place for number, part in enumerate(body) for place in places(part, (*at, number))]
    return [at]


def another(value: Any) -> Any:
    if isinstance(value, str):
        first = "C" if value[:1] == "B" else "B"  # a signature begins with any letter
        return "2031-01-01T00:00:00Z" if value[4:5] == "-" and "T" in value else first + value[1:]
    return 1 if value is None else value + 1


def changed(body: Any, place: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    found = json.loads(json.dumps(body))
    *way, last = place
    inner = found
    for step in way:
        inner = inner[step]
    inner[last] = change(inner[last])
    return found


def test_no_number_or_text_of_a_release_can_be_changed(connection, job, subtests):
    body = body_of(connection)
    assert len(places(body)) > 30
    for place in places(body):
        with subtests.test(place), undone(connection):
            other = changed(body, place, another)
            assert other != body
            write(connection, other)
            refuses(connection, job)
            # whoever has it from elsewhere is told the same
            assert check_release(other, public_key_pem(KEY)) is None


def test_nothing_can_be_taken_out_or_put_in(connection, job, subtests):
    body = body_of(connection)
    lists: list[tuple[Any, ...]] = [("values",), ("diagnostics",), ("results",)]
    changes: dict[str, Any] = {
        "a value less": changed(body, lists[0], lambda _: []),
        "a diagnostic less": changed(body, lists[1], lambda _: []),
        "a result less": changed(body, lists[2], lambda _: []),
        "a value more": changed(body, lists[0], lambda known: [*known, known[0]]),
        "a file more": changed(body, ("files",), lambda known: {**known, "b.tsv": "x\n"}),
        "a file in both": changed(body, ("binary_files",), lambda known: {**known, "result.tsv": "AAAA"}),
        "a name that nobody knows": {**body, "note": "41.5 is right"},
        "no certificate": {**body, "certificate": {}},
        "beside the signature": changed(body, ("certificate",), lambda known: {**known, "by": "us"}),
        "two signatures": changed(body, ("certificate", "signatures"), lambda known: known * 2),
        "no document": [],
        "nothing": None,
    }
    for what, other in changes.items():
        with subtests.test(what), undone(connection):
            write(connection, sa.cast("null", sa.JSON) if other is None else other)
            refuses(connection, job)


def test_a_release_of_another_job_is_not_shown_in_its_place(connection, job):
    other = given_job(connection, state=JobState.RELEASED, epsilon=0.25)
    body = certified(whole(job)).model_dump(mode="json")
    connection.execute(sa.update(rows).where(rows.c.job_id == other.id).values(body=body))
    refuses(connection, other)


def test_a_release_does_not_answer_another_question(connection, job):
    write(connection, certified(whole(job), question=job.question).model_dump(mode="json"))
    assert releases.read(connection, job).job_id == job.id
    write(connection, certified(whole(job), question="0" * 64).model_dump(mode="json"))
    refuses(connection, job)


def test_another_key_signs_nothing(connection, job, subtests):
    body = body_of(connection)
    theirs = Ed25519PrivateKey.generate()
    statement = opened(body["certificate"])
    write(connection, {**body, "certificate": sign(statement, key=theirs)})
    refuses(connection, job)
    for value in ("", "no key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"):
        with subtests.test(value), undone(connection):
            write(connection, body)
            connection.execute(sa.update(platform_facts).values(value=value))
            refuses(connection, job)
    write(connection, body)
    connection.execute(sa.delete(platform_facts))
    refuses(connection, job)


def test_a_gateway_that_was_told_the_key_believes_no_other(connection, job, subtests):
    """Not even where the database's account has put another in the place of that key."""
    theirs = Ed25519PrivateKey.generate()
    body = body_of(connection)
    for key, believed, shown in ((KEY, KEY, True), (theirs, None, True), (theirs, KEY, False)):
        with subtests.test((key is KEY, believed is KEY)), undone(connection):
            write(connection, {**body, "certificate": sign(opened(body["certificate"]), key=key)})
            connection.execute(sa.update(platform_facts).values(value=public_key_pem(key)))
            connection.execution_options(**{PINNED: believed and key_id_of(believed)})
            assert (releases.public_key(connection) is not None) is shown
            if shown:
                assert releases.read(connection, job).job_id == job.id
            else:
                refuses(connection, job)
            connection.execution_options(**{PINNED: None})


def test_a_list_asks_no_certificate(connection, job):
    """It shows no number of a release, and stays as quick as it was."""
    write(connection, {})
    assert releases.id_of(connection, job)
    assert connection.execute(sa.select(job_rows.c.state)).scalar_one() == JobState.RELEASED

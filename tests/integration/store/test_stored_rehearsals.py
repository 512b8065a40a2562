"""Rehearsals and drafts on record, on both databases."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from factories import (
    IMAGE,
    NOW,
    given_dataset,
    given_image,
    given_user,
    make_manifest,
    make_pipeline,
    make_shape,
    make_source,
)

from domain.dataset import Dataset
from domain.errors import Conflict, NotFound
from domain.job_draft import MAX_DRAFTS, DraftContent
from domain.rehearsal import (
    MAX_WAITING,
    Preview,
    Rehearsal,
    RehearsalRequest,
    RehearsalState,
    TwinRuns,
    code_digest,
)
from store import job_drafts, rehearsals

LATER = NOW + timedelta(seconds=700)
RUNS = TwinRuns(shape=make_shape(), numbers=(41.0,), blocks=((40.0,), (42.5,), None), seconds=0.1)
_numbers = itertools.count(1)


@pytest.fixture
def connection(database):
    with database.transaction() as connection:
        yield connection


@pytest.fixture
def dataset(connection) -> Dataset:
    given_user(connection, "ada")
    given_user(connection, "bob")
    given_image(connection)
    return given_dataset(connection)


def ask(
    connection: sa.Connection,
    dataset: Dataset,
    *,
    author: str = "ada",
    name: str | None = None,
    **fields: Any,
) -> Rehearsal:
    number = next(_numbers)
    asked = RehearsalRequest(**{"dataset": "heights", "pipeline": make_pipeline(), **fields})
    found, _ = rehearsals.request(
        connection,
        rehearsal_id=name or f"rehearsal-{number:04d}",
        author=author,
        dataset=dataset,
        request=asked,
        image_digest=IMAGE,
        now=NOW + timedelta(seconds=number),
    )
    return found


def claim(connection: sa.Connection, found: Rehearsal, *, most_running: int = 9) -> Rehearsal | None:
    return rehearsals.claim(connection, found.id, now=NOW, due_at=LATER, most_running=most_running)


def finished(connection: sa.Connection, dataset: Dataset, **fields: Any) -> Rehearsal:
    running = claim(connection, ask(connection, dataset, **fields))
    assert running is not None
    assert rehearsals.finish(connection, running, runs=RUNS, preview=Preview(unable="few"), now=NOW)
    return rehearsals.get(connection, running.id)


def test_what_was_asked_and_what_it_gave_comes_back(connection, dataset):
    found = finished(connection, dataset, block_size=5)
    assert found.state is RehearsalState.DONE
    assert found.request.block_size == 5
    assert found.runs == RUNS
    assert found.preview == Preview(unable="few")
    assert [value.name for value in found.values] == ["mean_age"]


def test_the_same_request_is_the_same_rehearsal(connection, dataset):
    first = ask(connection, dataset, name="rehearsal-once")
    again, is_new = rehearsals.request(
        connection, rehearsal_id=first.id, author="ada", dataset=dataset, request=first.request,
        image_digest=IMAGE, now=LATER,
    )  # fmt: skip
    assert (again, is_new) == (first, False)


def test_an_id_stands_for_one_request_of_one_author(connection, dataset, subtests):
    ask(connection, dataset, name="rehearsal-once")
    for change in ({"block_size": 7}, {"author": "bob"}):
        with subtests.test(msg=str(change)), pytest.raises(Conflict, match="another rehearsal"):
            ask(connection, dataset, name="rehearsal-once", **change)


def test_of_two_workers_one_gets_it(connection, dataset):
    waiting = ask(connection, dataset)
    assert claim(connection, waiting) is not None
    assert claim(connection, waiting) is None


def test_only_so_many_run_at_once(connection, dataset):
    first, second = ask(connection, dataset), ask(connection, dataset)
    assert claim(connection, first, most_running=1) is not None
    assert claim(connection, second, most_running=1) is None
    assert rehearsals.get(connection, second.id).state is RehearsalState.QUEUED


def test_a_worker_that_was_given_up_changes_nothing_any_more(connection, dataset):
    lost = claim(connection, ask(connection, dataset))
    assert rehearsals.put_back(connection, lost, now=NOW)
    other = claim(connection, lost)
    assert other.attempts == 2
    assert not rehearsals.beat(connection, lost, done=1, total=2, due_at=LATER)
    assert not rehearsals.finish(connection, lost, runs=RUNS, preview=Preview(), now=NOW)
    assert not rehearsals.fail(connection, lost, problem="late", now=NOW)
    assert rehearsals.get(connection, lost.id).state is RehearsalState.RUNNING
    assert rehearsals.beat(connection, other, done=1, total=2, due_at=LATER)


def test_what_is_overdue_is_found_and_sent_again_once(connection, dataset):
    waiting = ask(connection, dataset)
    assert rehearsals.overdue(connection, now=NOW) == []
    assert [found.id for found in rehearsals.overdue(connection, now=LATER)] == [waiting.id]
    assert rehearsals.nudge(connection, waiting, now=LATER)
    assert not rehearsals.nudge(connection, waiting, now=LATER)


def test_only_so_many_of_one_author_wait(connection, dataset):
    for _ in range(MAX_WAITING):
        ask(connection, dataset)
    with pytest.raises(Conflict, match="wait or run"):
        ask(connection, dataset)
    assert ask(connection, dataset, author="bob"), "others are not kept waiting"


def test_the_oldest_are_forgotten(connection, dataset, monkeypatch):
    monkeypatch.setattr(rehearsals, "KEPT", 3)
    first = finished(connection, dataset)
    for _ in range(3):
        finished(connection, dataset)
    ask(connection, dataset)
    kept = rehearsals.of_author(connection, "ada")
    assert len(kept) == 3 + 1
    assert first.id not in {found.id for found in kept}


def test_another_user_sees_none_of_it(connection, dataset):
    found = finished(connection, dataset)
    with pytest.raises(NotFound) as absent:
        rehearsals.get_own(connection, "rehearsal-nothing", author="bob")
    with pytest.raises(NotFound) as foreign:
        rehearsals.get_own(connection, found.id, author="bob")
    assert str(absent.value) == str(foreign.value)
    assert rehearsals.of_author(connection, "bob") == []


def test_a_reviewer_finds_that_of_author_pipeline_and_data_set(connection, dataset):
    asked = {"author": "ada", "dataset_id": dataset.id, "pipeline_digest": make_pipeline().digest}
    assert rehearsals.of_pipeline(connection, **asked) is None
    ask(connection, dataset)
    assert rehearsals.of_pipeline(connection, **asked) is None, "one that waits shows nothing yet"
    found = finished(connection, dataset)
    assert rehearsals.of_pipeline(connection, **asked) == found
    for other in ({"author": "bob"}, {"dataset_id": "d-2"}, {"pipeline_digest": IMAGE}):
        assert rehearsals.of_pipeline(connection, **{**asked, **other}) is None


def other_bounds(upper: float = 99.0):
    values = [{"name": "mean_age", "lower": 1.0, "upper": upper}]
    return make_pipeline(manifest=make_manifest(outputs=[{"file": "result.tsv", "values": values}]))


def test_runs_are_taken_over_where_only_bounds_have_changed(connection, dataset):
    earlier = finished(connection, dataset)
    assert code_digest(other_bounds()) == code_digest(make_pipeline())
    assert other_bounds().digest != make_pipeline().digest
    later = ask(connection, dataset, pipeline=other_bounds(), runs_of=earlier.id)
    assert later.runs == RUNS
    assert later.state is RehearsalState.QUEUED


OTHERS = {
    "other code": {"pipeline": make_pipeline(sources=(make_source(content=b"print('another')\n"),))},
    "another command": {
        "pipeline": make_pipeline(manifest=make_manifest(command=["python3", "/pipeline/other.py"]))
    },
    "other blocks": {"block_size": 12},
}


def test_runs_of_something_else_are_not_taken_over(connection, dataset, subtests):
    earlier = finished(connection, dataset)
    for what, change in OTHERS.items():
        with subtests.test(msg=what), pytest.raises(Conflict, match="runs are not those"):
            ask(connection, dataset, **{"runs_of": earlier.id, **change})


def test_runs_of_somebody_else_are_not_taken_over(connection, dataset):
    foreign = finished(connection, dataset, author="bob")
    with pytest.raises(NotFound):
        ask(connection, dataset, runs_of=foreign.id)


def test_the_database_refuses_what_no_rehearsal_is(database, subtests):
    with database.transaction() as connection:
        given_user(connection, "ada")
        given_image(connection)
        found = ask(connection, given_dataset(connection))
    table = rehearsals.rehearsals
    for values in ({"state": "LOST"}, {"done": 3, "total": 2}, {"done": -1}):
        refused = pytest.raises(sa.exc.IntegrityError)
        with subtests.test(msg=str(values)), refused, database.transaction() as connection:
            connection.execute(sa.update(table).where(table.c.id == found.id).values(**values))


def draft(connection: sa.Connection, *, author: str = "ada", seconds: int = 0, name: str = "mean-age"):
    content = DraftContent(dataset="heights", manifest={"name": name}, sources=(make_source(),))
    return job_drafts.create(connection, author=author, content=content, now=NOW + timedelta(seconds=seconds))


def test_a_draft_comes_back_as_it_was_left(connection, dataset):
    made = draft(connection)
    changed = made.content.model_copy(update={"origin": "upload", "mechanism": {"epsilon": "0.5"}})
    saved = job_drafts.save(connection, made, changed, now=LATER)
    assert saved.content == changed
    assert saved.updated_at == LATER
    assert job_drafts.get_own(connection, made.id, author="ada") == saved


def test_a_draft_belongs_to_its_author(connection, dataset):
    made = draft(connection)
    with pytest.raises(NotFound):
        job_drafts.get_own(connection, made.id, author="bob")
    assert job_drafts.of_author(connection, "bob") == []


def test_the_draft_that_was_touched_longest_ago_gives_way(connection, dataset):
    made = [draft(connection, seconds=second) for second in range(MAX_DRAFTS)]
    job_drafts.save(connection, made[0], made[0].content, now=LATER)
    newest = draft(connection, seconds=1000)
    kept = [found.id for found in job_drafts.of_author(connection, "ada")]
    assert len(kept) == MAX_DRAFTS
    assert kept[:2] == [newest.id, made[0].id]
    assert made[1].id not in kept


def test_a_deleted_draft_is_gone(connection, dataset):
    made = draft(connection)
    job_drafts.delete(connection, made)
    with pytest.raises(NotFound):
        job_drafts.get_own(connection, made.id, author="ada")

"""What a job shows while it runs. The list below is the whole of it, with the reason of each field."""

from __future__ import annotations

from typing import Any

import pytest
from asking import Gateway
from factories import NOW, given_job

from desk.jobs import JobView
from domain.states import JobState
from store import jobs, runs

# A new field needs a line here: why can nothing be learned from it about what the runs do?
PUBLIC = {
    "id": "chosen by the author",
    "state": "moves at the charge and at the publicly computed time; a failed run is not a state",
    "dataset": "asked",
    "dataset_version": "declared",
    "author": "who asked",
    "project": "asked",
    "through": "the token by which it was asked",
    "title": "asked",
    "pipeline_digest": "of what was asked",
    "mechanism": "asked",
    "choices": "asked",
    "guarantee": "of the mechanism",
    "cost": "of the mechanism, computed from declared values",
    "runs": "computed from the published size and what was asked, not counted",
    "created_at": "when the request came",
    "charged_at": "before the first run",
    "due_at": "computed at the charge, from public values",
    "begins_at": "of due_at and the schedule of what was asked",
    "turns": "of the schedule of what was asked, not counted",
    "timing": "the policy's sentence",
    "isolation": "the policy's sentence, with what it accepts; not where the runs were",
    "answered_by": "which release stood before; a release is public to the asker",
    "reason": "set before data are touched, or by lost workers; from a fixed list. "
    "That no worker is there is public, and said before the charge only",
    "may_become": "of state and role",
}


def test_every_field_has_its_reason():
    assert set(JobView.model_fields) == set(PUBLIC)
    assert all(PUBLIC.values())


def seen(gateway: Gateway, job_id: str) -> dict[str, Any]:
    return gateway.ask("GET", f"/jobs/{job_id}", by="ada").json()


@pytest.mark.parametrize("state", [JobState.RUNNING])
def test_nothing_moves_while_the_runs_do_what_they_do(gateway: Gateway, state: JobState):
    with gateway.database.transaction() as connection:
        job_id = given_job(connection, state=state).id
        runs.plan(connection, job_id=job_id, count=3)
    before = seen(gateway, job_id)
    assert before["reason"] is None  # whatever its runs may have done to a worker: none is there
    with gateway.database.transaction() as connection:
        for number in range(2):
            claim = runs.claim(connection, job_id=job_id, number=number, lease_until=NOW)
            assert claim is not None
            runs.finish(connection, job_id=job_id, number=number, claim=claim, sealed={number: b"sealed"})
        jobs.count_attempt(connection, job_id)
        jobs.set_publish_time(connection, job_id, NOW)
    assert seen(gateway, job_id) == before
    assert gateway.ask("GET", "/jobs", by="ada").json() == [before]

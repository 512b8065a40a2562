"""The progress of a padded job is that of its timetable: the same whatever runs do; else there is none."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from factories import NOW, make_declaration, make_job_request, policy_fields
from hypothesis import given
from hypothesis import strategies as st
from shown_objects import job_of

from domain.job import Job
from domain.states import JobState
from domain.timetable import Timetable, timetable_of
from dpgate import job as of_clients

HOUR = timedelta(hours=1)


def a_job(**changed: object) -> Job:
    fields = dict.fromkeys(("project", "image_digest", "answered_by", "reason"))
    known = {
        "id": "job-1",
        "dataset_id": "d",
        "author": "ada",
        "owner": "holder",
        "question": "q",
        "attempts": 1,
    }
    now = {"state": JobState.RUNNING, "slots": 2, "created_at": NOW, "charged_at": NOW, "due_at": NOW + HOUR}
    return Job.model_validate({"request": make_job_request(), **fields, **known, **now, **changed})


def test_it_begins_as_long_before_the_release_as_the_schedule_takes():
    declaration, job = make_declaration(), a_job()
    schedule = job.request.schedule(declaration, slots=2)
    found = timetable_of(job, declaration)
    assert found is not None
    assert found.due_at - found.begins_at == timedelta(seconds=schedule.visible_after_s)
    assert found.turns == schedule.runs + schedule.turns


def test_whoever_is_not_on_a_time_grid_has_none():
    coarse = make_declaration(policy=policy_fields(timing={"mode": "coarse", "step_seconds": 1}))
    assert timetable_of(a_job(), coarse) is None
    for state in set(JobState) - {JobState.RUNNING, JobState.AGGREGATING, JobState.IN_REVIEW}:
        assert timetable_of(a_job(state=state), make_declaration()) is None
    for field in ("slots", "due_at"):
        assert timetable_of(a_job(**{field: None}), make_declaration()) is None


@given(st.integers(1, 10**6), st.floats(-2, 3), st.floats(0, 3))
def test_turns_pass_one_way_from_none_to_all(turns: int, share: float, more: float):
    table = Timetable(NOW, NOW + HOUR, turns)
    earlier, later = (table.turns_over(NOW + HOUR * at) for at in (share, share + more))
    assert 0 <= earlier <= later <= turns
    assert table.turns_over(NOW) == 0
    assert table.turns_over(NOW + HOUR) == turns


@pytest.mark.parametrize("share", [-0.5, 0.25, 0.75, 1.5])
def test_a_client_says_what_a_page_says(share: float):
    table, now = Timetable(NOW, NOW + HOUR, 32_000), NOW + HOUR * share
    job = job_of(turns=32_000, begins_at=NOW.isoformat(), due_at=table.due_at.isoformat())
    assert of_clients.turns_over(job.raw, now) == table.turns_over(now)
    assert job.turns_over == of_clients.turns_over(job.raw, datetime.now(UTC))
    for missing in ("turns", "begins_at", "due_at"):  # coarse timing, and platforms of before
        assert replace(job, raw=job.raw | {missing: None}).turns_over is None

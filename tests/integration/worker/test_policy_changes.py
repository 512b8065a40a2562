"""A policy that changes while a job is on its way: what was promised at its submission holds."""

from __future__ import annotations

from typing import Any

import pytest
from zones import Bench, check_books, given_heights, submit

from domain.model import parse
from domain.permissions import Role, User
from domain.policy import Policy
from domain.release import opened
from domain.states import JobState
from store import datasets, jobs, policies

HOLDER = User(name="holder", role=Role.RIGHTS_HOLDER)


def change(bench: Bench, **fields: Any) -> None:
    with bench.database.transaction() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        content = dataset.declaration.policy.model_dump(mode="json") | fields
        policies.change(
            connection,
            dataset=dataset,
            policy=parse(Policy, content),
            expected=dataset.policy_number,
            by="holder",
            reason="meanwhile",
            now=bench.clock(),
        )


def test_a_review_that_came_later_does_not_hold_it_back(bench: Bench) -> None:
    given_heights(bench)
    before = submit(bench, epsilon="400")
    change(bench, review_releases=True)
    after = submit(bench, epsilon="0.5")
    bench.drive()
    assert bench.job(before).state is JobState.RELEASED
    assert bench.job(after).state is JobState.IN_REVIEW
    check_books(bench)


def test_a_review_that_was_promised_happens(bench: Bench) -> None:
    given_heights(bench, policy={"review_releases_above": "400"})
    small, large = submit(bench, epsilon="400"), submit(bench, epsilon="401")
    change(bench, review_releases_above=None)
    bench.drive()
    assert bench.job(small).state is JobState.RELEASED
    assert bench.job(large).state is JobState.IN_REVIEW


def test_the_time_of_release_stays_padded_while_its_runs_go_on(bench: Bench) -> None:
    given_heights(bench, policy={"timing": {"mode": "padded"}})
    job_id = submit(bench, wall_s=0.3, block_size=6)  # a chunk is one run: what waits here is the grid
    bench.deliver(bench.sent.queue.popleft())
    due_at = bench.job(job_id).due_at
    change(bench, timing={"mode": "coarse", "step_seconds": 0.001})
    bench.drive()
    release = bench.release(job_id)
    assert bench.job(job_id).due_at == due_at is not None
    # when its runs were through can be read off by nobody: it is the announced time, or whole ticks later
    with bench.database.reading() as connection:
        publish_at = jobs.publish_time(connection, job_id)
    assert publish_at is not None
    late = (publish_at - due_at).total_seconds() / bench.zone.settings.late_tick_s
    assert late == pytest.approx(round(late), abs=1e-6)
    assert release.created_at >= publish_at >= due_at
    assert "computed from public values" in str(opened(release.certificate))

"""What another policy would have decided, against a list of past jobs made by hand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from factories import IMAGE, NOW, make_dataset, make_declaration, make_job_request, make_policy, policy_fields

from domain.dataset import Dataset
from domain.job import Job
from domain.simulation import Admission, Exit, Simulation, simulate
from domain.states import JobState

PAC = {"name": "pac", "nats": "0.03125"}
RUNS, WAITS, REFUSED = Admission.RUNS, Admission.WAITS, Admission.REFUSED


def job(number: int, *, author: str = "ada", state: JobState = JobState.RELEASED, **fields: Any) -> Job:
    own = {name: fields.pop(name) for name in ("answered_by", "charged_at") if name in fields}
    request = make_job_request(**fields)
    values = {
        "id": f"job-{number:05d}", "dataset_id": "d-1", "author": author, "owner": "holder",
        "project": request.project, "request": request, "image_digest": IMAGE, "question": "q",
        "policy_number": 1, "state": state, "attempts": 0, "slots": None, "answered_by": None, "reason": None,
        "created_at": NOW + timedelta(hours=number), "charged_at": NOW, "due_at": None,
    }  # fmt: skip
    return Job(**{**values, **own})


def under(**policy: Any) -> Dataset:
    fields = policy_fields(**{"max_epsilon_per_job": "4", "guarantees": ["pure_dp", "pac"], **policy})
    return make_dataset(declaration=make_declaration(policy=fields, budget_nats="0.5"))


def run(*jobs: Job, then: dict[str, Any] | None = None, **policy: Any) -> Simulation:
    own = under(**(then or {}))
    known = policy_fields(**{"max_epsilon_per_job": "4", "guarantees": ["pure_dp", "pac"], **policy})
    return simulate([(one, own) for one in reversed(jobs)], make_policy(**known))


def ways(found: Simulation) -> list[tuple[Admission, Admission]]:
    return [(judged.then.admission, judged.now.admission) for judged in found.jobs]


def test_the_same_policy_decides_the_same():
    found = run(job(1), job(2, epsilon="3"), job(3, mechanism=PAC))
    assert (found.changed, ways(found)) == (0, [(RUNS, RUNS)] * 3)
    assert found.admissions(now=True) == {RUNS: 3, WAITS: 0, REFUSED: 0}
    assert found.exits(now=False) == {Exit.BY_ITSELF: 3, Exit.REVIEWED: 0}


def test_a_threshold_in_place_of_all_lets_small_jobs_run():
    found = run(
        job(1, epsilon="0.5"), job(2, epsilon="2"), job(3, mechanism=PAC),
        then={"approve_jobs": True}, approve_jobs_above="1",
    )  # fmt: skip
    assert ways(found) == [(WAITS, RUNS), (WAITS, WAITS), (WAITS, WAITS)]
    assert [judged.changes for judged in found.jobs] == [True, False, False]
    assert found.jobs[1].now.reasons == ("Its epsilon of 2 is above 1.",)
    assert [judged.why for judged in found.jobs] == [("No longer: All jobs wait for approval.",), (), ()]


def test_a_review_is_told_apart_from_an_approval():
    found = run(job(1, epsilon="2"), job(2), review_releases_above="1")
    assert [judged.now.exit for judged in found.jobs] == [Exit.REVIEWED, Exit.BY_ITSELF]
    assert found.changed == 1
    assert found.exits(now=True) == {Exit.BY_ITSELF: 1, Exit.REVIEWED: 1}


WHAT_WOULD_HAVE_BEEN_REFUSED_SAYS_WHY = (
    ({"epsilon": "2"}, {"max_epsilon_per_job": "1"}, "epsilon: 2 is over the 1"),
    ({}, {"images": ["octave"]}, "does not allow the image python"),
    ({}, {"guarantees": ["pac"]}, "promises pure_dp"),
    ({}, {"mechanisms": ["pac"]}, "does not allow sample_aggregate"),
    ({}, {"min_block_size": 20}, "block size: 10 is under the 20"),
    ({}, {"data_users": ["bob"]}, "ada is not among the data users"),
    ({}, {"max_wall_seconds": 1}, "wall_seconds: 10 is over the policy's 1"),
)


def test_what_would_have_been_refused_says_why(subtests: pytest.Subtests):
    for asked, policy, said in WHAT_WOULD_HAVE_BEEN_REFUSED_SAYS_WHY:
        with subtests.test(asked=asked, policy=policy, said=said):
            (judged,) = run(job(1, **asked), **policy).jobs
            assert (judged.now.admission, judged.now.exit, judged.changes) == (REFUSED, None, True)
            assert said in judged.now.reasons[0]
            assert judged.why == judged.now.reasons


@pytest.mark.parametrize("named", [["*"], ["ada"], ["bob", "ada"]])
def test_who_is_named_or_meant_by_everybody_may_ask(named: list[str]):
    assert ways(run(job(1), data_users=named)) == [(RUNS, RUNS)]


def test_a_job_of_a_project_was_let_in_by_a_grant():
    assert ways(run(job(1, project="sleep"), data_users=[])) == [(RUNS, RUNS)]


def test_a_limit_of_a_project_counts_in_the_order_of_submission():
    jobs = [job(number, project="sleep", epsilon="0.5") for number in range(1, 5)]
    others = job(9, project="other", epsilon="0.5")
    found = run(*jobs, others, max_epsilon_per_project="1")
    assert [judged.now.admission for judged in found.jobs] == [RUNS, RUNS, REFUSED, REFUSED, RUNS]
    assert "the jobs of sleep would take 1.5 together" in found.jobs[2].now.reasons[0]


def test_what_came_back_is_not_counted():
    rejected = job(1, project="sleep", state=JobState.REJECTED, charged_at=None)
    withdrawn_late = job(2, project="sleep", state=JobState.CANCELLED)
    found = run(rejected, withdrawn_late, job(3, project="sleep"), max_epsilon_per_project="0.5")
    assert [judged.now.admission for judged in found.jobs] == [RUNS, RUNS, REFUSED]


def test_what_was_answered_by_a_release_waits_for_nobody_and_costs_nothing():
    answered = job(1, project="sleep", answered_by="job-00000")
    found = run(
        answered, job(2, project="sleep"), max_epsilon_per_project="0.5", approve_jobs=True,
        review_releases=True,
    )  # fmt: skip
    assert ways(found) == [(RUNS, RUNS), (RUNS, WAITS)]
    assert found.jobs[0].now.exit is Exit.BY_ITSELF


def test_each_job_is_compared_with_the_policy_of_its_own():
    strict, free = under(approve_jobs=True), under()
    found = simulate([(job(1), strict), (job(2), free)], make_policy(approve_jobs=True))
    assert ways(found) == [(WAITS, WAITS), (RUNS, WAITS)]


def test_no_job_no_decision():
    assert run().changed == 0
    assert run().admissions(now=True) == {RUNS: 0, WAITS: 0, REFUSED: 0}

"""What the page of a job says in each state, and what it must not say."""

from __future__ import annotations

import re

import pytest
from factories import given_job
from serving import Console, words
from story import ERRORED, REJECTED, RUNNING, WAITING

from domain.job import Reason
from domain.states import JobState
from gateway.pages import steps


def test_every_state_has_words_and_a_place_on_the_way():
    assert set(steps.WORDS) == set(JobState)


@pytest.mark.parametrize("state", JobState)
def test_each_state_is_shown(console: Console, state: JobState):
    with console.database.transaction() as connection:
        given_job(connection, job_id="job-of-state", state=state, dataset="commuters", epsilon="0.0625")
    with console.visit("ada") as visitor:
        answer = visitor.get("/jobs/job-of-state")
        listed = words(visitor.get("/jobs"))
    text = words(answer)
    assert steps.WORDS[state].sentence in text
    assert steps.WORDS[state].name in listed
    polls = 'hx-trigger="every' in answer.text
    assert polls == (state in set(JobState) - {JobState.RELEASED, *_ended()})
    assert ("Withdraw this job" in text) == (state.name in ("SUBMITTED", "QUEUED", "PREPARING", "RUNNING"))
    assert len(re.findall(r'aria-current="step"', answer.text)) == (state is not JobState.RELEASED)


def test_a_reason_comes_with_its_fix_and_what_it_means_for_the_budget(shared_console: Console):
    with shared_console.visit("ada") as visitor:
        errored, rejected = words(visitor.get(f"/jobs/{ERRORED}")), words(visitor.get(f"/jobs/{REJECTED}"))
    assert Reason.COMMAND_MISSING.value in errored
    for text in (errored, rejected):
        assert "came back to the budget" in text


def test_between_charge_and_release_nothing_but_public_times_is_shown(console: Console):
    """The same page, whatever the runs did: attempts and outputs leave no trace in it."""
    with console.visit("ada") as visitor:
        before = visitor.get(f"/jobs/{RUNNING}").text
        console.pretend_progress(RUNNING)
        assert visitor.get(f"/jobs/{RUNNING}").text == before
        assert "is planned for" in before
        assert re.search(r"about 0 of [0-9]+ turns of its runs are over", before)


def test_polling_gets_nothing_while_nothing_changed(console: Console):
    with console.visit("ada") as visitor:
        seen = re.search(r'hx-get="([^"]+)"', visitor.get(f"/jobs/{WAITING}").text)
        assert seen is not None
        assert visitor.get(seen[1]).status_code == 204
        console.approve(WAITING)
        assert "Queued." in words(visitor.get(seen[1]))


def test_a_job_is_withdrawn_and_its_cost_comes_back(console: Console):
    with console.visit("ada") as visitor:
        held = words(visitor.get("/budget/heights"))
        answer = visitor.send(f"/jobs/{WAITING}/cancel")
        assert answer.headers["location"] == f"/jobs/{WAITING}"
        assert "It was withdrawn." in words(visitor.get(f"/jobs/{WAITING}"))
        assert "6.875 of 10 epsilon left" in held
        assert "7.625 of 10 epsilon left" in words(visitor.get("/budget/heights"))
        again = visitor.send(f"/jobs/{WAITING}/cancel")
    assert again.status_code == 409
    assert "changed in the meantime" in words(again)


def _ended() -> set[JobState]:
    return {state for state in JobState if state in (
        JobState.REJECTED, JobState.CANCELLED, JobState.ERRORED, JobState.WITHHELD,
    )}  # fmt: skip

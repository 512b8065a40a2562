"""What the page of a job says in each state, and what it must not say."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from factories import given_job
from serving import Console, words
from story import ERRORED, REJECTED, RUNNING, WAITING

from domain.job import WORKERS_MISSING, Reason
from domain.states import JobState
from gateway.pages import steps
from store.operation_tables import workers


def test_every_state_has_words_and_a_place_on_the_way():
    assert set(steps.WORDS) == set(JobState)


def test_each_state_is_shown(console: Console, subtests: pytest.Subtests):
    with console.database.transaction() as connection:
        for number, state in enumerate(JobState, start=1):
            given_job(
                connection, job_id=_of(state), state=state, dataset="commuters", epsilon=f"0.0{number:02}"
            )
    with console.visit("ada") as visitor:
        listed = words(visitor.get("/jobs"))
        shown = {state: visitor.get(f"/jobs/{_of(state)}") for state in JobState}
    for state, answer in shown.items():
        with subtests.test(state=state):
            text = words(answer)
            assert steps.WORDS[state].sentence in text
            assert steps.WORDS[state].name in listed
            polls = 'hx-trigger="every' in answer.text
            assert polls == (state in set(JobState) - {JobState.RELEASED, *_ended()})
            may_end = state.name in ("SUBMITTED", "QUEUED", "PREPARING", "RUNNING")
            assert ("Cancel this job" in text) == may_end
            assert len(re.findall(r'aria-current="step"', answer.text)) == (state is not JobState.RELEASED)


def _of(state: JobState) -> str:
    return f"job-of-{state.lower()}"


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
        queued = visitor.get(seen[1])
        assert "Queued." in words(queued)
        assert WORKERS_MISSING not in words(queued)
        seen = re.search(r'hx-get="([^"]+)"', queued.text)
        assert seen is not None
        assert visitor.get(seen[1]).status_code == 204
        with console.database.transaction() as connection:
            connection.execute(sa.update(workers).values(seen_at=datetime.now(UTC) - timedelta(days=2)))
        assert WORKERS_MISSING in words(visitor.get(seen[1]))
        assert WORKERS_MISSING in words(visitor.get("/jobs"))
    with console.visit("olga") as operator:
        assert re.search(
            r"None takes jobs now: [^.]+\. 1 job waits for one\.", words(operator.get("/operation"))
        )


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

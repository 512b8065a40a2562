"""What a rights holder decides on the pages of review, and who reads the reason."""

from __future__ import annotations

import pytest
from serving import Console, words
from story import HISTOGRAM, IN_REVIEW, RELEASED, WAITING

from domain.states import JobState
from store import audit, history

REASON = "Please say in the title what the mean is of. <b>&"


@pytest.mark.parametrize(
    ("job_id", "decision", "after"),
    [
        (WAITING, "approve", JobState.QUEUED),
        (WAITING, "reject", JobState.REJECTED),
        (IN_REVIEW, "release", JobState.RELEASED),
        (IN_REVIEW, "withhold", JobState.WITHHELD),
    ],
)
def test_a_decision_moves_the_job_and_is_on_record(
    console: Console, job_id: str, decision: str, after: JobState
):
    with console.visit("holder") as holder:
        shown = words(holder.get(f"/reviews/{job_id}"))
        assert decision.capitalize() in shown
        # a page signs nothing: it comes from the gateway
        assert (f"dpgate custody approve {WAITING}" in shown) == (job_id == WAITING)
        answer = holder.send(f"/reviews/{job_id}", decision=decision, reason=REASON)
        assert answer.headers["location"] == "/reviews"
        listed = holder.get("/reviews").text
    assert console.state(job_id) is after
    assert "&lt;b&gt;&amp;" in listed
    with console.database.reading() as connection:
        (event,) = history.decisions(connection, job_id=job_id)
        assert audit.verify(connection).intact
    assert (event.actor, event.details["decision"], event.details["reason"]) == ("holder", after, REASON)


@pytest.mark.parametrize(("job_id", "decision"), [(WAITING, "reject"), (IN_REVIEW, "withhold")])
def test_a_refusal_needs_a_reason_and_what_was_typed_is_kept(
    shared_console: Console, job_id: str, decision: str, subtests: pytest.Subtests
):
    before = shared_console.state(job_id)
    with shared_console.visit("holder") as holder:
        for reason in ("", "   ", "x" * 1001, "\x00", "\u202e"):
            with subtests.test(reason=ascii(reason[:4])):
                answer = holder.send(f"/reviews/{job_id}", decision=decision, reason=reason)
                assert answer.status_code == 422
                assert "reason:" in words(answer)
                assert reason.strip("\x00 ") in answer.text
                assert shared_console.state(job_id) is before


def test_an_unknown_decision_changes_nothing(shared_console: Console):
    with shared_console.visit("holder") as holder:
        for fields in ({}, {"decision": ""}, {"decision": "RELEASED"}, {"decision": "approve2"}):
            assert holder.send(f"/reviews/{WAITING}", **fields).status_code == 422, fields
    assert shared_console.state(WAITING) is JobState.SUBMITTED


@pytest.mark.parametrize(
    ("job_id", "decision"),
    [(WAITING, "release"), (WAITING, "withhold"), (IN_REVIEW, "approve"), (RELEASED, "withhold")],
)
def test_a_decision_that_does_not_fit_the_state_is_refused(
    shared_console: Console, job_id: str, decision: str
):
    before = shared_console.state(job_id)
    with shared_console.visit("holder") as holder:
        answer = holder.send(f"/reviews/{job_id}", decision=decision, reason="so")
    assert answer.status_code == 409
    assert shared_console.state(job_id) is before


def test_the_author_reads_why_a_job_was_refused_but_not_why_a_release_was_withheld(console: Console):
    secret = "the mean age is 51, which nobody expected"
    with console.visit("holder") as holder:
        holder.send(f"/reviews/{WAITING}", decision="reject", reason=REASON)
        holder.send(f"/reviews/{IN_REVIEW}", decision="withhold", reason=secret)
        assert secret in words(holder.get("/audit"))
    with console.visit("ada") as ada:
        assert "Please say in the title" in words(ada.get(f"/jobs/{WAITING}"))
        assert secret not in ada.get(f"/jobs/{IN_REVIEW}").text
    with console.visit("olga") as olga:
        assert secret not in olga.get("/audit").text
        assert secret not in olga.get(f"/jobs/{IN_REVIEW}").text


def test_a_rights_holder_reads_the_trail_of_their_own_data_sets_only(shared_console: Console):
    with shared_console.visit("rival") as rival, shared_console.visit("holder") as holder:
        assert HISTOGRAM in holder.get("/audit").text
        assert "No event fits." in words(rival.get("/audit"))
        assert "No event fits." in words(rival.get(f"/audit?subject={HISTOGRAM}"))
        assert "No event fits." in words(holder.get("/audit?since=2999-01-01"))
        assert "No event fits." in words(holder.get("/audit?actor=%00&subject=%25"))
        found = words(holder.get(f"/audit?action=job.submit&actor=ada&subject={HISTOGRAM}"))
    assert "submitted a job" in found
    assert "moved a job" not in found.partition("Details")[2]


def test_a_broken_chain_is_said_aloud(console: Console):
    with console.visit("olga") as olga:
        assert "The chain holds" in words(olga.get("/audit?verify=1"))
        assert "The chain is broken" in words(olga.get(f"/audit?verify=1&head={'ab' * 32}"))
        assert "64 digits" in words(olga.get("/audit?verify=1&head=nothing"))

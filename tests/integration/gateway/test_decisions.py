"""Approve, reject, release, withhold, cancel: in every state, by every role, as the table of states says."""

from __future__ import annotations

import httpx
import pytest
import sqlalchemy as sa
from asking import PEOPLE, Gateway, problem
from factories import given_job

from domain.permissions import GRANTS, Permission, Role
from domain.states import Actor, JobState, LedgerAction, next_states, transition
from store.tables import accounts, audit_events, jobs, ledger_entries

MOVES: dict[str, tuple[Permission, JobState]] = {
    "/cancel": (Permission.JOB_CANCEL, JobState.CANCELLED),
    "/decision?decision=approve": (Permission.JOB_DECIDE, JobState.QUEUED),
    "/decision?decision=reject": (Permission.JOB_DECIDE, JobState.REJECTED),
    "/review?decision=release": (Permission.RELEASE_DECIDE, JobState.RELEASED),
    "/review?decision=withhold": (Permission.RELEASE_DECIDE, JobState.WITHHELD),
}
CASES = [
    (state, move, person) for state in JobState for move in MOVES for person in ("ada", "holder", "olga")
]


def snapshot(gateway: Gateway, job_id: str) -> list[object]:
    with gateway.database.reading() as connection:
        return [
            connection.execute(sa.select(jobs).where(jobs.c.id == job_id)).one(),
            connection.execute(sa.select(accounts)).all(),
            connection.execute(sa.select(ledger_entries).where(ledger_entries.c.job_id == job_id)).all(),
            connection.execute(sa.select(sa.func.count()).select_from(audit_events)).scalar_one(),
        ]


def decide(gateway: Gateway, job_id: str, move: str, person: str) -> httpx.Response:
    """With a reason in the body where the move is a vote; a refusal needs one."""
    word = move.rpartition("=")[2]
    body = {} if move == "/cancel" else {"json": {"decision": word, "reason": "as agreed"}}
    return gateway.ask("POST", f"/jobs/{job_id}{move}", by=person, **body)


def ledger_actions(gateway: Gateway, job_id: str) -> list[str]:
    query = sa.select(ledger_entries.c.action).where(ledger_entries.c.job_id == job_id)
    with gateway.database.reading() as connection:
        return list(connection.execute(query.order_by(ledger_entries.c.number)).scalars())


def test_a_move_is_allowed_exactly_as_the_table_says(shared_gateway: Gateway, subtests: pytest.Subtests):
    assert len(CASES) == len(JobState) * len(MOVES) * 3
    unmoved: dict[JobState, str] = {}  # a job that was left as it is serves for the next refusal
    for number, (state, move, person) in enumerate(CASES):
        with subtests.test(f"{state}{move} by {person}"):
            permission, after = MOVES[move]
            role = PEOPLE[person]
            job_id = unmoved.pop(state, "") or given(shared_gateway, state, number)
            before = snapshot(shared_gateway, job_id)
            reserved = ledger_actions(shared_gateway, job_id)
            answer = decide(shared_gateway, job_id, move, person)
            if role in GRANTS[permission] and after in next_states(state, Actor(role)):
                assert answer.json()["state"] == after
                action = transition(state, after, Actor(role)).ledger
                assert ledger_actions(shared_gateway, job_id) == reserved + ([action] if action else [])
                assert action in (None, LedgerAction.REFUND)
                continue
            if role not in GRANTS[permission]:
                problem(answer, status=403, kind="NotAllowed")
            else:
                problem(answer, status=409, kind="Conflict")
            assert snapshot(shared_gateway, job_id) == before
            unmoved[state] = job_id


def given(gateway: Gateway, state: JobState, number: int) -> str:
    """Each with an epsilon of its own: an identical question would be answered by a release."""
    with gateway.database.transaction() as connection:
        return given_job(
            connection, state=state, job_id=f"job-case-{number:03d}", epsilon=f"0.00{number + 1001}"
        ).id


def test_what_may_come_next_is_what_the_table_says(gateway: Gateway):
    states = {given(gateway, state, number): state for number, state in enumerate(JobState)}
    for person, role in (("ada", Role.DATA_USER), ("holder", Role.RIGHTS_HOLDER), ("olga", Role.OPERATOR)):
        listed = gateway.ask("GET", "/jobs", by=person).json()
        assert {job["id"]: job["state"] for job in listed} == states
        for job in listed:
            allowed = next_states(JobState(job["state"]), Actor(role))
            assert job["may_become"] == list(allowed)


@pytest.mark.parametrize(
    "decision", ["", "?decision=", "?decision=maybe", "?decision=APPROVE", "?decision=release"]
)
def test_a_decision_is_one_of_two_words(shared_gateway: Gateway, decision: str):
    with shared_gateway.database.transaction() as connection:
        job_id = given_job(connection, epsilon="0.9", job_id="job-" + "x" * 8 + str(len(decision))).id
    before = snapshot(shared_gateway, job_id)
    answer = shared_gateway.ask("POST", f"/jobs/{job_id}/decision{decision}", by="holder")
    assert problem(answer, status=422)["field"] == "decision"
    assert snapshot(shared_gateway, job_id) == before


def test_nobody_decides_on_their_own_job(gateway: Gateway):
    # a rights holder cannot submit; were the row there by another way, the rule still holds
    with gateway.database.transaction() as connection:
        waiting = given_job(connection, author="holder", job_id="job-own-1").id
        reviewed = given_job(
            connection, author="holder", job_id="job-own-2", state=JobState.IN_REVIEW, epsilon="0.7"
        ).id
    for job_id, move in ((waiting, "decision?decision=approve"), (reviewed, "review?decision=release")):
        before = snapshot(gateway, job_id)
        found = problem(gateway.ask("POST", f"/jobs/{job_id}/{move}", by="holder"), status=403)
        assert found["problem"] == "the author of a job cannot decide on it."
        assert snapshot(gateway, job_id) == before


def test_every_decision_is_in_the_audit_trail_under_the_name_of_its_maker(gateway: Gateway):
    with gateway.database.transaction() as connection:
        job_id = given_job(connection).id
    decide(gateway, job_id, "/decision?decision=reject", "holder")
    with gateway.database.reading() as connection:
        last = connection.execute(sa.select(audit_events).order_by(audit_events.c.number.desc())).first()
    assert last is not None
    assert (last.actor, last.action, last.subject) == ("holder", "job.move", job_id)
    assert last.details == {"before": "SUBMITTED", "after": "REJECTED", "ledger": "refund"}
    verdict = gateway.ask("GET", "/audit/verification", by="olga").json()
    assert verdict["intact"] is True
    assert gateway.ask(
        "GET", "/audit/verification", by="olga", params={"expected_head": verdict["head"]}
    ).json()["intact"]
    foreign = {"expected_head": "no\0such\ud7ffhead"}
    assert not gateway.ask("GET", "/audit/verification", by="olga", params=foreign).json()["intact"]

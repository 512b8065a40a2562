"""An account that cannot be read: SQLite keeps any text in a column of numbers, and adds to it as to nothing.
Nobody spends from it, its jobs wait with a reason, and other cohorts go on."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from test_query_route import ask
from test_spoilt_instants import TALL
from zones import Bench, cancel, check_books, given_heights

from domain.errors import Spoilt
from domain.job import Reason
from domain.states import JobState
from store import datasets

SAID = "what is on record of the budget of cohort heights cannot be read"


def spent(bench: Bench, value: str | int) -> str | int:
    """Past the platform; what was there."""
    where = "WHERE cohort = 'heights' AND kind = 'cohort' AND currency = 'epsilon'"
    with bench.database.transaction() as connection:
        was: str | int = connection.execute(sa.text(f"SELECT spent FROM accounts {where}")).scalar_one()
        connection.execute(sa.text(f"UPDATE accounts SET spent = :value {where}"), {"value": value})
    return was


def asked(bench: Bench, above: int, **fields: str) -> str:
    return ask(bench, {"kind": "count", "where": [{**TALL, "value": above}]}, **fields)


def stands(bench: Bench, job_id: str) -> tuple[JobState, Reason | None]:
    job = bench.job(job_id)
    return job.state, job.reason


def test_jobs_wait_until_it_is_back_and_nothing_is_written_over(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    given_heights(bench)
    others = {f"other-{number}": 150.0 + number for number in range(12)}
    given_heights(bench, others, name="others", cohort="others")
    drawn, waits = asked(bench, 160), asked(bench, 161)
    while bench.job(drawn).state is not JobState.RUNNING:
        bench.deliver(bench.sent.queue.popleft())
    was = spent(bench, "much")
    with pytest.raises(Spoilt, match=SAID):
        asked(bench, 162)
    with pytest.raises(Spoilt, match=SAID):
        cancel(bench, waits)
    bench.drive()
    assert stands(bench, waits) == (JobState.QUEUED, Reason.LEDGER_BEHIND)
    assert bench.job(drawn).state in (JobState.RUNNING, JobState.AGGREGATING)
    assert bench.job(drawn).reason is Reason.LEDGER_BEHIND
    other = asked(bench, 160, dataset="others")
    bench.drive()
    assert bench.job(other).state is JobState.RELEASED
    with bench.database.reading() as connection:
        (named,) = datasets.unreadable(connection)
        assert SAID in named.sentence
        assert not datasets.unreadable(connection, owner="somebody-else")
    assert spent(bench, was) == "much"
    bench.sent.run_job(waits)
    bench.sent.publish(drawn, in_s=0)
    bench.drive()
    assert {bench.job(job_id).state for job_id in (waits, drawn)} == {JobState.RELEASED}
    check_books(bench)

"""What a worker's publishing tells people: at the public moment, the same for good and bad runs."""

from __future__ import annotations

import pytest
from heights import MEAN
from zones import Bench, given_heights, submit

from domain.notice import NoticeKind
from store import channels, jobs, notices
from store.notices import Sending

FAILS = "raise SystemExit(7)"


@pytest.fixture
def told_bench(bench: Bench) -> Bench:
    given_heights(bench)
    listen(bench)
    return bench


def listen(bench: Bench) -> None:
    """A webhook for the author and the rights holder."""
    with bench.database.transaction() as connection:
        for name in ("ada", "holder"):
            channels.add_webhook(connection, name, "https://hooks.example.org/", bench.clock())


def told(bench: Bench, name: str) -> list[Sending]:
    with bench.database.reading() as connection:
        return [one for one in notices.of_user(connection, name) if one.notice.kind != "budget_low"]


def test_a_notice_of_a_release_is_as_public_as_the_release(told_bench: Bench) -> None:
    half = {"name": "sample_aggregate", "epsilon": "400", "block_size": 3}
    ids = [submit(told_bench, source, mechanism=half) for source in (MEAN, FAILS)]
    while told_bench.sent.queue:
        told_bench.deliver(told_bench.sent.queue.popleft())
        for one in told(told_bench, "ada"):
            # never before the state that its page shows
            assert told_bench.job(one.notice.subject).state == "RELEASED"
    found = {one.notice.subject: one.notice for one in told(told_bench, "ada")}
    assert set(found) == set(ids)
    good, bad = (found[job_id] for job_id in ids)
    assert (good.kind, good.facts) == (bad.kind, bad.facts) == (
        NoticeKind.RELEASE_READY, {"dataset": "heights", "state": "RELEASED"},
    )  # fmt: skip
    for notice in (good, bad):
        with told_bench.database.reading() as connection:
            public = jobs.publish_time(connection, notice.subject)
        assert public is not None
        assert notice.at.microsecond == 0
        assert notice.at >= public.replace(microsecond=0)


def test_a_release_that_waits_is_told_to_reviewers_only(bench: Bench) -> None:
    given_heights(bench, policy={"review_releases": True})
    listen(bench)
    job_id = submit(bench)
    bench.drive()
    assert told(bench, "ada") == []
    (waits,) = told(bench, "holder")
    assert (waits.notice.kind, waits.notice.subject) == (NoticeKind.RELEASE_WAITS, job_id)
    assert waits.notice.facts == {"dataset": "heights"}

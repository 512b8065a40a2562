"""A data set is withdrawn with its running jobs, or erased, while a release of it is being drawn: whichever
comes first, no release of it becomes readable afterwards. What was charged stands."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from factories import make_user
from standing_in_line import wait_until_another_waits
from test_query_route import TALL, ask
from waiting import PATIENCE_S
from zones import Bench, check_books, given_heights

from domain.errors import Conflict
from domain.permissions import Role
from domain.review import Stage
from domain.states import JobState
from store import erasures, reviews, withdrawals
from store.tables import releases
from worker import publish
from worker.sweep import sweep

HOLDER = make_user("holder", Role.RIGHTS_HOLDER)


def end(bench: Bench, way: str) -> None:
    with bench.database.transaction() as connection:
        now = bench.clock()
        if way == "erase":
            erasures.ask(connection, name="heights", user=HOLDER, now=now)
        else:
            cancels = way == "cancel"
            withdrawals.withdraw(connection, name="heights", user=HOLDER, cancels_running=cancels, now=now)


def at_its_release(bench: Bench, *, is_reviewed: bool) -> str:
    """A job whose runs are done, and whose time has come."""
    given_heights(bench, policy={"review_releases": is_reviewed})
    job_id = ask(bench, TALL)
    while bench.sent.queue[0][0] != "publish":
        bench.deliver(bench.sent.queue.popleft())
    _, _, in_s = bench.sent.queue.popleft()
    bench.clock.forward(in_s + 0.001)
    assert publish.begin(bench.zone, job_id)
    return job_id


def check_unreadable(bench: Bench, job_id: str) -> None:
    assert bench.job(job_id).state is JobState.CANCELLED
    with pytest.raises(Conflict):
        bench.release(job_id)
    with pytest.raises(Conflict), bench.database.transaction() as connection:
        reviews.vote_on_job(
            connection, job_id=job_id, stage=Stage.RELEASE, user=HOLDER, approves=True, reason="",
            now=bench.clock(),
        )  # fmt: skip
    check_books(bench)


@pytest.mark.parametrize(("way", "is_reviewed"), [("cancel", False), ("erase", True)])
def test_what_is_struck_before_it_is_drawn_is_not_drawn(bench: Bench, way: str, is_reviewed: bool) -> None:
    job_id = at_its_release(bench, is_reviewed=is_reviewed)
    end(bench, way)
    publish.publish(bench.zone, job_id)
    check_unreadable(bench, job_id)
    assert not bench.rows(releases)


def test_what_is_struck_while_it_is_drawn_is_cancelled_with_its_review(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id, struck, draws = at_its_release(bench, is_reviewed=True), list[Future[None]](), publish.draw
    with ThreadPoolExecutor(1) as other:

        def draw(*given: object) -> object:
            struck.append(other.submit(end, bench, "cancel"))
            wait_until_another_waits(bench.database, unless=struck[0].done)
            return draws(*given)

        monkeypatch.setattr(publish, "draw", draw)
        publish.publish(bench.zone, job_id)
        struck[0].result(PATIENCE_S)
    assert [row["job_id"] for row in bench.rows(releases)] == [job_id]
    check_unreadable(bench, job_id)


def test_what_a_dead_worker_drew_is_kept_no_longer_than_its_job(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = at_its_release(bench, is_reviewed=False)

    def dies(*_given: object) -> None:
        raise SystemExit

    with monkeypatch.context() as killed:
        killed.setattr(publish.releases, "insert", dies)
        with pytest.raises(SystemExit):
            publish.publish(bench.zone, job_id)
    with bench.zone.ledger.reading() as page:
        assert page.all_drawn() == [job_id]
    end(bench, "cancel")
    sweep(bench.zone)
    publish.publish(bench.zone, job_id)
    with bench.zone.ledger.reading() as page:
        assert page.all_drawn() == []
    check_unreadable(bench, job_id)
    assert not bench.rows(releases)


def test_without_cancel_it_ends_as_it_would(bench: Bench) -> None:
    job_id = at_its_release(bench, is_reviewed=False)
    end(bench, "finish")
    publish.publish(bench.zone, job_id)
    assert bench.job(job_id).state is JobState.RELEASED

"""Noise is drawn once: however many workers publish at the same moment, there is one release."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Barrier

from waiting import PATIENCE_S
from zones import Bench, check_books, given_heights, host_image, submit

from domain.states import JobState
from store.tables import releases
from worker.config import WorkerSettings
from worker.publish import publish
from worker.zone import open_zone

AT_ONCE = 6


def done(bench: Bench) -> str:
    """A job whose blocks are done and whose time has come."""
    given_heights(bench, policy={"timing": {"mode": "coarse", "step_seconds": 0.001}})
    job_id = submit(bench)
    bench.deliver(bench.sent.queue.popleft())
    for message in [m for m in bench.sent.take() if m[0] == "chunk"]:
        bench.deliver(message)
    return job_id


def check_one(bench: Bench, job_id: str) -> None:
    assert bench.job(job_id).state is JobState.RELEASED
    assert len(bench.rows(releases)) == 1
    assert bench.moves(job_id).count(("AGGREGATING", "IN_REVIEW")) == 1
    before = bench.release(job_id)
    publish(bench.zone, job_id)
    assert bench.release(job_id) == before
    check_books(bench)


def test_threads_that_publish_at_once(bench: Bench) -> None:
    job_id = done(bench)
    others = [bench.another(slot=number) for number in range(AT_ONCE)]
    start = threading.Barrier(AT_ONCE)

    def go(other: Bench) -> None:
        start.wait()
        publish(other.zone, job_id)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(go, others))
    check_one(bench, job_id)
    for other in others:
        other.close()


def test_processes_that_publish_at_once(bench: Bench) -> None:
    job_id = done(bench)
    host_image()
    bench.database.close()  # no connection may cross the fork
    context = multiprocessing.get_context("fork")
    start = context.Barrier(AT_ONCE)
    settings = bench.zone.settings.model_dump()
    children = [context.Process(target=_publish, args=(settings, job_id, start)) for _ in range(AT_ONCE)]
    for child in children:
        child.start()
    for child in children:
        child.join(PATIENCE_S)
    assert [child.exitcode for child in children] == [0] * AT_ONCE
    check_one(bench, job_id)


def _publish(settings: dict[str, object], job_id: str, start: Barrier) -> None:
    zone = open_zone(WorkerSettings(**settings), image=host_image(), messages=None, slot=0)  # type: ignore[arg-type]
    start.wait()
    publish(zone, job_id)
    zone.close()

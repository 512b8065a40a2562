"""A real worker is seen, is lost when it dies, and drains: what runs is finished, nothing new is taken."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

from heights import MEAN, request_fields
from waiting import wait_until
from workers import Platform, open_platform
from zones import given_heights, submit

from domain.operation import LOST_AFTER, WorkerState, WorkKind
from domain.states import JobState
from store import workers
from store.clock import database_time
from store.workers import Worker
from worker.host_turns import place_of

NAME = "under-test"


def seen(platform: Platform, *, later: timedelta = timedelta()) -> Worker:
    with platform.bench.database.reading() as connection:
        return workers.get(connection, NAME, now=database_time(connection) + later)


def ask(platform: Platform, *, wall_s: float = 0.4) -> str:
    pipeline = request_fields(MEAN, wall_s=wall_s)["pipeline"]
    pipeline["manifest"]["command"].append(f"asked-{uuid4()}")
    job_id = submit(platform.bench, epsilon="1", pipeline=pipeline)
    platform.bench.sent.take()
    platform.queue.run_job(job_id)
    return job_id


def drain(platform: Platform, *, ends: bool) -> None:
    with platform.bench.database.transaction() as connection:
        workers.drain(connection, NAME, ends=ends, by="olga", now=database_time(connection))


def test_a_worker_is_seen_drains_resumes_and_ends(sqlite_url: str, tmp_path: Path) -> None:
    with open_platform(sqlite_url, tmp_path, DPGATE_WORKER_NAME=NAME) as platform:
        given_heights(platform.bench)
        platform.start_worker()
        wait_until(lambda: "room" in seen(platform).storage)
        here = seen(platform)
        assert here.state is WorkerState.LIVE
        assert (here.slots, here.kinds) == (2, ())
        assert here.features
        place = place_of(platform.scratch)
        assert (here.host, here.door) == (place.host, place.door)
        assert here.storage["snapshots"] == "under 100 MiB"
        later = asked_while_nothing_new_is_taken(platform)
        with platform.bench.database.transaction() as connection:
            workers.resume(connection, NAME, by="olga", now=database_time(connection))
        wait_until(lambda: platform.bench.job(later).state is JobState.RELEASED)
        drain(platform, ends=True)
        platform.wait_for_death()
        assert seen(platform).state is WorkerState.ENDED
        assert platform.process is not None
        assert platform.process.returncode == 0


def asked_while_nothing_new_is_taken(platform: Platform) -> str:
    """A job that waits, while the one that ran is completed."""
    bench = platform.bench
    first = ask(platform, wall_s=2)
    wait_until(lambda: bench.job(first).state not in (JobState.QUEUED, JobState.PREPARING))
    drain(platform, ends=False)
    second = ask(platform)
    wait_until(lambda: bench.job(first).state is JobState.RELEASED)
    wait_until(lambda: seen(platform).state is WorkerState.DRAINED)
    assert bench.job(second).state is JobState.QUEUED
    assert not platform.has_ended()
    return second


def test_a_killed_worker_is_lost_after_two_minutes(sqlite_url: str, tmp_path: Path) -> None:
    with open_platform(sqlite_url, tmp_path, DPGATE_WORKER_NAME=NAME) as platform:
        given_heights(platform.bench)
        platform.start_worker()
        wait_until(lambda: seen(platform).state is WorkerState.LIVE)
        assert platform.process is not None
        platform.process.kill()
        platform.process.wait()
        assert seen(platform).state is WorkerState.LIVE
        assert seen(platform, later=LOST_AFTER + timedelta(seconds=30)).state is WorkerState.LOST
        assert WorkKind.JOBS not in seen(platform).kinds


class Collector(BaseHTTPRequestHandler):
    """Takes what an exporter of traces sends."""

    received: ClassVar[list[bytes]] = []

    def do_POST(self) -> None:
        self.received.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def collector() -> Iterator[str]:
    Collector.received.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/traces"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_traces_and_logs_hold_the_id_of_a_job_and_no_time_of_a_run(sqlite_url: str, tmp_path: Path) -> None:
    settings = {"DPGATE_WORKER_NAME": NAME, "DPGATE_LOG_FORMAT": "json"}
    with collector() as endpoint:
        with open_platform(sqlite_url, tmp_path, DPGATE_TRACES_ENDPOINT=endpoint, **settings) as platform:
            given_heights(platform.bench)
            platform.start_worker(loglevel="info")
            job_id = ask(platform)
            wait_until(lambda: platform.bench.job(job_id).state is JobState.RELEASED)
            platform.stop_worker()
            log = platform.log.read_text()
        sent = b"".join(Collector.received)
    assert b"dpgate.run_job" in sent
    assert job_id.encode() in sent
    for message in (b"run_chunk", b"publish", b"import"):
        assert message not in sent
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert {"at", "level", "source", "text", "process"} <= set(lines[0])
    assert not [line for line in lines if "succeeded in" in line["text"]]

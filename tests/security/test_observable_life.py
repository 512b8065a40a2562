"""What anybody can see of a job is the same whatever its runs do, and nothing anywhere repeats the data.

Two data sets differ in one person. A hostile pipeline behaves differently when that person is in its block.
Padded timing, real worker, real Redis.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from heights import MEAN, PEOPLE, table_text
from workers import Platform, open_platform
from zones import check_books, given_delivery, submit, wait_until

from domain.permissions import Role, User
from domain.states import JobState
from gateway.api.jobs import JobView
from store import datasets, jobs
from store.tables import audit_events
from worker.importing import import_dataset

CANARY = "canary5b1e"
HEIGHT = 173.918273645  # nobody else's
ADA = User(name="ada", role=Role.DATA_USER)
SEES_TARGET = "text = open('/in/participants.tsv').read()\nif '173.918273645' in text:\n    "
PIPELINES = {
    "exits with 7": SEES_TARGET + "raise SystemExit(7)\n",
    "raises its data": SEES_TARGET + "raise ValueError(text)\n",
    "hangs": SEES_TARGET + "import time; time.sleep(60)\n",
    "writes its data": SEES_TARGET + "open('/out/result.tsv', 'w').write(text * 50); raise SystemExit\n",
    "forks": SEES_TARGET + "import os\n    for _ in range(99): os.fork()\n",
}
# a release may be this late on a busy machine; it can never be early
LATE_S = 0.6


@dataclass
class Overheard:
    """What passes through Redis."""

    lines: list[str] = field(default_factory=list)

    def sent(self, job_id: str) -> Counter[str]:
        pushed = [line for line in self.lines if line.startswith("LPUSH") and job_id in line]
        return Counter(
            json.loads(line.partition(" ")[2].partition(" ")[2])["headers"]["task"] for line in pushed
        )


@contextmanager
def overhearing(platform: Platform) -> Iterator[Overheard]:
    overheard = Overheard()
    client = platform.redis.client()
    with client.monitor() as monitor:

        def listen() -> None:
            try:
                for command in monitor.listen():
                    overheard.lines.append(command["command"])
            except Exception:
                return  # the connection was closed: the test is over

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield overheard
        monitor.connection.disconnect()
        thread.join(5)
    client.close()


@pytest.fixture(scope="module")
def platform(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    folder = tmp_path_factory.mktemp("observed")
    (folder / "dpgate.db").write_bytes(sqlite_template.read_bytes())
    with open_platform(f"sqlite:///{folder / 'dpgate.db'}", folder, DPGATE_SLOTS="4") as it:
        ordinary = {f"{CANARY}-{name}": height for name, height in PEOPLE.items()}
        for name, people in {"calm": ordinary, "odd": {**ordinary, f"{CANARY}-x": HEIGHT}}.items():
            given = given_delivery(
                it.bench,
                {"participants.tsv": table_text(people, secret=CANARY)},
                name=name,
                new_people=True,
                policy={"timing": {"mode": "padded"}},
            )
            import_dataset(it.bench.zone, given.id)
        yield it


def ask(platform: Platform, dataset: str, source: str) -> str:
    job_id = submit(platform.bench, source, dataset=dataset, epsilon="1", wall_s=0.3)
    platform.bench.sent.take()
    platform.queue.run_job(job_id)
    return job_id


def watch(platform: Platform, job_id: str) -> list[dict[str, Any]]:
    """Every view of the job that differs from the one before, until the end, with the time it was seen."""
    seen: list[dict[str, Any]] = []
    deadline = time.monotonic() + 30
    while not seen or seen[-1]["state"] != "RELEASED":
        assert time.monotonic() < deadline, seen
        with platform.bench.database.reading() as connection:
            job = jobs.get_visible(connection, job_id, ADA)
            view = JobView.of(job, datasets.get(connection, job.dataset_id), ADA).model_dump(mode="json")
        if not seen or view != {key: value for key, value in seen[-1].items() if key != "seen_at"}:
            seen.append({**view, "seen_at": datetime.now(UTC)})
        time.sleep(0.005)
    return seen


def transcript(views: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without ids, names and absolute times: these two jobs have their own."""
    own = ("id", "dataset", "created_at", "charged_at", "due_at", "seen_at")
    told = [{key: value for key, value in view.items() if key not in own} for view in views]
    # AGGREGATING lasts some milliseconds: an observer may or may not catch it
    return [view for view in told if view["state"] not in ("AGGREGATING", "QUEUED", "PREPARING")]


def waited_s(views: list[dict[str, Any]]) -> float:
    charged, due = (datetime.fromisoformat(views[-1][name]) for name in ("charged_at", "due_at"))
    return (due - charged).total_seconds()


def late_s(views: list[dict[str, Any]]) -> float:
    return (views[-1]["seen_at"] - datetime.fromisoformat(views[-1]["due_at"])).total_seconds()


def events(platform: Platform, job_id: str) -> list[tuple[str, str, str]]:
    rows = [row for row in platform.bench.rows(audit_events) if row["subject"] == job_id]
    return [(row["actor"], row["action"], json.dumps(row["details"])) for row in rows]


def test_two_data_sets_that_differ_in_one_person_look_the_same(platform: Platform) -> None:
    platform.start_worker()
    with overhearing(platform) as overheard:
        for name, start in PIPELINES.items():
            said = platform.log.stat().st_size
            pair, views = {}, {}
            for dataset in ("calm", "odd"):
                pair[dataset] = ask(platform, dataset, start + MEAN)
                views[dataset] = watch(platform, pair[dataset])
            assert transcript(views["calm"]) == transcript(views["odd"]), name
            assert waited_s(views["calm"]) == pytest.approx(waited_s(views["odd"]), abs=1e-6)
            assert all(0 <= late_s(seen) < LATE_S for seen in views.values()), (
                name,
                *map(late_s, views.values()),
            )
            assert events(platform, pair["calm"]) == events(platform, pair["odd"])
            assert overheard.sent(pair["calm"]) == overheard.sent(pair["odd"])
            assert platform.log.stat().st_size == said, platform.log.read_text()[-1000:]
    platform.stop_worker()
    check_books(platform.bench)
    assert overheard.lines
    assert_untold(platform, overheard)


def test_loud_logs_tell_neither_data_nor_durations(platform: Platform) -> None:
    platform.start_worker(loglevel="debug")
    with overhearing(platform) as overheard:
        watch(platform, ask(platform, "odd", SEES_TARGET + "raise ValueError(text)\n"))
    platform.stop_worker()
    log = platform.log.read_text()
    assert "dpgate.run_chunk" in log
    assert "succeeded in" not in log
    assert_untold(platform, overheard)


def test_a_pool_process_that_dies_mid_run_tells_nothing(platform: Platform) -> None:
    marker = platform.start_worker("child/second:worker.chunk:collect")
    with overhearing(platform) as overheard:
        for source in ("hangs", "exits with 7"):
            ask(platform, "odd", PIPELINES[source] + MEAN + "#again")
        wait_until(marker.exists, timeout_s=20)
        wait_until(lambda: "WorkerLostError" in platform.log.read_text(), timeout_s=10)
    platform.stop_worker()
    assert_untold(platform, overheard)


def test_messages_that_are_no_messages_do_no_harm(platform: Platform) -> None:
    """Whoever can write to Redis can at most ask for what the database already holds."""
    platform.start_worker()
    for junk in (b"junk", b"{}", b"[1]", b'{"body": "x", "headers": {}, "properties": {}}'):
        said = platform.log.stat().st_size
        with platform.redis.client() as client:
            client.lpush("dpgate", junk)
            while junk in client.lrange("dpgate", 0, -1):
                if ended(platform, within_s=0.5):
                    platform.start_worker()
        heard(platform, said)
    if ended(platform, within_s=2):  # Celery gives up on what is no JSON: a supervisor starts it again
        platform.start_worker()
    for task, *arguments in (
        ("dpgate.run_chunk", "job-none", 0),
        ("dpgate.run_chunk", "'; DROP TABLE jobs", "x"),
        ("dpgate.import_dataset", "../../etc/passwd"),
        ("dpgate.publish", None),
        ("dpgate.nothing",),
        ("dpgate.sweep", "too", "many"),
    ):
        platform.queue._app.send_task(task, args=arguments)
    views = watch(platform, ask(platform, "calm", MEAN + "#after the junk"))
    assert views[-1]["state"] == JobState.RELEASED
    platform.stop_worker()


def heard(platform: Platform, said: int) -> None:
    """The worker has said something of what it took, or had two seconds for it."""
    deadline = time.monotonic() + 2
    while platform.log.stat().st_size == said and time.monotonic() < deadline:
        time.sleep(0.05)


def ended(platform: Platform, *, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while not platform.has_ended() and time.monotonic() < deadline:
        time.sleep(0.05)
    return platform.has_ended()


def bytes_of(path: Path) -> bytes:
    """Read by another process: closing the file in this one would drop the locks that SQLite has on it."""
    return subprocess.run(["cat", path], capture_output=True, check=True).stdout


def assert_untold(platform: Platform, overheard: Overheard) -> None:
    """No name, no value: not in the logs, not in Redis, not in the bytes of the database."""
    database = Path(platform.bench.zone.settings.database_url.removeprefix("sqlite:///"))
    places = {
        "log": platform.log.read_bytes(),
        "redis": "\n".join(overheard.lines).encode(),
        **{path.name: bytes_of(path) for path in database.parent.glob("dpgate.db*")},
    }
    for word in (CANARY, "173.918273645"):
        # the pipelines above name the value they look for: submitted by the researcher, encoded in base64
        assert not [place for place, content in places.items() if word.encode() in content]

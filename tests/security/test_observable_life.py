"""What anybody can see of a job is the same whatever its runs do, and nothing anywhere repeats the data.

Two data sets differ in one person. A hostile pipeline behaves differently when that person is in its block.
That its jobs look the same is asked step by step, where no busy host has a part in what is seen; that nothing
repeats the data, of a real worker on a real Redis. Padded timing.
"""

from __future__ import annotations

import json
import logging
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from heights import MEAN, PEOPLE, table_text
from waiting import PATIENCE_S, wait_until
from workers import Platform, open_platform
from zones import check_books, given_delivery, submit

from desk.jobs import JobView
from domain.permissions import Role, User
from domain.states import JobState
from store import datasets, jobs
from store.tables import audit_events
from worker import chunk, time_grid
from worker.importing import import_dataset
from worker.publish import publish

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
# of a worker process every change hears one that ends with its data in hand, one that takes long, and one
# that brings them out; the others end in the same three ways, and the same process is asked about all above
ALOUD = ("raises its data", "hangs", "writes its data")


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
        thread.join(PATIENCE_S)
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


def view_of(platform: Platform, job_id: str) -> dict[str, Any]:
    """What anybody may see of the job."""
    with platform.bench.database.reading() as connection:
        job = jobs.get_visible(connection, job_id, ADA)
        return JobView.of(job, datasets.get(connection, job.dataset_id), ADA).model_dump(mode="json")


def is_released(platform: Platform, job_id: str) -> bool:
    return view_of(platform, job_id)["state"] == JobState.RELEASED


def events(platform: Platform, job_id: str) -> list[tuple[str, str, str]]:
    rows = [row for row in platform.bench.rows(audit_events) if row["subject"] == job_id]
    return [(row["actor"], row["action"], json.dumps(row["details"])) for row in rows]


@dataclass
class Life:
    job_id: str
    steps: list[tuple[Any, ...]] = field(default_factory=list)

    def transcript(self) -> list[tuple[Any, ...]]:
        """Messages, and what is seen after each. Without ids, names and absolute times, which are its own."""
        own = ("id", "dataset", "created_at", "charged_at", "due_at", "begins_at")
        return [
            (*message, {key: value for key, value in view.items() if key not in own})
            for *message, view in self.steps
        ]

    def waited_s(self) -> float:
        view = self.steps[-1][-1]
        charged, due = (datetime.fromisoformat(view[name]) for name in ("charged_at", "due_at"))
        return (due - charged).total_seconds()


class Still:
    """The clock of the runs' grid, which goes on when somebody waits for it, and only then."""

    def __init__(self) -> None:
        self._now = 0.0

    def monotonic(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds


@pytest.fixture
def life(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], Life]]:
    """A job from its message to its release, step by step, in a worker of this process."""
    platform.stop_worker()
    grid_clock, bench = Still(), platform.bench
    monkeypatch.setattr(time_grid, "time", grid_clock)
    monkeypatch.setattr(chunk, "time", grid_clock)

    def live(dataset: str, source: str) -> Life:
        bench.sent.take()
        job_id = submit(bench, source, dataset=dataset, epsilon="1", wall_s=0.3)
        found = Life(job_id)
        while bench.sent.queue:
            kind, *arguments = message = bench.sent.queue.popleft()
            if kind == "publish":
                publish(bench.zone, job_id)
                assert not is_released(platform, job_id)  # whoever asks: not before its time
            bench.deliver(message)
            number = arguments[1] if kind == "chunk" else None
            found.steps.append((kind, number, view_of(platform, job_id)))
        return found

    yield live
    bench.clock.ahead = timedelta()


def test_two_data_sets_that_differ_in_one_person_look_the_same(
    platform: Platform,
    life: Callable[[str, str], Life],
    caplog: pytest.LogCaptureFixture,
    subtests: pytest.Subtests,
) -> None:
    for name, start in PIPELINES.items():
        with subtests.test(msg=name), caplog.at_level(logging.DEBUG):
            calm, odd = (life(dataset, start + MEAN) for dataset in ("calm", "odd"))
            assert is_released(platform, odd.job_id)
            assert calm.transcript() == odd.transcript()
            assert calm.waited_s() == pytest.approx(odd.waited_s(), abs=1e-6)
            assert events(platform, calm.job_id) == events(platform, odd.job_id)
            assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    check_books(platform.bench)
    assert_untold(platform, caplog.text)


@pytest.mark.parametrize(
    "names",
    [ALOUD, pytest.param(tuple(PIPELINES), marks=pytest.mark.deep("the same of pipelines that end alike"))],
    ids=["some", "all"],
)
def test_loud_logs_tell_neither_data_nor_durations(platform: Platform, names: tuple[str, ...]) -> None:
    """Of a worker process that does all of it at once, nor does what it sends through Redis."""
    platform.start_worker(loglevel="debug")
    with overhearing(platform) as overheard:
        asked = [ask(platform, "odd", f"{PIPELINES[name]}{MEAN}#aloud{len(names)}") for name in names]
        for job_id in asked:
            wait_until(lambda job_id=job_id: is_released(platform, job_id), unless=platform.has_ended)
    platform.stop_worker()
    log = platform.log.read_text()
    assert "dpgate.run_chunk" in log
    assert "succeeded in" not in log
    assert all(overheard.sent(job_id)["dpgate.run_chunk"] for job_id in asked)
    assert_untold(platform, *overheard.lines)


def test_a_pool_process_that_dies_mid_run_tells_nothing(platform: Platform) -> None:
    marker = platform.start_worker("child/second:worker.chunk:collect")
    with overhearing(platform) as overheard:
        for source in ("hangs", "exits with 7"):
            ask(platform, "odd", PIPELINES[source] + MEAN + "#again")
        wait_until(marker.exists, said="the fault")
        wait_until(lambda: "WorkerLostError" in platform.log.read_text())
    platform.stop_worker()
    assert_untold(platform, *overheard.lines)


def test_messages_that_are_no_messages_do_no_harm(platform: Platform) -> None:
    """Whoever can write to Redis can at most ask for what the database already holds."""
    platform.start_worker()

    def supervised(what: Callable[[], bool]) -> Callable[[], bool]:
        """Celery gives up on some of them; then a supervisor starts it again."""

        def look() -> bool:
            if platform.has_ended():
                platform.start_worker()
            return what()

        return look

    with platform.redis.client() as client:
        for junk in (b"junk", b"{}", b"[1]", b'{"body": "x", "headers": {}, "properties": {}}'):
            client.lpush("dpgate", junk)
            wait_until(
                supervised(lambda junk=junk: junk not in client.lrange("dpgate", 0, -1)), said=str(junk)
            )
    for task, *arguments in (
        ("dpgate.run_chunk", "job-none", 0),
        ("dpgate.run_chunk", "'; DROP TABLE jobs", "x"),
        ("dpgate.import_dataset", "../../etc/passwd"),
        ("dpgate.publish", None),
        ("dpgate.nothing",),
        ("dpgate.sweep", "too", "many"),
    ):
        platform.queue._app.send_task(task, args=arguments)
    job_id = ask(platform, "calm", MEAN + "#after the junk")
    wait_until(supervised(lambda: is_released(platform, job_id)))
    platform.stop_worker()


def bytes_of(path: Path) -> bytes:
    """Read by another process: closing the file in this one would drop the locks that SQLite has on it."""
    return subprocess.run(["cat", path], capture_output=True, check=True).stdout


def assert_untold(platform: Platform, *said: str) -> None:
    """No name, no value: not in the logs, not in what was said, not in the bytes of the database."""
    database = Path(platform.bench.zone.settings.database_url.removeprefix("sqlite:///"))
    places = {
        "log": platform.log.read_bytes() if platform.log.exists() else b"",
        "said": "\n".join(said).encode(),
        **{path.name: bytes_of(path) for path in database.parent.glob("dpgate.db*")},
    }
    for word in (CANARY, "173.918273645"):
        # the pipelines above name the value they look for: submitted by the researcher, encoded in base64
        assert not [place for place, content in places.items() if word.encode() in content]

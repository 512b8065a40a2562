"""What can befall a platform: processes that are killed or hang, a Redis that forgets, connections that end,
a full disk, a wrong clock, messages of others. Each strikes once; one that lasts gives back what ends it."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import redis
from hostile_messages import HOSTILE, body, code, headers, message
from sqlalchemy.engine import make_url
from workers import Platform

from domain.messages import CODE, Message, Queue
from store.tables import jobs

Undo = Callable[[], object]
LASTS_S = (0.05, 0.3, 1.0, 3.0)
STEPS_S = (1, 10, 100, 3600, 86_400)
AWAY = (redis.RedisError, OSError)


@dataclass
class Faults:
    """Of workers with one zone and one Redis. `disk`: what the zone's folder lies on, if it may be filled."""

    workers: list[Platform]
    chance: random.Random
    disk: Path | None = None
    struck: Counter[str] = field(default_factory=Counter)
    _lasting: list[tuple[float, Undo]] = field(default_factory=list)

    def strike(self) -> None:
        kind = self.chance.choice([each for each in KINDS if self.disk or each is not fill_disk])
        for_s = self.chance.choice(LASTS_S)
        if (undo := kind(self, self.chance.choice(self.workers))) is not None:
            self._lasting.append((time.monotonic() + for_s, undo))
        self.struck[kind.__name__] += 1

    def end_those_over(self, *, at: float | None = None) -> None:
        now = time.monotonic() if at is None else at
        over = [undo for ends_at, undo in self._lasting if ends_at <= now]
        self._lasting = [(ends_at, undo) for ends_at, undo in self._lasting if ends_at > now]
        for undo in over:
            undo()

    def revive(self) -> None:
        """Who died is started again, as `dpgate up` does, where nothing lasts that keeps it from starting."""
        for worker in self.workers:
            if not self._lasting and (worker.process is None or worker.has_ended()):
                set_clock(worker, ahead_s=0)
                start(worker)

    def end_all(self) -> None:
        self.end_those_over(at=float("inf"))
        self.revive()


def start(worker: Platform, *, tries: int = 3) -> None:
    """One that refuses to start is started again, as whoever keeps workers does."""
    try:
        worker.start_worker("stepped-clock", loglevel="error")
    except AssertionError:
        if tries == 1:
            raise
        start(worker, tries=tries - 1)


def kill(_: Faults, worker: Platform) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid_of(worker), signal.SIGKILL)


def kill_child(faults: Faults, worker: Platform) -> None:
    for child in some_child(faults, worker):
        tell(os.kill, child, signal.SIGKILL)


def freeze(_: Faults, worker: Platform) -> Undo:
    group = pid_of(worker)
    tell(os.killpg, group, signal.SIGSTOP)
    return lambda: tell(os.killpg, group, signal.SIGCONT)


def freeze_child(faults: Faults, worker: Platform) -> Undo:
    found = some_child(faults, worker)
    for child in found:
        tell(os.kill, child, signal.SIGSTOP)
    return lambda: [tell(os.kill, child, signal.SIGCONT) for child in found]


def flush(_: Faults, worker: Platform) -> None:
    with suppress(*AWAY), worker.redis.client() as client:
        client.flushall()


def restart_redis(_: Faults, worker: Platform) -> Undo | None:
    assert worker.redis.process is not None
    if worker.redis.process.poll() is not None:
        return None  # away already
    worker.redis.kill()
    return worker.redis.start


def terminate(_: Faults, worker: Platform) -> Undo | None:
    """All connections; those of SQLite are files, and somebody keeps it locked instead."""
    with suppress(*AWAY), worker.redis.client() as client:
        client.client_kill_filter(_type="normal", skipme=True)
    database = worker.bench.database
    if database.is_sqlite:
        holder = sqlite3.connect(str(database.engine.url.database), timeout=0, isolation_level=None)
        with suppress(sqlite3.OperationalError):
            holder.execute("BEGIN IMMEDIATE")
        return holder.close
    url = make_url(database.url)
    place = f"host={url.query['host']} dbname={url.database} user={url.username}"
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    with psycopg.connect(place, autocommit=True) as admin:
        admin.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
    return None


def step_clock(faults: Faults, worker: Platform) -> Undo:
    set_clock(worker, ahead_s=faults.chance.choice(STEPS_S) * faults.chance.choice([-1, 1]))
    return lambda: set_clock(worker, ahead_s=0)


def garbage(faults: Faults, worker: Platform) -> None:
    """What cannot be read, and what can and is not so."""
    ids = ["no-such-job", *(row["id"] for row in worker.bench.rows(jobs)[-8:])]
    some = [faults.chance.choice([raw for _, raw in HOSTILE.values()])]
    for kind in (Message.RUN_JOB, Message.RUN_CHUNK, Message.PUBLISH, Message.SWEEP):
        job_id, number = faults.chance.choice(ids), faults.chance.randrange(-1, 4)
        said = {Message.RUN_CHUNK: [job_id, number], Message.SWEEP: []}.get(kind, [job_id])
        # as one that was sent before, which the database alone answers
        sealed = {CODE: code(kind.value, said)}
        some.append(message(body=body(said, {}, {}), headers=headers(task=kind.value, **sealed)))
    with suppress(*AWAY), worker.redis.client() as client:
        client.lpush(Queue.MAIN.value, *some)


def fill_disk(faults: Faults, _: Platform) -> Undo:
    assert faults.disk is not None
    filler = faults.disk / f"filler-{faults.chance.random()}"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(2**16))
    return lambda: filler.unlink(missing_ok=True)


KINDS = (
    *(
        kill,
        kill_child,
        freeze,
        freeze_child,
        flush,
        restart_redis,
        terminate,
        step_clock,
        garbage,
        fill_disk,
    ),
)


def tell(how: Callable[[int, int], None], whom: int, signal_number: int) -> None:
    with suppress(ProcessLookupError):
        how(whom, signal_number)


def pid_of(worker: Platform) -> int:
    assert worker.process is not None
    return worker.process.pid


def some_child(faults: Faults, worker: Platform) -> list[int]:
    pid = pid_of(worker)
    try:
        children = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return faults.chance.sample(children, min(1, len(children)))


def set_clock(worker: Platform, *, ahead_s: float) -> None:
    """Read by `faulty_worker.py`; at once or not at all."""
    place = worker.folder / "struck-stepped-clock"
    place.with_suffix(".new").write_text(str(ahead_s))
    place.with_suffix(".new").replace(place)

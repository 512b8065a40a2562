"""Faults at random against real workers, a real Redis and either database: what is left is looked at in full.

    python tests/random_faults.py 1000 --database postgresql --seed 7

Two workers with one zone. Jobs are asked all the time; faults strike at random moments, and some last while
others strike. After every ten of them all end and dead workers are started again. Then each job has to be
released within twice the resend time, once, at its price, with the right numbers, and both accounts and the
trail have to agree. The seed is printed: the same one asks the same and draws the same faults, though not at
the same instructions.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa
from factories import given_user
from faults import Faults
from heights import MEAN, PEOPLE, request_fields
from services import postgresql_server
from waiting import let_pass, wait_until
from workers import Platform, open_platform
from zones import Bench, check_books, given_heights, move

from domain.errors import RequestError
from domain.job import AnyRequest, JobRequest
from domain.model import parse
from domain.query import QueryRequest
from domain.states import Actor, JobState, is_terminal
from store import audit, datasets
from store import jobs as stored_jobs
from store.database import Database
from store.tables import accounts, chunks, jobs, ledger_entries, releases
from store.zone_ledger import Kind

ROUND, RESEND_S, DISK_MIB = 10, 5.0, 256
PAUSE_S = 0.4
SETTINGS = {
    "DPGATE_RESEND_AFTER_S": str(RESEND_S),
    "DPGATE_MAX_ATTEMPTS": "100000",
    "DPGATE_RUNNING_JOBS": "8",
    "DPGATE_LEAST_FREE_MIB": "0",
}
UNITS = {"query": 20_000_000, "mean": 1_000_000_000}
SHARES = {"query": 8, "mean": 3}
ABOVE_CM = 160
TALL = sum(height > ABOVE_CM for height in PEOPLE.values())
MEAN_HEIGHT = sum(PEOPLE.values()) / len(PEOPLE)


@dataclass
class Asked:
    """Jobs that the platform took, with the kind of each. What it refuses to take is nobody's job."""

    bench: Bench
    chance: random.Random
    # a gateway that gives up soon: who holds what it waits for may be frozen by us
    gateway: Database
    count: int = 0
    kinds: dict[str, str] = field(default_factory=dict)

    def one_more(self) -> None:
        self.count += 1
        kind = self.chance.choices(list(SHARES), list(SHARES.values()))[0]
        job_id = f"{kind}-{self.count:06d}"
        try:
            self._submit(job_id, self._request(kind))
        except (sa.exc.OperationalError, RequestError):  # a full or locked disk, an ended connection
            with self.bench.database.reading() as connection:
                query = sa.select(jobs.c.id).where(jobs.c.id == job_id)
                if connection.execute(query).first() is None:
                    return
        self.kinds[job_id] = kind

    def _request(self, kind: str) -> AnyRequest:
        """Each another: the identical question would be answered by the first release."""
        if kind == "query":
            above = {"column": "height", "operator": ">", "value": ABOVE_CM + self.count / 1_000_000}
            fields = {"dataset": "heights", "query": {"kind": "count", "where": [above]}, "epsilon": "20"}
            return parse(QueryRequest, fields)
        return parse(JobRequest, request_fields(MEAN + f"# {self.count}\n", wall_s=1)).kept()

    def _submit(self, job_id: str, request: AnyRequest) -> None:
        bench, now = self.bench, self.bench.clock()
        with self.gateway.transaction() as connection:
            stored_jobs.submit(
                connection,
                job_id=job_id,
                author="ada",
                dataset=datasets.newest(connection, "heights", given_user(connection, "ada")),
                request=request,
                image_digest=bench.zone.image.digest if isinstance(request, JobRequest) else None,
                now=now,
            )
            move(connection, job_id, JobState.SUBMITTED, JobState.QUEUED, Actor.POLICY, now)

    def open(self) -> list[str]:
        with self.bench.database.reading() as connection:
            query = sa.select(jobs.c.id, jobs.c.state).order_by(jobs.c.id)
            return [row.id for row in connection.execute(query) if not is_terminal(JobState(row.state))]


def run_round(faults: Faults, asked: Asked, *, strikes: int) -> float:
    """How long it took, from the end of the last fault on, until no job was open."""
    for _ in range(strikes):
        faults.revive()
        if faults.chance.random() < 0.7:
            asked.one_more()
            if faults.chance.random() < 0.8:  # some messages are lost
                faults.workers[0].queue.run_job(list(asked.kinds)[-1] if asked.kinds else "none")
        faults.strike()
        let_pass(faults.chance.uniform(0, PAUSE_S), because="faults strike at random moments")
        faults.end_those_over()
    faults.end_all()
    ended_at = time.monotonic()
    try:
        wait_until(lambda: not asked.open(), said="the end of all jobs")
    except AssertionError:
        tell_what_is_left(faults, asked)
        raise
    return time.monotonic() - ended_at


def tell_what_is_left(faults: Faults, asked: Asked) -> None:
    left = set(asked.open())
    print(dict(faults.struck), "left at", asked.bench.clock())
    for table, name in ((jobs, "id"), (chunks, "job_id")):
        for row in asked.bench.rows(table):
            if row[name] in left:
                print(
                    {key: value for key, value in row.items() if key not in ("request", "ran_in", "question")}
                )
    for worker in faults.workers:
        print(worker.log.read_text(errors="replace")[-3000:])


def check(asked: Asked) -> None:
    """None lost, none twice, none wrong, every unit counted once in each account, and the trail whole."""
    bench = asked.bench
    with bench.database.reading() as connection:
        states = {row.id: row.state for row in connection.execute(sa.select(jobs.c.id, jobs.c.state))}
    assert states == dict.fromkeys(asked.kinds, JobState.RELEASED.value)
    assert sorted(row["job_id"] for row in bench.rows(releases)) == sorted(asked.kinds)
    entries = bench.rows(ledger_entries)
    assert {entry["job_id"] for entry in entries if entry["action"] == "charge"} == set(asked.kinds)
    assert not [entry for entry in entries if entry["action"] == "refund"]
    check_books(bench)
    with bench.zone.ledger.reading() as page:
        page.entries()
        assert page.spent("heights") == {"epsilon": sum(UNITS[kind] for kind in asked.kinds.values())}
        assert sorted(entry.subject for entry in page.having(Kind.DRAW)) == sorted(asked.kinds)
        refused = page.having(Kind.REFUSED)
        assert not refused, [(entry.subject, entry.body) for entry in refused]
        known = page.heads()
    with bench.database.reading() as connection:
        assert audit.verify(connection, known=known).intact
    for job_id, kind in asked.kinds.items():
        (value,) = bench.release(job_id).values
        right, within = {"query": (TALL, 4), "mean": (MEAN_HEIGHT, 2)}[kind]
        assert abs(value.value - right) <= within, (job_id, value.value)


@contextmanager
def platforms(database_url: str, folder: Path) -> Iterator[list[Platform]]:
    """Two workers, of which the second has slots of its own."""
    with open_platform(database_url, folder / "first", **SETTINGS) as first:
        (folder / "second").mkdir()
        more = {"DPGATE_FIRST_SLOT": "2", "DPGATE_WORKER_NAME": "second"}
        second = Platform(first.bench, first.redis, folder / "second", {**SETTINGS, **more})
        given_heights(first.bench)
        with (
            first.bench.database.transaction() as connection
        ):  # a thousand jobs take more than may be declared
            connection.execute(accounts.update().values(cap=10**15))
        workers = [first, second]
        try:
            yield workers
        finally:
            for worker in workers:
                if worker.process is not None and not worker.has_ended():
                    worker.kill_worker()


def strike_at_random(database_url: str, folder: Path, *, count: int, seed: int, disk: Path) -> float:
    """The longest that jobs took after a round."""
    print(f"seed {seed}", flush=True)
    chance, longest_s = random.Random(seed), 0.0
    with platforms(database_url, folder) as workers:
        faults = Faults(workers, chance, disk)
        gateway = Database(database_url, patience_s=1)
        asked = Asked(workers[0].bench, chance, gateway)
        faults.end_all()
        try:
            for done in range(0, count, ROUND):
                took_s = run_round(faults, asked, strikes=min(ROUND, count - done))
                check(asked)
                longest_s = max(longest_s, took_s)
                print(f"{done + ROUND} faults, {len(asked.kinds)} jobs, ended in {took_s:.1f} s", flush=True)
        finally:
            faults.end_all()
            gateway.close()
        print(dict(sorted(faults.struck.items())))
    return longest_s


def main(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(2**32)
    if asked.folder is None:
        known = {"database": asked.database, "seed": seed, "within": asked.within}
        options = [word for name, value in known.items() for word in (f"--{name}", str(value))]
        return _on_a_small_disk([str(asked.count), *options])
    print(f"{asked.count} faults, {asked.database}", flush=True)
    with ExitStack() as stack:
        disk = asked.folder / "first" / "zone"
        url = f"sqlite:///{disk / 'dpgate.db'}"
        if asked.database == "postgresql":
            url = stack.enter_context(postgresql_server(durable=False)).fresh()
        else:
            made = Database(url)
            made.migrate()
            made.close()
        longest_s = strike_at_random(url, asked.folder, count=asked.count, seed=seed, disk=disk)
    print(f"no job was open {longest_s:.1f} s after the last fault of a round; allowed: {asked.within:g} s")
    return int(longest_s > asked.within)


def _on_a_small_disk(words: list[str]) -> int:
    """In a mount namespace of its own, where the folder of the zone, and SQLite's, is a disk of that size."""
    folder = Path(tempfile.mkdtemp(prefix="dpgate-faults-"))
    disk = [
        "bwrap",
        "--dev-bind",
        "/",
        "/",
        "--die-with-parent",
        "--cap-add",
        "ALL",
        "--size",
        str(DISK_MIB * 2**20),
    ]
    zone = folder / "first" / "zone"
    zone.mkdir(parents=True)
    script = [sys.executable, __file__, *words, "--folder", str(folder)]
    try:
        return subprocess.run([*disk, "--tmpfs", str(zone), *script], check=False).returncode
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("count", type=int, help="faults")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--within", type=float, default=2 * RESEND_S, help="seconds until no job is open")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

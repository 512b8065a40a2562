"""A worker zone for tests: real keys, snapshots, database and sandbox; messages are kept, not sent."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from factories import given_user
from heights import MEAN, PEOPLE, heights_fields, request_fields, table_text
from kept_slots import KeptSlots
from known_host import KnownHost
from looked_image import looked

from domain.dataset import Dataset, Declaration
from domain.job import Job, JobRequest
from domain.model import parse
from domain.permissions import Role
from domain.release import Release
from domain.states import Actor, JobState
from store import audit, datasets, images, jobs, releases
from store.database import Database
from store.keys import create_keys
from store.tables import accounts, audit_events, ledger_entries, run_outputs
from store.tables import chunks as chunk_rows
from store.tables import releases as release_rows
from worker.catching_up import begin_ledger
from worker.certificate import public_key_pem
from worker.config import WorkerSettings
from worker.execute import execute, execute_chunk
from worker.importing import import_dataset
from worker.profile.route import profile
from worker.publish import publish
from worker.rehearse import rehearse
from worker.sandbox.core.images import HostImage
from worker.sandbox.core.scratch import default_scratch_root
from worker.zone import WorkerZone, open_zone

_numbers = itertools.count(1)


def host_image() -> HostImage:
    return looked()


@dataclass
class Kept:
    """The route's messages, in the order in which they were sent."""

    queue: deque[tuple[Any, ...]] = field(default_factory=deque)

    def run_job(self, job_id: str, *, in_s: float = 0) -> None:
        self.queue.append(("job", job_id))

    def run_chunk(self, job_id: str, number: int, *, in_s: float = 0) -> None:
        self.queue.append(("chunk", job_id, number))

    def publish(self, job_id: str, *, in_s: float) -> None:
        self.queue.append(("publish", job_id, in_s))

    def import_dataset(self, dataset_id: str) -> None:
        self.queue.append(("import", dataset_id))

    def rehearse(self, rehearsal_id: str) -> None:
        self.queue.append(("rehearse", rehearsal_id))

    def profile(self, profile_id: str) -> None:
        self.queue.append(("profile", profile_id))

    def take(self) -> list[tuple[Any, ...]]:
        taken = list(self.queue)
        self.queue.clear()
        return taken


class Clock:
    """The time, and how far it was put forward."""

    ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def forward(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)


@cache
def own_scratch_root(platform: str) -> Path:
    """One for each platform of each process of the tests: those with one scratch folder take turns on their
    host. A job that a test leaves to its late time would keep the host of all others until then, and some
    tests look at what a chunk has done at once."""
    owner = os.getpid()
    place = Path(tempfile.mkdtemp(prefix="dpgate-test-", dir=default_scratch_root().parent))
    place.chmod(0o711)  # users of slots pass through it

    def remove() -> None:
        if os.getpid() == owner:  # a fork that ends leaves it to its parent
            shutil.rmtree(place, ignore_errors=True)

    atexit.register(remove)
    return place


@dataclass(frozen=True)
class Bench:
    """A zone with what a test turns and reads."""

    zone: WorkerZone
    sent: Kept
    clock: Clock

    @property
    def database(self) -> Database:
        return self.zone.database

    def another(self, *, slot: int = 1, **settings: Any) -> Bench:
        """A second worker process of the same zone: its own engine and scratch."""
        sent = Kept()
        own = self.zone.settings.model_copy(update=settings)
        opened = open_zone(own, image=self.zone.image, messages=sent, slot=slot)
        known = KnownHost(opened.sandbox, own)
        leases = self.zone.leases
        return Bench(replace(opened, now=self.clock, sandbox=known, leases=leases), sent, self.clock)

    def close(self) -> None:
        self.zone.close()

    def job(self, job_id: str) -> Job:
        with self.database.reading() as connection:
            return jobs.get(connection, job_id)

    def release(self, job_id: str) -> Release:
        with self.database.reading() as connection:
            return releases.read(connection, jobs.get(connection, job_id))

    def outputs_key(self, job_id: str) -> bytes:
        """Under which a job's runs are sealed."""
        with self.database.reading() as connection:
            dataset = datasets.of_job(connection, jobs.get(connection, job_id))
        return self.zone.sealed.of(dataset).keys.outputs

    def rows(self, table: sa.Table) -> list[dict[str, Any]]:
        """In the order in which they were written, where rows are numbered."""
        numbered = [column for column in table.primary_key if isinstance(column.type, sa.Integer)]
        with self.database.reading() as connection:
            asked = sa.select(table).order_by(*numbered)
            return [dict(row._mapping) for row in connection.execute(asked)]

    def moves(self, job_id: str) -> list[tuple[str, str]]:
        events = [row for row in self.rows(audit_events) if row["subject"] == job_id]
        return [(e["details"]["before"], e["details"]["after"]) for e in events if e["action"] == "job.move"]

    def deliver(self, message: tuple[Any, ...], *, times: int = 1) -> None:
        """One message, as a worker would take it. A publish message waits for its time."""
        kind, *arguments = message
        if kind == "publish":
            job_id, in_s = arguments
            self.clock.forward(in_s + 0.001)
            arguments = [job_id]
        step: Callable[..., None] = {
            "job": execute,
            "chunk": execute_chunk,
            "publish": publish,
            "import": import_dataset,
            "rehearse": rehearse,
            "profile": profile,
        }[kind]
        for _ in range(times):
            step(self.zone, *arguments)

    def drive(self, *, times: int = 1) -> None:
        """Every message until none is left, each so many times."""
        while self.sent.queue:
            self.deliver(self.sent.queue.popleft(), times=times)


@contextmanager
def open_bench(
    database_url: str,
    folder: Path,
    *,
    kept_slots: KeptSlots | None = None,
    database: Database | None = None,
    **settings: Any,
) -> Iterator[Bench]:
    """`kept_slots`: shared with other benches, where slots are not what is tested.
    `database`: one that is open already at this URL, and stays so.
    """
    known = {
        "database_url": database_url,
        "broker_url": "redis+socket:///nowhere",
        "zone_folder": folder / "zone",
        "scratch_folder": own_scratch_root("benches"),
        "slots": 2,
        "late_tick_s": 1,
        **settings,
    }
    read = WorkerSettings(**known)
    create_keys(read.key_file)
    read.deliveries_folder.mkdir(mode=0o700)
    sent, clock = Kept(), Clock()
    opened = open_zone(read, image=host_image(), messages=sent, slot=0)
    if kept_slots is not None:
        opened.sandbox.close()
        opened = replace(opened, sandbox=kept_slots.sandbox(read))
    if database is not None:
        opened.database.close()
        opened = replace(opened, database=database)
    # benches of one process have one scratch folder, and are no platforms that wait for each other
    leases = replace(opened.leases, root=folder)
    known_host = KnownHost(opened.sandbox, read)
    bench = Bench(replace(opened, now=clock, sandbox=known_host, leases=leases), sent, clock)
    with bench.database.transaction() as connection:
        given_user(connection, "ada")
        given_user(connection, "holder", Role.RIGHTS_HOLDER)
        images.announce(connection, digest=host_image().digest, name="python", description="", now=clock())
        images.approve(connection, digest=host_image().digest, by="operator", now=clock())
        releases.publish_key(connection, public_key_pem(bench.zone.keys.signing))
    begin_ledger(bench.zone.ledger, bench.database)
    try:
        yield bench
    finally:
        if database is None:
            bench.close()
        else:
            bench.zone.sandbox.close()


def given_delivery(
    bench: Bench, files: Mapping[str, str | bytes], *, owner: str = "holder", **fields: Any
) -> Dataset:
    """Files in the worker zone and their registration; the import is still to come."""
    name = str(uuid4())
    for path, content in files.items():
        target = bench.zone.settings.deliveries_folder / name / path
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    with bench.database.transaction() as connection:
        return datasets.register(
            connection,
            declaration=parse(Declaration, heights_fields(**fields)),
            owner=owner,
            delivery=name,
            now=bench.clock(),
        )


def given_heights(bench: Bench, people: Mapping[str, float] = PEOPLE, **fields: Any) -> Dataset:
    """Imported and READY."""
    dataset = given_delivery(bench, {"participants.tsv": table_text(people)}, **fields)
    import_dataset(bench.zone, dataset.id)
    return imported(bench, dataset.id)


def imported(bench: Bench, dataset_id: str) -> Dataset:
    with bench.database.reading() as connection:
        return datasets.get(connection, dataset_id)


def submit(
    bench: Bench,
    source: str = MEAN,
    *,
    queued: bool = True,
    image_digest: str | None = None,
    **overrides: Any,
) -> str:
    """A job on record, QUEUED and announced to the workers."""
    request = parse(JobRequest, request_fields(source, **overrides)).kept()
    job_id, now = f"job-{next(_numbers):06d}", bench.clock()
    with bench.database.transaction() as connection:
        dataset = datasets.newest(connection, request.dataset, given_user(connection, "ada"))
        jobs.submit(
            connection,
            job_id=job_id,
            author="ada",
            dataset=dataset,
            request=request,
            image_digest=image_digest or bench.zone.image.digest,
            now=now,
        )
        if queued:
            move(connection, job_id, JobState.SUBMITTED, JobState.QUEUED, Actor.POLICY, now)
    if queued:
        bench.sent.run_job(job_id)
    return job_id


def move(
    connection: sa.Connection, job_id: str, before: JobState, after: JobState, actor: Actor, now: datetime
) -> bool:
    return jobs.move(connection, job_id, before, after, actor=actor, now=now)


def cancel(bench: Bench, job_id: str) -> None:
    with bench.database.transaction() as connection:
        before = jobs.get(connection, job_id).state
        assert move(connection, job_id, before, JobState.CANCELLED, Actor.DATA_USER, bench.clock())


def destroy(bench: Bench) -> None:
    """Database and zone; who looks at the same places afterwards finds nothing."""
    bench.database.engine.dispose()
    if bench.database.is_sqlite:
        place = Path(str(bench.database.engine.url.database))
        for path in place.parent.glob(f"{place.name}*"):
            path.unlink()
    else:
        with bench.database.engine.begin() as connection:
            connection.execute(sa.text("DROP SCHEMA public CASCADE"))
            connection.execute(sa.text("CREATE SCHEMA public"))
        bench.database.engine.dispose()
    shutil.rmtree(bench.zone.settings.zone_folder)
    bench.sent.queue.clear()


def check_books(bench: Bench) -> None:
    """Entries sum to accounts, charges equal what stands, the chain holds, nothing un-noised is left."""
    entries, found = bench.rows(ledger_entries), {row["id"]: row for row in bench.rows(accounts)}
    for number, account in found.items():
        total = {
            action: sum(e["amount"] for e in entries if e["account_id"] == number and e["action"] == action)
            for action in ("reserve", "charge", "refund")
        }
        assert account["spent"] == total["charge"]
        assert account["reserved"] == total["reserve"] - total["charge"] - total["refund"]
    with bench.database.reading() as connection:
        assert audit.verify(connection).intact
    released = {row["job_id"] for row in bench.rows(release_rows)}
    charged = {entry["job_id"] for entry in entries if entry["action"] == "charge"}
    assert released <= charged
    # what a catch-up has spent again stands there by the catch-up's own name
    for job_id in {entry["job_id"] for entry in entries if not entry["job_id"].startswith("catch-up-")}:
        state = bench.job(job_id).state
        if state in (JobState.RELEASED, JobState.CANCELLED, JobState.ERRORED, JobState.REJECTED):
            assert not [row for row in bench.rows(run_outputs) if row["job_id"] == job_id]
            assert not [row for row in bench.rows(chunk_rows) if row["job_id"] == job_id]
        if state is JobState.RELEASED:
            assert job_id in released
            assert bench.moves(job_id).count(("AGGREGATING", "IN_REVIEW")) == 1

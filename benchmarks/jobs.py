"""End to end: from submit to release on the real embedded stack, against plain subprocesses on its blocks.

    python benchmarks/jobs.py [--quick] [--alone 32000]

The plain side runs the same pipeline once per block with subprocess.run, without any isolation, one after the
other and two at a time. Coarse timing: padded jobs take the time that is computed in advance. With --alone
only the platform's side is measured, of so many people in blocks of one.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from job_cases import Case, big_table, heights

from domain.dataset import Dataset
from domain.job import JobRequest
from domain.model import parse
from domain.permissions import Role, User
from dpgate.cli.registration import add_dataset
from dpgate.client import Client
from dpgate.embedded.home import Home
from dpgate.embedded.stack import Stack
from privacy.plan import Blocks
from privacy.sample_aggregate import SampleAggregate
from store import datasets
from store.database import Database
from store.tables import audit_events
from worker.config import WorkerSettings
from worker.order import order_for
from worker.sandbox.core.scratch import default_scratch_root
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import Audience
from worker.sealed_source import SealedSource
from worker.stage import cut, open_people
from worker.zone import WorkerZone, open_zone

LONGEST_S = 3600.0


def release_s(client: Client, request: dict[str, Any]) -> float:
    """Seconds from submit to a release that can be read."""
    return ask(client, request)[1]


def ask(client: Client, request: dict[str, Any]) -> tuple[str, float]:
    manifest = {**request["pipeline"]["manifest"], "name": f"b-{uuid.uuid4().hex[:12]}"}
    asked = {**request, "pipeline": {**request["pipeline"], "manifest": manifest}}
    started = time.monotonic()
    job = client.submit(asked).wait(timeout_s=LONGEST_S, poll_s=0.05)
    taken = time.monotonic() - started
    if job.state != "RELEASED":
        raise RuntimeError(f"{job.state}: {job.reason}")
    return job.id, taken


def phases(stack: Stack, job_id: str) -> Iterator[tuple[str, float]]:
    """Where one job's time went, from its audit events."""
    database = Database(stack.database_url)
    with database.reading() as connection:
        query = sa.select(audit_events.c.at, audit_events.c.details).where(audit_events.c.subject == job_id)
        at = {row.details.get("after", "SUBMITTED"): row.at for row in connection.execute(query)}
    database.close()
    names = {
        ("SUBMITTED", "PREPARING"): "message and claim",
        ("PREPARING", "RUNNING"): "checks and charge",
        ("RUNNING", "AGGREGATING"): "messages, runs, coarse step",
        ("AGGREGATING", "RELEASED"): "noise and publish",
    }
    for (before, after), what in names.items():
        yield what, (at[after] - at[before]).total_seconds()


def plain_s(case: Case, work: Path, *, at_once: int) -> float:
    """The same pipeline on blocks that lie ready in folders, without isolation, queue or noise."""
    blocks = sorted((work / f"plain-{case.blocks}").iterdir())
    interpreter = "/usr/bin/python3"

    def run(block: Path) -> None:
        target = Path(tempfile.mkdtemp(dir=work))
        for level in case.levels:
            command = [interpreter, *case.command, str(block), str(target), level]
            subprocess.run(command, check=False, stderr=subprocess.DEVNULL)

    started = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(run, blocks))
    return time.monotonic() - started


def cut_plain(case: Case, work: Path) -> None:
    """Blocks as folders; the time for this is not counted."""
    delimiter = "\t" if case.table.endswith("tsv") else ","
    with (case.data / case.table).open(newline="") as file:
        header, *rows = csv.reader(file, delimiter=delimiter)
    for number in range(case.blocks):
        block = work / f"plain-{case.blocks}" / f"{number:04d}"
        block.mkdir(parents=True)
        with (block / case.table).open("w", newline="") as file:
            csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(
                [header, *rows[number :: case.blocks]]
            )


def split(stack: Stack, case: Case) -> Iterator[tuple[str, float]]:
    """Where the worker's time goes for one chunk, measured in this process on the platform's own zone."""
    settings = WorkerSettings(
        database_url=stack.database_url,
        broker_url=stack.broker_url,
        zone_folder=stack.home.worker_zone,
        scratch_folder=default_scratch_root(),
    )
    zone = open_zone(settings, image=describe(), messages=None, slot=50)  # type: ignore[arg-type]
    with zone.database.reading() as connection:
        visible = datasets.visible_to(connection, User(name="researcher", role=Role.DATA_USER))
    newest = next(dataset for dataset in visible if dataset.name == case.declaration.name)
    yield from _timed(zone, newest, case)
    zone.close()


def _timed(zone: WorkerZone, dataset: Dataset, case: Case) -> Iterator[tuple[str, float]]:
    started = time.monotonic()
    snapshot = zone.sealed.of(dataset).snapshots.open(str(dataset.snapshot))
    people = open_people(dataset.declaration, SealedSource(snapshot))
    yield "open the snapshot", time.monotonic() - started
    started = time.monotonic()
    blocks = cut(
        people,
        Blocks(case.blocks, dataset.declaration.nominal_size),
        key=bytes(32),
        wanted=range(0, case.blocks, 2),
    )
    yield "assign people to blocks", time.monotonic() - started
    started = time.monotonic()
    staged = list(itertools.islice(blocks.values(), 20))
    yield "cut 20 blocks", time.monotonic() - started
    request = parse(JobRequest, case.request)
    order = order_for(request.pipeline, image=zone.image, audience=Audience.ORIGINAL)
    with zone.sandbox.open_slot(order, slot=50) as slot:
        started = time.monotonic()
        for block in staged:
            slot.run(block)
    yield "20 sandboxed runs", time.monotonic() - started
    mechanism = request.mechanism_for(dataset.declaration)
    assert isinstance(mechanism, SampleAggregate)
    started = time.monotonic()
    mechanism.release([None] * case.blocks)
    yield "noise and aggregate", time.monotonic() - started


@contextmanager
def platform(work: Path) -> Iterator[tuple[Stack, Client, Client]]:
    with Stack(Home(work / "home"), slots=2) as stack:
        with stack.client() as operator:
            holder = operator.add_user("holder", "rights_holder")["token"]
            researcher = operator.add_user("researcher", "data_user")["token"]
        with stack.client(holder) as theirs, stack.client(researcher) as ours:
            yield stack, theirs, ours


def report(stack: Stack, holder: Client, researcher: Client, case: Case, work: Path, *, times: int) -> None:
    started = time.monotonic()
    add_dataset(holder, case.data, case.declaration, deliveries=stack.home.deliveries)
    imported_s = time.monotonic() - started
    release_s(researcher, case.request)  # the workers are warm after this
    ours = min(release_s(researcher, case.request) for _ in range(times))
    cut_plain(case, work)
    one, two = (min(plain_s(case, work, at_once=n) for _ in range(times)) for n in (1, 2))
    print(f"\n{case.title}")
    print(f"  check, deliver and import      {imported_s:8.2f} s")
    print(f"  submit to release              {ours:8.2f} s   {case.blocks / ours:6.1f} blocks/s")
    print(f"  plain, one after the other     {one:8.2f} s   ratio {ours / one:5.2f}")
    print(f"  plain, two at a time           {two:8.2f} s   ratio {ours / two:5.2f}")
    for what, seconds in split(stack, case):
        print(f"    {what:<28} {seconds * 1000:8.1f} ms")


def processor_s() -> float:
    """Seconds of processor of this process and of all below it, with those that they have waited for. What
    the kernel does elsewhere for them, such as removing namespaces, is not in it."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(name)] = int(fields[1])
        used[int(name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return sum(seconds for process, seconds in used.items() if os.getpid() in _line_of(process, parents))


def _line_of(process: int, parents: dict[int, int]) -> Iterator[int]:
    while process:
        yield process
        process = parents.get(process, 0)


def alone(stack: Stack, holder: Client, researcher: Client, work: Path, *, people: int) -> None:
    """A run for each person, and where the time of them went."""
    case = big_table(work, people=people, block_size=1)
    add_dataset(holder, case.data, case.declaration, deliveries=stack.home.deliveries)
    before = processor_s()
    job_id, taken = ask(researcher, case.request)
    used = processor_s() - before
    print(f"\n{case.title}: submit to release {taken:.1f} s, {people / taken:.0f} runs/s")
    print(
        f"    {'processor time of a run':<28} {used / people * 1000:10.1f} ms, load {os.getloadavg()[0]:.0f}"
    )
    for what, seconds in [*phases(stack, job_id), *split(stack, case)]:
        print(f"    {what:<28} {seconds * 1000:10.1f} ms")


def main(*, quick: bool, people_alone: int | None) -> None:
    work = Path(tempfile.mkdtemp(prefix="dpgate-bench-"))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}")
    try:
        with platform(work) as (stack, holder, researcher):
            if people_alone:
                alone(stack, holder, researcher, work, people=people_alone)
                return
            small, tiny = heights(step_s=0.2), heights(step_s=0.05)
            report(stack, holder, researcher, small, work, times=3)
            add_dataset(holder, tiny.data, tiny.declaration, deliveries=stack.home.deliveries)
            asked = sorted((ask(researcher, tiny.request) for _ in range(4)), key=lambda one: one[1])
            taken = [seconds for _, seconds in asked]
            print(f"  step 0.05: {taken[0]:.2f} s at best, {taken[2]:.2f} s the third of 4")
            for what, seconds in phases(stack, asked[0][0]):
                print(f"    {what:<28} {seconds * 1000:8.1f} ms")
            if not quick:
                report(stack, holder, researcher, big_table(work), work, times=1)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the large table")
    parser.add_argument("--alone", type=int, help="so many people, each in a block of their own")
    arguments = parser.parse_args()
    main(quick=arguments.quick, people_alone=arguments.alone)

"""Whether a heavy person shows in the time of a padded release: pairs of neighbours on the embedded stack.

    python benchmarks/neighbours.py [--pairs 20] [--rows 1500000] [--most 1000] [--load 0] [--at-once]

Half of the pairs differ in whether somebody with so many rows is there, half in whether somebody has so many
or ten. A declaration without `most_rows` is refused, so there is no control without one. `--load` starts so
many busy processes beside. `--at-once` submits the two jobs of a pair together, to a platform with two slots
on one host. Prints for each release how many ticks after its due time it came.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from domain.dataset import Declaration
from domain.model import parse
from domain.pipeline import Source
from dpgate.cli.registration import add_dataset
from dpgate.client import Client
from dpgate.embedded import stack
from dpgate.embedded.home import Home
from dpgate.embedded.stack import Stack
from store.database import Database
from store.tables import jobs
from worker.sandbox.core.scratch import default_scratch_root

PEOPLE, BLOCK, LIGHT_ROWS = 20, 3, 10
LATE_TICK_S = 60  # the default of workers
BUSY = "while True: pass"
APP = b"""\
import sys
with open(sys.argv[1] + "/visits.csv") as file:
    rows = [float(line.split(",")[1]) for line in file.read(2_000_000).splitlines()[1:-1]] or [0.0]
with open(sys.argv[2] + "/result.tsv", "w") as file:
    file.write("%r\\n" % (sum(rows) / len(rows)))
"""


def data_of(folder: Path, *, heavy_rows: int | None) -> Path:
    """Everybody with ten rows; one more person with so many, or nobody more."""
    folder.mkdir()
    people = [f"p{number:02d}" for number in range(PEOPLE)] + ["p99"] * (heavy_rows is not None)
    with (folder / "people.csv").open("w") as file:
        file.writelines(f"{name}\n" for name in ["who", *people])
    with (folder / "visits.csv").open("w") as file:
        file.write("who,score\n")
        for name in people:
            rows = (heavy_rows or 0) if name == "p99" else LIGHT_ROWS
            file.writelines(f"{name},{number % 100}\n" for number in range(rows))
    return folder


def declared(name: str, most: int) -> Declaration:
    visits: dict[str, Any] = {
        "path": "visits.csv",
        "rows_per_person": "many",
        "columns": [
            {"name": "who", "kind": "person"},
            {"name": "score", "kind": "number", "lower": 0, "upper": 100},
        ],
        "most_rows": most,
    }
    return parse(
        Declaration,
        {
            "name": name,
            "title": "Generated",
            "privacy_unit": {"table": "people.csv", "column": "who"},
            "nominal_size": PEOPLE,
            "tables": [{"path": "people.csv", "columns": [{"name": "who", "kind": "person"}]}, visits],
            "budget_epsilon": "1000",
            "new_people": True,
            "policy": {
                "data_users": ["researcher"],
                "images": ["host-python"],
                "accepted_channels": ["page_faults"],
                "max_epsilon_per_job": "10",
            },
        },
    )


def request_for(dataset: str) -> dict[str, Any]:
    output = {"file": "result.tsv", "values": [{"name": "score", "lower": 0, "upper": 100}]}
    manifest = {
        "name": f"b-{uuid.uuid4().hex[:12]}",
        "image": "host-python",
        "command": ["python3", "/pipeline/app.py"],
        "levels": ["group"],
        "outputs": [output],
        "resources": {"wall_seconds": 0.5, "memory_mib": 256},
    }
    return {
        "dataset": dataset,
        "pipeline": {"manifest": manifest, "sources": [Source.of("app.py", APP).model_dump()]},
        "shape": {"files": [{"file": "result.tsv", "rows": [[None]]}]},
        "mechanism": {"name": "sample_aggregate", "epsilon": "1", "block_size": BLOCK},
        "anyway": True,
    }


def ticks_late(platform: Stack, client: Client, dataset: str) -> int:
    """How many ticks after its due time a release of this data set comes."""
    job = client.submit(request_for(dataset)).wait(timeout_s=900, poll_s=0.2)
    if job.state != "RELEASED":
        raise RuntimeError(f"{job.state}: {job.reason}")
    database = Database(platform.database_url)
    with database.reading() as connection:
        row = connection.execute(sa.select(jobs).where(jobs.c.id == job.id)).one()
    database.close()
    return round((row.publish_at - row.due_at).total_seconds() / LATE_TICK_S)


@contextmanager
def busy(count: int) -> Iterator[None]:
    started = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


@contextmanager
def host_of_its_own() -> Iterator[None]:
    """A scratch folder beside that of other workers: runs that are alone would wait for theirs."""
    with tempfile.TemporaryDirectory(dir=default_scratch_root().parent, prefix="dpgate-bench-") as folder:
        Path(folder).chmod(0o711)
        own, stack.default_scratch_root = stack.default_scratch_root, lambda: Path(folder)
        try:
            yield
        finally:
            stack.default_scratch_root = own


def main(*, pairs: int, rows: int, most: int, load: int, at_once: bool) -> None:
    work = Path(tempfile.mkdtemp(prefix="dpgate-bench-"))
    try:
        with host_of_its_own(), Stack(Home(work / "home"), slots=2 if at_once else 1) as platform:
            with platform.client() as operator:
                holder = operator.add_user("holder", "rights_holder")["token"]
                researcher = operator.add_user("researcher", "data_user")["token"]
            with platform.client(holder) as theirs, platform.client(researcher) as ours:
                for name, amount in (("absent", None), ("light", 10), ("heavy", rows)):
                    started = time.monotonic()
                    folder = data_of(work / name, heavy_rows=amount)
                    add_dataset(theirs, folder, declared(name, most), deliveries=platform.home.deliveries)
                    print(f"{name}: imported in {time.monotonic() - started:.1f} s", flush=True)
                with busy(load):
                    _compare(platform, ours, pairs, at_once=at_once)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _compare(platform: Stack, client: Client, pairs: int, *, at_once: bool) -> None:
    alike, late = 0, 0
    for number in range(pairs):
        before = ("absent", "light")[number % 2]
        with ThreadPoolExecutor(2 if at_once else 1) as pool:
            ticks = list(pool.map(partial(ticks_late, platform, client), (before, "heavy")))
        alike += ticks[0] == ticks[1]
        late += sum(tick > 0 for tick in ticks)
        load = os.getloadavg()[0]
        print(f"{number + 1:3} {before:>6} {ticks[0]} heavy {ticks[1]}  load {load:.1f}", flush=True)
    print(f"{alike} of {pairs} pairs at the same tick; {late} of {2 * pairs} releases late")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1_500_000)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--at-once", action="store_true")
    main(**vars(parser.parse_args()))

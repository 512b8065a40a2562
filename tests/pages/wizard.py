"""A researcher with the submit wizard, and a worker that takes their rehearsals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from certified import MASTER
from serving import Console, Visitor
from zones import Bench, open_bench

from domain.rehearsal import RehearsalState
from domain.states import Actor, JobState
from store import jobs, ledger, rehearsals
from store.keys import create_keys
from worker.rehearse import rehearse

CODE = b'''"""Mean age and height, one line for each value."""
import csv

with open("/in/participants.tsv", newline="") as table:
    rows = list(csv.DictReader(table, delimiter="\\t"))
ages = [float(row["age"]) for row in rows]
heights = [float(row["height"]) for row in rows]
print("people:", len(rows))
with open("/out/result.tsv", "w") as result:
    result.write("mean_age\\tmean_height\\n")
    result.write(f"{sum(ages) / len(ages)}\\t{sum(heights) / len(heights)}\\n")
'''
FORM = {
    "name": "age-and-height",
    "image": "python",
    "command": "python3 /pipeline/main.py",
    "levels": "group",
    "outputs": "result.tsv mean_age\nresult.tsv mean_height",
    "wall_seconds": "10",
    "memory_mib": "256",
}
BOUNDS = {
    "lower-0-values-0": "16",
    "upper-0-values-0": "90",
    "lower-0-values-1": "1.2",
    "upper-0-values-1": "2.2",
}


@dataclass(frozen=True)
class Wizard:
    """The draft of somebody without scripts."""

    visitor: Visitor
    place: str

    @property
    def draft_id(self) -> str:
        return self.place.rpartition("/")[2]

    def look(self, step: str) -> httpx.Response:
        return self.visitor.get(f"{self.place}/{step}")

    def send(self, step: str, **fields: str) -> httpx.Response:
        return self.visitor.send(f"{self.place}/{step}", **fields)

    def upload(self, *files: tuple[str, bytes]) -> httpx.Response:
        return self.visitor.client.post(
            f"{self.place}/files",
            data={"csrf": self.visitor.hidden_field()},
            files=[("files", (name, content)) for name, content in files],
        )

    def up_to_rehearsal(self, code: bytes = CODE, **form: str) -> None:
        assert self.upload(("main.py", code)).status_code == 303
        assert self.send("pipeline", **{**FORM, **form}).status_code == 303
        assert self.send("rehearsal", block_size="10").status_code == 303


def start(visitor: Visitor, dataset: str = "heights") -> Wizard:
    """A new draft on this data set."""
    answer = visitor.send("/jobs/new", dataset=dataset)
    assert answer.status_code == 303, answer.text
    found = re.fullmatch(r"(/jobs/new/[0-9a-f-]{36})/pipeline", answer.headers["location"])
    assert found
    return Wizard(visitor, found[1])


def spent(console: Console) -> list[tuple[int, int]]:
    """What is set aside and charged of the budget of the story's first data set."""
    with console.database.reading() as connection:
        return [(a.reserved, a.spent) for a in ledger.list_accounts(connection, cohort="heights")]


@contextmanager
def worker_of(console: Console, folder: Path) -> Iterator[Bench]:
    """The worker zone of the console's database, whose key has signed the releases of the story; `work` makes
    it take what waits."""
    key = folder / "zone" / "master.key"
    create_keys(key)
    key.write_bytes(MASTER)
    with open_bench(console.database.url, folder) as bench:
        yield bench


def work(bench: Bench) -> None:
    """Take every rehearsal that waits, when the jobs of the story have ended."""
    with bench.database.transaction() as connection:
        for state in (JobState.QUEUED, JobState.RUNNING):
            for job_id in jobs.in_state(connection, state, now=bench.clock()):
                jobs.move(
                    connection, job_id, state, JobState.CANCELLED, actor=Actor.OPERATOR, now=bench.clock()
                )
    bench.clock.forward(3600)
    with bench.database.reading() as connection:
        found = rehearsals.overdue(connection, now=bench.clock())
    for rehearsal in found:
        if rehearsal.state is RehearsalState.QUEUED:
            rehearse(bench.zone, rehearsal.id)

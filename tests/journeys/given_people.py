"""A running platform, its people, and what they did with programs before somebody looks at a page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import yaml
from warm_stack import WarmStack
from zones import own_scratch_root

from domain.pipeline import Source
from dpgate.cli.registration import add_source, deliver
from dpgate.client import Client
from dpgate.embedded.home import Home
from dpgate.embedded.stack import Stack
from dpgate.job import Job
from store.database import Database
from store.tables import jobs

PEOPLE = 30
BLOCK = 3
COARSE = {"mode": "coarse", "step_seconds": 0.2}
HEADER = "participant_id\tage\tsleep"
CODE = """\
import csv
with open("/in/participants.tsv", newline="") as table:
    rows = list(csv.DictReader(table, delimiter="\\t"))
hours = [float(row["sleep"]) for row in rows]
print("people:", len(rows))
with open("/out/result.tsv", "w") as result:
    result.write("mean_sleep\\n%r\\n" % (sum(hours) / len(hours)))
"""
COMMAND = "python3 /pipeline/main.py"


@dataclass(frozen=True)
class Person:
    """Somebody whom the operator has added; the first password is for the first login."""

    name: str
    token: str
    password: str


@dataclass
class Town:
    """The platform. What is done here goes through the HTTP interface, as programs do it."""

    stack: Stack
    folder: Path
    people: dict[str, Person] = field(default_factory=dict)

    def add(self, name: str, role: str) -> Person:
        with self.stack.client() as operator:
            added = operator.add_user(name, role)
        self.people[name] = Person(name, added["token"], added["initial_password"])
        return self.people[name]

    def client(self, person: Person) -> Client:
        return self.stack.client(person.token)

    def data(self, name: str) -> Path:
        """A folder with invented people."""
        folder = self.folder / name / "data"
        folder.mkdir(parents=True)
        rows = [f"sub-{n:02d}\t{20 + n % 40}\t{6 + n % 5 / 2}" for n in range(1, PEOPLE + 1)]
        text = "\n".join([HEADER, *rows]) + "\n"
        (folder / "participants.tsv").write_text(text, encoding="utf-8")
        return folder

    def register(self, name: str, owner: Person, **policy: Any) -> None:
        """A data set that is ready; its budget is epsilon 2.5."""
        data = self.data(name)
        declaration = data.parent / "dataset.yaml"
        declaration.write_text(yaml.safe_dump(declared(name, **policy)), encoding="utf-8")
        with self.client(owner) as client:
            found = add_source(
                client, str(data), declaration, deliveries=self.stack.home.deliveries, resumed=None,
                step=_unseen,
            )  # fmt: skip
        assert found.state == "READY", found.problem

    def deliver(self, name: str, declaration: Path) -> str:
        """What `dpgate dataset deliver` does; returns the delivery number."""
        data = self.data(name)
        folder = deliver(
            str(data), declaration, deliveries=self.stack.home.deliveries, resumed=None, step=_unseen
        )
        return folder.name

    def rehearse(self, author: Person, dataset: str) -> None:
        """The pipeline has run on the twin when this returns."""
        with self.client(author) as client:
            asked = client.rehearsals.request(dataset, pipeline(), block_size=BLOCK)
            found = client.rehearsals.wait(asked, poll_s=0.2)
        assert found.state == "DONE", found

    def submit(self, author: Person, dataset: str, epsilon: str, *, project: str | None = None) -> Job:
        with self.client(author) as client:
            return client.submit(request(dataset, epsilon, project=project))

    def waits_since(self, job_id: str, *, minutes: int) -> None:
        """As if the job had come into its state so long ago: nobody waits for that in a test."""
        database = Database(self.stack.database_url)
        with database.transaction() as connection:
            moved = datetime.now(UTC) - timedelta(minutes=minutes)
            connection.execute(sa.update(jobs).where(jobs.c.id == job_id).values(moved_at=moved))
        database.close()


def declared(name: str, **policy: Any) -> dict[str, Any]:
    columns = [
        {"name": "participant_id", "kind": "person"},
        {"name": "age", "kind": "integer", "lower": 16, "upper": 90, "description": "years at the visit"},
        {"name": "sleep", "kind": "number", "lower": 0, "upper": 14, "decimals": 1,
         "typical": {"mean": 7, "sd": 1}, "description": "hours in the last night"},
    ]  # fmt: skip
    return {
        "name": name,
        "title": "Sleep of students",
        "description": "How long students slept. Invented for a test.",
        "citation": "Nobody (2026). Sleep of invented students.",
        "licence": "CC0 1.0",
        "privacy_unit": {"table": "participants.tsv", "column": "participant_id"},
        "nominal_size": PEOPLE,
        "tables": [{"path": "participants.tsv", "columns": columns}],
        "new_people": True,
        "budget_epsilon": "2.5",
        "policy": {
            "images": ["host-python"],
            "accepted_channels": ["page_faults"],
            "max_epsilon_per_job": "2",
            "timing": COARSE,
            **policy,
        },
    }


def pipeline() -> dict[str, Any]:
    manifest = {
        "name": "mean-sleep",
        "image": "host-python",
        "command": COMMAND.split(),
        "outputs": [
            {"file": "result.tsv", "values": [{"name": "mean_sleep", "lower": 0, "upper": 14}]},
        ],
        "resources": {"wall_seconds": 20},
    }
    return {"manifest": manifest, "sources": [Source.of("main.py", CODE.encode()).model_dump()]}


def request(dataset: str, epsilon: str, *, project: str | None = None) -> dict[str, Any]:
    """The body of a job request."""
    return {
        "dataset": dataset,
        "pipeline": pipeline(),
        "shape": {"files": [{"file": "result.tsv", "rows": [["mean_sleep"], [None]]}]},
        "mechanism": {"name": "sample_aggregate", "epsilon": epsilon, "block_size": BLOCK},
        "anyway": True,
    } | ({"project": project} if project else {})


def next_year() -> str:
    return (datetime.now(UTC).date() + timedelta(days=300)).isoformat()


@contextmanager
def open_town(folder: Path) -> Iterator[Town]:
    # the worker hears of a drain when it sweeps. With one scratch folder it would take turns with
    # platforms of other processes, and a rehearsal waits as long as any of them runs a job
    settings = {"DPGATE_SWEEP_EVERY_S": "1", "DPGATE_SCRATCH_FOLDER": str(own_scratch_root("journeys"))}
    with WarmStack(Home(folder / "home"), slots=2, settings=settings) as stack:
        yield Town(stack, folder)


def _unseen(_done: int, _total: int) -> None:
    """Nobody watches the copy."""

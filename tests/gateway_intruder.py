"""What somebody does with the database account of a gateway: rows, and no file or key of the worker zone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from heights import LOWER, PEOPLE, UPPER, request_fields, table_text
from zones import Bench, given_delivery, imported, submit

from domain.dataset import Dataset
from domain.states import JobState
from dpgate.mandates import Custody
from store import datasets
from store.zone_ledger import Kind
from worker.catching_up import begin_ledger
from worker.importing import import_dataset

DECLARED, WANTED = "1", "1000"
TARGETS = ("sub-1", "sub-7", "sub-12")
AT_ONCE = {"mode": "coarse", "step_seconds": 0.001}
NEAR_CM = 4.0
BLOCKS = 4


def given_guarded(bench: Bench, custody: Custody | None = None) -> Dataset:
    """Heights, of which the rights holder allows one job of epsilon 1 in all; signed, if they have a key."""
    policy = {"max_epsilon_per_job": DECLARED, "timing": AT_ONCE}
    files = {"participants.tsv": table_text(PEOPLE)}
    given = given_delivery(bench, files, budget_epsilon=DECLARED, policy=policy)
    with bench.database.reading() as connection:
        delivery = datasets.delivery_of(connection, given.id)
    deliveries = bench.zone.settings.deliveries_folder
    if custody is not None:
        custody.enrol_with(deliveries / delivery)
    import_dataset(bench.zone, given.id)
    if custody is not None:
        signed = custody.first_for(given.declaration, version=given.version, delivery=delivery)
        custody.deliver(signed, deliveries)
    return imported(bench, given.id)


@contextmanager
def rows_of(bench: Bench) -> Iterator[sqlite3.Connection]:
    """The account of the database: whoever owns tables can take their triggers away."""
    with closing(sqlite3.connect(database_file(bench), isolation_level=None)) as rows:
        rows.execute("BEGIN IMMEDIATE")
        for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            rows.execute(f'DROP TRIGGER "{name}"')
        yield rows
        rows.execute("COMMIT")


def allow_everything(bench: Bench) -> None:
    """Another policy than the rights holder's, as the newest, and a thousand times their cap."""
    with rows_of(bench) as rows:
        number, body = rows.execute("SELECT number, body FROM policies ORDER BY number DESC").fetchone()
        mine = json.dumps(json.loads(body) | {"max_epsilon_per_job": WANTED})
        rows.execute(
            "INSERT INTO policies SELECT name, ?, ?, changed_by, at, reason FROM policies WHERE number = ?",
            (number + 1, mine, number),
        )
        rows.execute("UPDATE accounts SET cap = 1000 * cap")


def raise_caps(bench: Bench) -> None:
    with rows_of(bench) as rows:
        rows.execute("UPDATE accounts SET cap = 1000 * cap")


def show_under(bench: Bench, dataset_id: str, *, snapshot: str) -> None:
    """Another version's data under this one's name and policy."""
    with rows_of(bench) as rows:
        rows.execute("UPDATE datasets SET snapshot = ? WHERE id = ?", (snapshot, dataset_id))


def ask_to_erase(bench: Bench, name: str = "heights", *, erasure_id: str) -> None:
    """Rows as if a rights holder had asked, and every version were withdrawn."""
    with rows_of(bench) as rows:
        rows.execute("UPDATE datasets SET state = 'WITHDRAWN' WHERE name = ?", (name,))
        rows.execute(
            "INSERT INTO erasures (id, name, asked_by, asked_at) SELECT ?, name, owner, created_at "
            "FROM datasets WHERE name = ? LIMIT 1",
            (erasure_id, name),
        )


def reading(people: Sequence[str], *, epsilon: str) -> dict[str, Any]:
    """A request for one value for each of these people: the height where a block holds the person."""
    source = (
        'rows = [l.split("\\t") for l in open("/in/participants.tsv").read().splitlines()[1:]]\n'
        "found = {row[0]: row[-1] for row in rows}\n"
        f'line = "\\t".join(found.get(person, "{LOWER}.0") for person in {tuple(people)!r})\n'
        f'head = "\\t".join("v%d" % number for number in range({len(people)}))\n'
        'open("/out/result.tsv", "w").write(head + "\\n" + line + "\\n")\n'
    )
    names = [f"v{number}" for number in range(len(people))]
    fields = request_fields(source, epsilon=epsilon)
    values = [{"name": name, "lower": LOWER, "upper": UPPER} for name in names]
    fields["pipeline"]["manifest"]["outputs"] = [{"file": "result.tsv", "values": values}]
    fields["shape"] = {"files": [{"file": "result.tsv", "rows": [names, [None] * len(names)]}]}
    return fields


def ask(bench: Bench, *, epsilon: str) -> str:
    """A job of somebody who may ask, for a value for each target."""
    return submit(bench, **reading(TARGETS, epsilon=epsilon))


def heights(bench: Bench, job_id: str) -> list[float]:
    """What the release says of each target: the mean over the blocks, of which one holds the person."""
    return [BLOCKS * value.value - (BLOCKS - 1) * LOWER for value in bench.release(job_id).values]


def hits(found: Sequence[float]) -> int:
    """How many heights are known within 4 cm."""
    return sum(abs(height - PEOPLE[name]) < NEAR_CM for height, name in zip(found, TARGETS, strict=True))


def run_to_the_draw(bench: Bench) -> None:
    """All messages but the last: the outputs lie sealed in the database, and nothing is drawn."""
    while bench.sent.queue and bench.sent.queue[0][0] != "publish":
        bench.deliver(bench.sent.queue.popleft())


def remember(bench: Bench, folder: Path) -> Path:
    """A copy of all rows."""
    copy = folder / f"rows-{len(list(folder.glob('rows-*')))}"
    with closing(sqlite3.connect(database_file(bench), isolation_level=None)) as rows:
        rows.execute("VACUUM INTO ?", (str(copy),))
    return copy


def put_back(bench: Bench, copy: Path, *, only: Sequence[str] = ()) -> None:
    """Rows as they were, of all tables or these: what was done since is erased."""
    with closing(sqlite3.connect(database_file(bench), isolation_level=None)) as rows:
        rows.execute("ATTACH ? AS before", (str(copy),))
        rows.execute("BEGIN IMMEDIATE")
        for kind, name in rows.execute("SELECT type, name FROM main.sqlite_master").fetchall():
            if kind == "trigger":
                rows.execute(f'DROP TRIGGER "{name}"')
        tables = rows.execute("SELECT name FROM before.sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in tables:
            if not name.startswith("sqlite_") and (not only or name in only):
                rows.execute(f'DELETE FROM main."{name}"')
                rows.execute(f'INSERT INTO main."{name}" SELECT * FROM before."{name}"')
        rows.execute("COMMIT")


def start_without_charge(bench: Bench, job_id: str) -> None:
    """A job that waits, as if a worker had charged it: its chunks wait, and no account knows of it."""
    with rows_of(bench) as rows:
        rows.execute(
            "UPDATE jobs SET state = ?, slots = 2, charged_at = moved_at, due_at = moved_at WHERE id = ?",
            (JobState.RUNNING.value, job_id),
        )
        for number in range(2):
            rows.execute(
                "INSERT INTO chunks (job_id, number, state, attempts) VALUES (?, ?, 'WAITING', 0)",
                (job_id, number),
            )
        rows.execute("DELETE FROM ledger_entries WHERE job_id = ?", (job_id,))
        rows.execute("UPDATE accounts SET reserved = 0")


def change_request(bench: Bench, job_id: str, *, epsilon: str) -> None:
    """A job on record asks for more than was charged."""
    with rows_of(bench) as rows:
        (body,) = rows.execute("SELECT request FROM jobs WHERE id = ?", (job_id,)).fetchone()
        asked = json.loads(body)
        asked["mechanism"]["epsilon"] = epsilon
        rows.execute("UPDATE jobs SET request = ? WHERE id = ?", (json.dumps(asked), job_id))


def empty_accounts(bench: Bench) -> None:
    """Nothing is spent any more, and no entry says that something was."""
    with rows_of(bench) as rows:
        rows.execute("UPDATE accounts SET spent = 0")
        rows.execute("DELETE FROM ledger_entries")


def forget(bench: Bench) -> None:
    """Not what an intruder can do: the zone as it would be without a ledger of its own."""
    bench.zone.ledger.path.unlink()
    begin_ledger(bench.zone.ledger, bench.database, anew=True)


def refusals(bench: Bench) -> list[str]:
    """What the zone's ledger has on record of jobs that it held back, once it is checked."""
    with bench.zone.ledger.reading() as page:
        return [entry.subject for entry in page.entries() if entry.kind is Kind.REFUSED]


def database_file(bench: Bench) -> str:
    found = bench.database.engine.url.database
    assert found is not None
    return found

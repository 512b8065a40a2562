"""Imports: sealed at rest, repeatable, and the same people never get a second budget."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from heights import COLUMNS, PEOPLE, table_text
from waiting import PATIENCE_S
from zones import Bench, check_books, given_delivery, given_heights, host_image, imported, submit

from domain.dataset import Dataset, DatasetState, ImportProblem
from formats.checksums import MANIFEST, manifest
from store.blobs import BlobArea
from store.tables import accounts
from worker import importing
from worker.config import WorkerSettings
from worker.importing import finish, import_dataset, remove_settled_deliveries
from worker.sweep import sweep
from worker.zone import open_zone

CANARY = "sub-canary2f9c"
BIDS = {
    "layout": "bids",
    "person_files": [{"path": "{person}/note.txt"}],
    "public_files": [
        {"path": "dataset_description.json", "text": '{"Name": "Heights", "BIDSVersion": "1.8.0"}'}
    ],
    "tables": [{"path": "participants.tsv", "columns": COLUMNS}],
}
OTHERS = {f"sub-{number}": 170.0 for number in range(12, 24)}  # one person in common: sub-12


def with_canaries() -> dict[str, str]:
    people = {f"{CANARY}x{number}": 170.0 for number in range(12)}
    notes = {f"{name}/note.txt": f"{CANARY} of {name}" for name in people}
    return {"participants.tsv": table_text(people, secret=CANARY), **notes}


def plain_text_in(folder: Path, wanted: bytes) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    named = [path for path in folder.rglob("*") if wanted in os.fsencode(path.name)]
    return named + [path for path in files if wanted in path.read_bytes()]


def deliveries(bench: Bench) -> list[Path]:
    return list(bench.zone.settings.deliveries_folder.iterdir())


def test_a_snapshot_is_sealed_and_the_delivery_is_gone(bench: Bench) -> None:
    dataset = given_delivery(bench, with_canaries(), **BIDS)
    zone_folder = bench.zone.settings.zone_folder
    assert plain_text_in(zone_folder, CANARY.encode())
    import_dataset(bench.zone, dataset.id)
    assert imported(bench, dataset.id).state is DatasetState.READY
    assert not deliveries(bench)
    assert not plain_text_in(zone_folder, CANARY.encode())
    found = imported(bench, dataset.id)
    snapshot = bench.zone.sealed.of(found).snapshots.open(str(found.snapshot))
    (file,) = snapshot.files_of(f"{CANARY}x1").values()
    with file.open() as opened:
        assert opened.read() == f"{CANARY} of {CANARY}x1".encode()


def test_a_refused_delivery_is_gone_too(bench: Bench) -> None:
    dataset = given_delivery(bench, {"participants.tsv": CANARY}, **BIDS)
    import_dataset(bench.zone, dataset.id)
    assert imported(bench, dataset.id).problem is ImportProblem.UNIT_COLUMN_MISSING
    assert not plain_text_in(bench.zone.settings.zone_folder, CANARY.encode())


def test_a_delivery_that_is_a_link_is_refused_and_what_it_points_to_stays(bench: Bench) -> None:
    dataset = given_delivery(bench, {"participants.tsv": table_text(PEOPLE)})
    (delivered,) = deliveries(bench)
    kept = delivered.rename(bench.zone.settings.zone_folder / "elsewhere")
    delivered.symlink_to(kept)
    import_dataset(bench.zone, dataset.id)
    assert imported(bench, dataset.id).problem is ImportProblem.NOT_A_FILE
    assert not deliveries(bench)
    assert (kept / "participants.tsv").is_file()


def test_nothing_delivered(bench: Bench) -> None:
    dataset = given_delivery(bench, {})
    import_dataset(bench.zone, dataset.id)
    assert imported(bench, dataset.id).problem is ImportProblem.NOT_DELIVERED


def listed(files: dict[str, str]) -> dict[str, str]:
    sums = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in files.items()}
    return {**files, MANIFEST: manifest(sums).decode()}


def test_a_delivery_keeps_its_checksums_sealed(bench: Bench) -> None:
    files = listed(with_canaries())
    dataset = given_delivery(bench, files, **BIDS)
    import_dataset(bench.zone, dataset.id)
    found = imported(bench, dataset.id)
    snapshot = bench.zone.sealed.of(found).snapshots.open(str(found.snapshot))
    assert snapshot.checksums() == files[MANIFEST].encode()
    assert not plain_text_in(bench.zone.settings.zone_folder, CANARY.encode())


@pytest.mark.parametrize("place", ["participants.tsv", f"{CANARY}x3/note.txt"])
def test_a_byte_that_changed_after_delivery_is_refused_and_nothing_is_kept(bench: Bench, place: str) -> None:
    files = listed(with_canaries())
    spoilt = files | {place: files[place].replace("170", "171").replace(" of ", " in ")}
    assert spoilt != files
    dataset = given_delivery(bench, spoilt, **BIDS)
    import_dataset(bench.zone, dataset.id)
    assert imported(bench, dataset.id).problem is ImportProblem.CHECKSUM
    assert not deliveries(bench)
    assert not list(bench.zone.settings.snapshots_folder.rglob("*"))
    assert bench.zone.people.overlapping([f"{CANARY}x3"], cohorts=["heights"]) is None


def test_every_problem_can_be_recorded(bench: Bench) -> None:
    for problem in ImportProblem:
        dataset = given_delivery(bench, {"participants.tsv": ""})
        finish(bench.zone, dataset, snapshot=None, problem=problem)
        assert imported(bench, dataset.id).problem is problem


def test_the_same_people_in_another_cohort_are_refused(bench: Bench) -> None:
    given_heights(bench)
    second = given_heights(bench, OTHERS, name="weights")
    assert (second.state, second.problem) == (DatasetState.REFUSED, ImportProblem.SAME_PEOPLE)
    # what the refusal advises works, under the same name
    assert given_heights(bench, OTHERS, name="weights", cohort="heights").state is DatasetState.READY
    third = given_heights(bench, OTHERS, name="elsewhere", new_people=True)
    assert third.state is DatasetState.READY


def test_two_cohorts_at_once_do_not_both_get_the_same_people(bench: Bench) -> None:
    names = ["one", "two", "three", "four"]
    text = {"participants.tsv": table_text(PEOPLE)}
    asked = [given_delivery(bench, text, name=name) for name in names]
    others = [bench.another(slot=number) for number in range(len(names))]
    start = threading.Barrier(len(names))

    def go(other: Bench, dataset: Dataset) -> None:
        start.wait()
        import_dataset(other.zone, dataset.id)

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(go, others, asked))
    states = [imported(bench, dataset.id).state for dataset in asked]
    assert states.count(DatasetState.READY) == 1
    assert states.count(DatasetState.REFUSED) == 3
    for other in others:
        other.close()


def test_imports_into_one_cohort_at_once_forget_nobody(bench: Bench) -> None:
    groups = [{f"person-{group}-{number}": 170.0 for number in range(6)} for group in range(4)]
    asked = [
        given_delivery(bench, {"participants.tsv": table_text(people)}, name=f"part-{number}", cohort="all")
        for number, people in enumerate(groups)
    ]
    with ThreadPoolExecutor(len(asked)) as pool:
        list(pool.map(lambda dataset: import_dataset(bench.zone, dataset.id), asked))
    for people in groups:
        assert bench.zone.people.overlapping(people, cohorts=["all"]) == "all"


def test_registering_again_keeps_what_was_spent(bench: Bench) -> None:
    given_heights(bench)
    submit(bench, epsilon="3")
    bench.drive()
    again = given_heights(bench, {**PEOPLE, "sub-13": 190.0})
    assert (again.version, again.state) == (2, DatasetState.READY)
    (account,) = bench.rows(accounts)
    assert account["spent"] == 3_000_000
    job_id = submit(bench, epsilon="3")
    bench.drive()
    assert bench.release(job_id).dataset_version == 2
    check_books(bench)


def test_of_two_messages_one_imports(bench: Bench) -> None:
    dataset = given_delivery(bench, {"participants.tsv": table_text(PEOPLE)})
    others = [bench.another(slot=number) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda other: import_dataset(other.zone, dataset.id), others))
    assert imported(bench, dataset.id).state is DatasetState.READY
    import_dataset(bench.zone, dataset.id)
    assert imported(bench, dataset.id).state is DatasetState.READY
    for other in others:
        other.close()


class Clock:
    """On which work takes what it is said to take, and waiting no time."""

    def __init__(self) -> None:
        self.at = 0.0

    def monotonic(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += seconds


@pytest.mark.parametrize("people", [PEOPLE, {"": 170.0}], ids=["ready", "refused"])
def test_how_much_there_is_of_a_person_shows_in_few_moments(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, people: dict[str, float]
) -> None:
    ended: list[float] = []
    for took_s in (0.3, 0.45, 33.0):
        dataset, clock = given_delivery(bench, {"participants.tsv": table_text(people)}), Clock()
        real = importing._taken_in

        def slow(*asked: Any, clock: Clock = clock, took_s: float = took_s, real: Any = real) -> Any:
            clock.sleep(took_s)
            return real(*asked)

        with monkeypatch.context() as patched:
            patched.setattr(importing, "time", clock)
            patched.setattr(importing, "_taken_in", slow)
            import_dataset(bench.zone, dataset.id)
        ended.append(clock.at)
        assert imported(bench, dataset.id).state is not DatasetState.IMPORTING
    assert ended == [0.5, 0.5, 64.0]


@pytest.mark.parametrize("point", ["people.add", "snapshots.write", "finish", "remove"])
def test_an_import_killed_half_way_and_repeated(bench: Bench, point: str) -> None:
    dataset = given_delivery(bench, with_canaries(), **BIDS)
    host_image()
    bench.database.close()  # no connection may cross the fork
    settings = bench.zone.settings.model_dump()
    child = multiprocessing.get_context("fork").Process(
        target=_import_and_die, args=(settings, dataset.id, point)
    )
    child.start()
    child.join(PATIENCE_S)
    assert child.exitcode == -signal.SIGKILL
    bench.clock.forward(31)
    sweep(bench.zone)
    bench.drive()
    assert imported(bench, dataset.id).state is DatasetState.READY
    assert not deliveries(bench)
    assert not plain_text_in(bench.zone.settings.zone_folder, CANARY.encode())


def _import_and_die(settings: dict[str, object], dataset_id: str, point: str) -> None:
    """Die at a step. This process exists for nothing else, so it may replace the step."""
    zone = open_zone(WorkerSettings(**settings), image=host_image(), messages=None, slot=0)  # type: ignore[arg-type]

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    from worker import importing

    if point == "people.add":
        zone.people.add = die  # type: ignore[method-assign]
    elif point == "snapshots.write":
        BlobArea._seal = die  # type: ignore[method-assign, assignment]
    elif point == "finish":
        importing.finish = die
    else:
        importing.remove = die
    import_dataset(zone, dataset_id)


def test_a_delivery_that_waits_for_its_registration_is_left_alone(bench: Bench) -> None:
    waiting = bench.zone.settings.deliveries_folder / "not-registered-yet"
    waiting.mkdir()
    given_delivery(bench, {"participants.tsv": table_text(PEOPLE)})
    settled = given_delivery(bench, {"participants.tsv": table_text(PEOPLE)}, name="done")
    finish(bench.zone, settled, snapshot="keyed:" + "0" * 64, problem=None)
    remove_settled_deliveries(bench.zone)
    assert waiting.is_dir()
    assert len(deliveries(bench)) == 2

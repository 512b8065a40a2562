"""Import: from a delivery in the worker zone to a sealed snapshot, or to a refusal from the fixed list."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from domain.dataset import Dataset, DatasetState, ImportProblem
from domain.errors import InvalidRequest
from domain.profile_request import DELIVERY
from privacy.partition import derive_key
from store import datasets, twin_reviews, workers
from worker.intake import Delivery, ImportRefused, check_delivery
from worker.intake.decisions import Decisions
from worker.intake.lot import Lot
from worker.mandates import delivered_key, enrol, key_file
from worker.zone import WorkerZone

log = logging.getLogger(__name__)


def import_dataset(zone: WorkerZone, dataset_id: str) -> None:
    """check -> compare with other cohorts of its owner -> seal -> wait for a step -> READY; the plain
    delivery is removed.

    Of several messages for one data set, one does the work.
    """
    with zone.database.reading() as connection:
        dataset = datasets.get(connection, dataset_id)
        delivery = datasets.delivery_of(connection, dataset_id)
        drains = workers.drain_asked(connection, zone.settings.name) is not None
    if dataset.state is not DatasetState.IMPORTING or drains:
        return
    # a row is not believed: a path would lead an import, which removes what it has read, to other folders
    if not re.fullmatch(DELIVERY, delivery):
        finish(zone, dataset, snapshot=None, problem=ImportProblem.NOT_DELIVERED)
        return
    folder = zone.settings.deliveries_folder / delivery
    with held(folder) as is_ours:
        if is_ours:
            take_in(zone, dataset, folder)
            remove(folder)
            key_file(folder).unlink(missing_ok=True)


def take_in(zone: WorkerZone, dataset: Dataset, folder: Path) -> None:
    """READY with a snapshot, or REFUSED with a problem, at a step of time."""
    began = time.monotonic()
    snapshot, data_key, problem = _taken_in(zone, dataset, folder)
    _wait_for_a_step(began)
    finish(zone, dataset, snapshot=snapshot, data_key=data_key, problem=problem)


def _taken_in(
    zone: WorkerZone, dataset: Dataset, folder: Path
) -> tuple[str, str | None, None] | tuple[None, None, ImportProblem]:
    """What became of it: the name of a snapshot and its key, or what is wrong with the delivery."""
    try:
        if folder.is_symlink():
            raise ImportRefused(ImportProblem.NOT_A_FILE, place=folder.name)
        checked = check_delivery(
            folder,
            dataset.declaration,
            max_file_bytes=zone.settings.max_delivery_file_bytes,
            decisions=Decisions.of(zone.keys, dataset.declaration),
            lot=lot_of(zone, dataset),
        )
        if checked.checksums is not None:
            checked.verify()  # before anything of it is kept
        join_cohort(zone, dataset, checked)
        with checked.ordered(dataset.declaration) as ordered:
            area = zone.sealed.to_write(dataset.name)
            snapshot = area.snapshots.write(
                tables={**checked.tables, **{path: table.content for path, table in ordered.items()}},
                rows={path: table.rows for path, table in ordered.items()},
                people=checked.people,
                shared=checked.shared,
                checksums=checked.checksums,
            )
        key = _key_of(folder)
        # before anybody may ask
        if key and not enrol(zone, dataset, delivery=folder.name, snapshot=snapshot, key=key):
            raise ImportRefused(ImportProblem.UNFINISHED, place=folder.name)
    except ImportRefused as refusal:
        return None, None, refusal.problem
    return snapshot, area.key_id, None


def _wait_for_a_step(began: float) -> None:
    """How long the work took follows from how much there is of whom. Data users see when a version is there,
    and a worker that is taken shows: both say no more than which step it was."""
    end = began + step_after(time.monotonic() - began)
    while (left_s := end - time.monotonic()) > 0:
        time.sleep(left_s)


def _key_of(folder: Path) -> str | None:
    try:
        return delivered_key(folder)
    except InvalidRequest as error:
        raise ImportRefused(
            ImportProblem.UNFINISHED, place=key_file(folder).name, detail=str(error)
        ) from None


def lot_of(zone: WorkerZone, dataset: Dataset) -> Lot:
    """One key for a cohort, and none of the data: the same data registered again become the same snapshot, so
    that what is released once stays so, and for whoever knows the data no bit shows that somebody was cut."""
    return Lot(derive_key(zone.keys.choices, dataset_id=dataset.cohort, job_id="most of a person"))


def join_cohort(zone: WorkerZone, dataset: Dataset, delivery: Delivery) -> None:
    """Compare and remember under one lock: of two imports at once, the second finds the first."""
    with zone.people.locked():
        check_people_are_new(zone, dataset, delivery)
        zone.people.add(delivery.delivered_people, cohort=dataset.cohort)


def check_people_are_new(zone: WorkerZone, dataset: Dataset, delivery: Delivery) -> None:
    """The same people in another cohort of this owner would have two budgets.

    Nobody else's cohort is looked at: whoever registers a name among made-up ones would learn from the answer
    whether it is in somebody else's register. `worker/shared_people.py` is for whoever may know that.
    """
    if dataset.declaration.new_people:
        return
    with zone.database.reading() as connection:
        owners = datasets.living_cohorts(connection)
    others = [
        cohort for cohort, owner in owners.items() if owner == dataset.owner and cohort != dataset.cohort
    ]
    if zone.people.overlapping(delivery.delivered_people, cohorts=others):
        raise ImportRefused(ImportProblem.SAME_PEOPLE, place=dataset.declaration.privacy_unit.table)


def finish(
    zone: WorkerZone,
    dataset: Dataset,
    *,
    snapshot: str | None,
    problem: ImportProblem | None,
    data_key: str | None = None,
) -> None:
    with zone.database.transaction() as connection:
        finished = datasets.finish_import(
            connection,
            dataset_id=dataset.id,
            snapshot=snapshot,
            data_key=data_key,
            problem=problem,
            now=zone.now(),
        )
        if finished and snapshot is not None:
            twin_reviews.announce(connection, dataset.id, now=zone.now())
    if finished:
        log.info("data set %s: import %s", dataset.id, "refused" if problem else "done")


def remove(folder: Path) -> None:
    """Only our own copy: the rights holder keeps theirs."""
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder, ignore_errors=True)


def remove_settled_deliveries(zone: WorkerZone) -> None:
    """Plain copies whose import ended, but whose worker died before it removed them."""
    folder = zone.settings.deliveries_folder
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    with zone.database.reading() as connection:
        settled = datasets.settled_deliveries(connection, names)
    for name in sorted(settled):
        with held(folder / name) as is_left:
            if is_left:  # an import that was withdrawn goes on to its end
                remove(folder / name)


@contextmanager
def held(folder: Path) -> Iterator[bool]:
    """Whether this process alone reads the folder; the kernel lets go when a process dies."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        yield True  # nothing to hold: the import says what is wrong with it
        return
    try:
        yield _is_free(descriptor)
    finally:
        os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# When an import may end: at one of few moments after its worker began, so that others do not learn from
# the clock how much there is of anybody.

FIRST_S = 1 / 16
DOUBLED_UNTIL_S = 64.0
LATER_FACTOR = 1.25


def steps() -> Iterator[float]:
    """Seconds after the beginning: doubled up to a minute, then a quarter longer each, without an end."""
    step = FIRST_S
    while True:
        yield step
        step *= 2 if step < DOUBLED_UNTIL_S else LATER_FACTOR


def step_after(took_s: float) -> float:
    """The first that is not over."""
    return next(step for step in steps() if step >= took_s)

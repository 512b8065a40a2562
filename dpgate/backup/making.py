"""A backup, while everything goes on: both ledgers of one moment, then the sealed files.

While the moment is fixed, the zone's ledger is held, so that nobody charges or draws: what the copies hold is
what a power cut at that moment would have left, and workers go on from there as after one. The master key is
not in it, and neither are deliveries, which are not sealed yet, nor images, whose archives give the same
digest again. The wrapped keys of data sets are in a folder of their own, which the manifest does not list: it
may be kept for a shorter time than the rest, so that what was erased does not open in a backup either.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from dpgate.backup.manifest import NAME, Manifest, digest
from dpgate.errors import DpgateError
from store.database import Database
from store.database_copy import copy_sqlite_file, moment_of
from store.full_disk import names_full_disk
from store.keys import Keys, load_keys
from store.zone_ledger import Head, ZoneLedger
from worker.catching_up import zone_ledger

KEY, LEDGER = "master.key", "ledger.sqlite"
DATA_KEYS = "data-keys"
SEALED = ("snapshots", "cohorts", "participants")
ZONE = Path("zone")
COPY = {True: "database.sqlite", False: "database.dump"}
"""By whether it is of SQLite."""


def back_up(zone_folder: Path, database: Database, target: Path, *, now: datetime) -> Manifest:
    """Into a new folder for its owner alone. Raises DpgateError for one that is there."""
    keys = load_keys(zone_folder / KEY)
    try:
        target.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise DpgateError(f"{target} is there already; name a new folder for each backup") from None
    try:
        with names_full_disk(target):
            return _fill(target, zone_folder, database, keys, now=now)
    except BaseException:  # also where somebody ends it: half a backup is none
        shutil.rmtree(target)
        raise


def _fill(target: Path, zone_folder: Path, database: Database, keys: Keys, *, now: datetime) -> Manifest:
    (target / ZONE).mkdir(mode=0o700)
    head, entry = _of_one_moment(zone_ledger(zone_folder), database, target)
    for part in SEALED:
        _copy_sealed(zone_folder / part, target / ZONE / part)
    files = {str(path.relative_to(target)): digest(path) for path in _files(target)}
    manifest = Manifest(
        made_at=now.isoformat(), database=COPY[database.is_sqlite], head=head, ledger=entry, files=files
    )
    (target / DATA_KEYS).mkdir(mode=0o700)  # also where all is erased: one that is missing is not restored
    _copy_sealed(zone_folder / DATA_KEYS, target / DATA_KEYS)
    manifest.write(target, keys)
    _sync(target)
    return manifest


def _of_one_moment(ledger: ZoneLedger, database: Database, target: Path) -> tuple[Head, tuple[int, str]]:
    """The ledger's file while nobody writes it; the database of the same moment may take longer."""
    with ExitStack() as fixed:
        with ledger.writing() as page:
            entries = page.entries()
            moment = fixed.enter_context(moment_of(database))
            copy_sqlite_file(ledger.path, target / ZONE / LEDGER)
        moment.copy(target / COPY[database.is_sqlite])
    return moment.head, (len(entries), entries[-1].code)


def _copy_sealed(source: Path, target: Path) -> None:
    """Whole files alone; one that a sweep removes meanwhile was used by nobody."""
    for path in _files(source):
        if path.name.startswith("."):
            continue  # somebody is at it
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            shutil.copyfile(path, place)
        except FileNotFoundError:
            continue
        place.chmod(0o600)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != NAME)


def _sync(folder: Path) -> None:
    """On the disk before anybody relies on it."""
    for path in (*_files(folder), folder / NAME):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

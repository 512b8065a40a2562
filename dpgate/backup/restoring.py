"""A platform out of a backup: nothing is charged or released until an operator has caught up.

What was spent after the backup is not in it. The newest ledger of the zone, if it is left, says so exactly;
where none is, somebody has to say what they know.
"""

from __future__ import annotations

import shutil
import tempfile
from datetime import datetime
from pathlib import Path

from domain.errors import PlatformError
from domain.maintenance import PlannedMaintenance
from dpgate.backup.making import DATA_KEYS, KEY, LEDGER, SEALED, ZONE
from dpgate.backup.manifest import Manifest
from dpgate.errors import DpgateError
from store import audit, maintenance
from store.data_keys import DataKeys
from store.database import Database
from store.database_copy import copy_sqlite_file, put_back
from store.full_disk import names_full_disk
from store.keys import Keys, load_keys, write_once
from store.zone_entries import Entry, Kind
from store.zone_ledger import ZoneLedger
from worker.catching_up import zone_ledger

REASON = (
    "This platform was restored from a backup. Its operator has to catch up first: dpgate ledger catch-up."
)
# half a zone and half a database are in the way of the same command
_ANEW = "begin anew with an empty folder and an empty database"


def restore(
    backup: Path,
    zone_folder: Path,
    database: Database,
    *,
    key: Path,
    data_keys: Path | None = None,
    newest_ledger: Path | None = None,
    now: datetime,
) -> Manifest:
    """Into a zone folder and a database that hold nothing. `data_keys`: where the backup's own are gone.
    Raises DpgateError, InvalidRequest or NotReady before anything is written."""
    if zone_folder.exists() and any(zone_folder.iterdir()):
        raise DpgateError(f"{zone_folder} holds something; restore into a new or empty folder")
    keys = load_keys(key)
    manifest = Manifest.read(backup, keys)
    wrapped = _checked(data_keys or backup / DATA_KEYS, keys)
    copied = ZoneLedger(backup / ZONE / LEDGER, key=keys.ledger, sealing=keys.drawn)
    newest = copied if newest_ledger is None else _newer(newest_ledger, copied, keys.ledger, keys.drawn)
    with names_full_disk(zone_folder, then=_ANEW):
        put_back(backup / manifest.database, database)
        for part in SEALED:
            if (backup / ZONE / part).is_dir():
                shutil.copytree(backup / ZONE / part, zone_folder / part)
        shutil.copytree(wrapped, zone_folder / DATA_KEYS)
        zone_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (zone_folder, *(each for each in zone_folder.rglob("*") if each.is_dir())):
            folder.chmod(0o700)
        (zone_folder / "deliveries").mkdir(mode=0o700)
        copy_sqlite_file(newest.path, zone_folder / LEDGER)
        write_once(zone_folder / KEY, key.read_bytes())
    _hold(zone_ledger(zone_folder), complete=newest is not copied)
    with database.transaction() as connection:
        maintenance.begin(connection, PlannedMaintenance(reason=REASON), by="host", now=now)
    return manifest


def drill(backup: Path, *, key: Path, data_keys: Path | None = None, now: datetime) -> Manifest:
    """Restore into a folder that is removed, and walk both books. Of PostgreSQL: what needs no server."""
    with tempfile.TemporaryDirectory(prefix="dpgate-drill-") as folder:
        keys = load_keys(key)
        found = Manifest.read(backup, keys)
        _checked(data_keys or backup / DATA_KEYS, keys)
        if not found.database.endswith(".sqlite"):
            return found
        place = Path(folder)
        database = Database(f"sqlite:///{place / 'database' / 'dpgate.sqlite'}")
        try:
            restore(backup, place / "zone", database, key=key, data_keys=data_keys, now=now)
            with zone_ledger(place / "zone").reading() as page:
                page.entries()
                heads = page.heads()
            with database.reading() as connection:
                verdict = audit.verify(connection, known=heads)
        finally:
            database.close()
    if not verdict.intact:
        raise DpgateError(f"event {verdict.broken_at} of the trail in this backup does not fit")
    return found


def _checked(wrapped: Path, keys: Keys) -> Path:
    """The folder with the keys of data sets. Raises DpgateError where it is missing, or one does not open."""
    if not wrapped.is_dir():
        raise DpgateError(
            f"the keys of data sets are missing, {wrapped}: without them nothing that is sealed opens; name "
            "another copy of them with --data-keys"
        )
    found = DataKeys(wrapped, lambda: keys)
    for name in found.names():
        try:
            found.find(name)
        except PlatformError:
            raise DpgateError(
                f"the key of {name} in {wrapped} does not open with this master.key: name with --key the "
                "copy that was made together with these keys, between the same two changes of the zone's key"
            ) from None
    return wrapped


def _hold(ledger: ZoneLedger, *, complete: bool) -> None:
    with ledger.writing() as page:
        page.add(Kind.RESTORED, f"{page.size() + 1}", {"complete": complete})


def _newer(path: Path, copied: ZoneLedger, key: bytes, sealing: bytes) -> ZoneLedger:
    """One that goes on from the backup's. Raises DpgateError for another, or an older one."""
    found = ZoneLedger(path, key=key, sealing=sealing)
    known, later = _entries(copied), _entries(found)
    if [each.code for each in later[: len(known)]] != [each.code for each in known]:
        raise DpgateError(f"{path} does not go on from the ledger in the backup; nothing was restored")
    return found


def _entries(ledger: ZoneLedger) -> list[Entry]:
    with ledger.reading() as page:
        return page.entries()

"""How much lies in the worker's folders, for the operator: classes of size, since exact numbers are data.

A snapshot is as large as the data in it: its exact size is a statistic of them, so sizes are said as powers
of ten. What participant levels wrote gets no size at all, not even a class: code of data users decides how
much that is, and could say something by it. Images are no secret, but need no more than a class either.
"""

from __future__ import annotations

import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path

from domain.operation import is_full, room, size_class
from store import workers
from store.clock import database_time
from worker.config import WorkerSettings
from worker.zone import WorkerZone

LOOK_EVERY = timedelta(minutes=10)


def note_storage(zone: WorkerZone) -> None:
    """Looks every ten minutes, whichever process of the worker comes first."""
    name = zone.settings.name
    with zone.database.reading() as connection:
        if not workers.is_on_record(connection, name):
            return
        now = database_time(connection)
        found = workers.get(connection, name, now=now).storage
    if _is_fresh(found.get("at"), now) and bool(found.get("full")) is is_zone_full(zone.settings):
        return
    classes = look(zone.settings)
    with zone.database.transaction() as connection:
        workers.note_storage(connection, name=name, classes=classes, now=now)


def look(settings: WorkerSettings) -> dict[str, str]:
    """A class of size for each place, and whether the volume of the worker zone fills up or is full."""
    full = {"full": "worker zone"} if is_zone_full(settings) else {}
    volume = shutil.disk_usage(settings.zone_folder)
    return full | {
        "snapshots": size_class(size_of(settings.snapshots_folder)),
        "deliveries": size_class(size_of(settings.deliveries_folder)),
        "images": size_class(size_of(settings.image_store_folder)),
        "room": room(
            total=volume.total, free=volume.free, participants=size_of(settings.participants_folder)
        ),
    }


def is_zone_full(settings: WorkerSettings) -> bool:
    """What participant levels wrote counts as free: code of data users decides how much that is. Only where
    little is left is it looked up. Nothing is said of scratch: how full that is depends on runs of now."""
    least, free = settings.least_free_mib, shutil.disk_usage(settings.zone_folder).free
    if not is_full(free=free, least_mib=least):
        return False
    return is_full(free=free, least_mib=least, participants=size_of(settings.participants_folder))


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder; what goes away meanwhile counts nothing, links are not followed."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
    return total


def _is_fresh(noted: str | None, now: datetime) -> bool:
    return noted is not None and now - datetime.fromisoformat(noted) < LOOK_EVERY

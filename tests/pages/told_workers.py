"""Workers of the story: one at work, one that drains, one that is lost."""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from domain.operation import WorkKind
from store import workers
from store.workers import Presence

LIVE, DRAINS, LOST = "analysis-1", "analysis-2", "old-host"
FEATURES = {"namespaces": True, "seccomp": True, "cgroup": True, "landlock": True}
STORAGE = {
    "snapshots": "1 to 10 GiB",
    "deliveries": "nothing",
    "images": "100 MiB to 1 GiB",
    "room": "enough left",
}


def give_workers(connection: sa.Connection, now: datetime) -> None:
    _start(connection, LIVE, now, slots=8)
    workers.beat(connection, name=LIVE, start=LIVE, kinds={WorkKind.JOBS}, now=now, skew_s=0.01, dropped={})
    workers.note_storage(connection, name=LIVE, classes=STORAGE, now=now)
    _start(connection, DRAINS, now, slots=4, version="0.0.9")
    workers.drain(connection, DRAINS, ends=True, by="olga", now=now)
    workers.beat(
        connection, name=DRAINS, start=DRAINS, kinds={WorkKind.JOBS}, now=now, skew_s=42.0, dropped={}
    )
    _start(connection, LOST, now - timedelta(days=2), slots=2, features={**FEATURES, "cgroup": False})


def _start(connection: sa.Connection, name: str, at: datetime, *, slots: int, **fields: object) -> None:
    presence = {
        "name": name, "start": name, "version": "0.1.0", "python": "3.11.7", "profile": "standard",
        "sandbox": "supervised", "slots": slots, "features": FEATURES, **fields,
    }  # fmt: skip
    workers.announce(connection, Presence(**presence), now=at, skew_s=0.0)  # type: ignore[arg-type]

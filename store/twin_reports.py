"""The public parts of twins' reports: one for each version of a data set, as its holder handed it in."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.errors import NotFound
from store import audit
from store.profiles import twin_reports


@dataclass(frozen=True)
class TwinReport:
    """A page for researchers, and who handed it in."""

    page: str
    digest: str
    put_by: str
    put_at: datetime


def put(connection: sa.Connection, dataset: Dataset, page: str, *, by: str, now: datetime) -> TwinReport:
    """In place of an earlier one."""
    digest = "sha256:" + hashlib.sha256(page.encode()).hexdigest()
    connection.execute(sa.delete(twin_reports).where(_own(dataset)))
    values = {"page": page.encode(), "digest": digest, "put_by": by, "put_at": now}
    connection.execute(sa.insert(twin_reports).values(dataset_id=dataset.id, **values))
    _tell(connection, dataset, by, now, digest=digest)
    return TwinReport(page, digest, by, now)


def get(connection: sa.Connection, dataset: Dataset) -> TwinReport:
    """Raises NotFound."""
    row = connection.execute(sa.select(twin_reports).where(_own(dataset))).one_or_none()
    if row is None:
        raise NotFound(
            "report",
            f"version {dataset.version} of {dataset.name} has no report of its twin.",
            "Ask the rights holder for one: dpgate twin publish.",
        )
    return TwinReport(row.page.decode(), row.digest, row.put_by, row.put_at)


def has(connection: sa.Connection, dataset: Dataset) -> bool:
    return connection.execute(sa.select(twin_reports.c.digest).where(_own(dataset))).first() is not None


def remove(connection: sa.Connection, dataset: Dataset, *, by: str, now: datetime) -> None:
    """Raises NotFound where there is none."""
    get(connection, dataset)
    connection.execute(sa.delete(twin_reports).where(_own(dataset)))
    _tell(connection, dataset, by, now, digest=None)


def _own(dataset: Dataset) -> sa.ColumnElement[bool]:
    return twin_reports.c.dataset_id == dataset.id


def _tell(connection: sa.Connection, dataset: Dataset, by: str, now: datetime, *, digest: str | None) -> None:
    audit.append(
        connection, at=now, actor=by, action="twin.report", subject=dataset.id, name=dataset.name,
        version=dataset.version, page=digest or "taken away",
    )  # fmt: skip

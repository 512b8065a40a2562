"""A notice that everybody of these tests is told, and where its deliveries stand."""

from __future__ import annotations

from datetime import datetime

from domain.notice import NoticeKind
from store import notices
from store.database import Database
from store.notices import Sending


def tell(database: Database, now: datetime, *, to: tuple[str, ...] = ("ada",), **facts: str) -> None:
    with database.transaction() as connection:
        notices.tell(
            connection, kind=NoticeKind.RELEASE_READY, subject="job-0001", to=to, now=now,
            dataset="heights", state="RELEASED", **facts,
        )  # fmt: skip


def sent_to(database: Database, name: str = "ada") -> list[Sending]:
    with database.reading() as connection:
        return notices.of_user(connection, name)

"""The public part of a twin's report: from the rights holder, for whoever may use the data set."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel, Field

from desk.rights import needs
from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.public_report import check_report
from store import datasets, twin_reports
from store.database import Database
from store.twin_reports import TwinReport


class HandedIn(Model):
    """`public.html` of `dpgate twin report`."""

    page: str


class ReportView(BaseModel):
    """A report of the newest version's twin. Nothing in it was computed from the original without noise: that
    is the rights holder's word, and the platform refuses pages that say otherwise of themselves."""

    page: str = Field(description="HTML that loads nothing and runs nothing; untrusted")
    digest: str
    put_by: str
    put_at: datetime

    @classmethod
    def of(cls, report: TwinReport) -> ReportView:
        return cls(page=report.page, digest=report.digest, put_by=report.put_by, put_at=report.put_at)


@needs(Permission.DATASET_READ)
def get_report(database: Database, user: User, name: Slug) -> ReportView:
    with database.reading() as connection:
        return ReportView.of(twin_reports.get(connection, datasets.newest(connection, name, user)))


@needs(Permission.TWIN_MAKE)
def put_report(database: Database, user: User, name: Slug, handed_in: HandedIn) -> ReportView:
    """In place of an earlier one of this version. The part for the rights holder alone is refused."""
    page = check_report(handed_in.page.encode(errors="surrogatepass"))  # refused there, as other letters
    with database.transaction() as connection:
        dataset = datasets.owned(connection, name, user)
        return ReportView.of(twin_reports.put(connection, dataset, page, by=user.name, now=datetime.now(UTC)))


@needs(Permission.TWIN_MAKE)
def remove_report(database: Database, user: User, name: Slug) -> dict[str, str]:
    with database.transaction() as connection:
        dataset = datasets.owned(connection, name, user)
        twin_reports.remove(connection, dataset, by=user.name, now=datetime.now(UTC))
    return {"dataset": name}

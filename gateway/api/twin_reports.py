"""The public part of a twin's report: from the rights holder, for whoever may use the data set."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.public_report import check_report
from gateway.access import TheDatabase, requires
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from store import datasets, twin_reports
from store.twin_reports import TwinReport

router = APIRouter(prefix=PREFIX + "/datasets/{name}/twin/report", tags=["twins"], responses=RESPONSES)
Maker = Annotated[User, Depends(requires(Permission.TWIN_MAKE))]


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


@router.get("", summary="The public report about the twin")
def get_report(
    name: Slug, user: Annotated[User, Depends(requires(Permission.DATASET_READ))], database: TheDatabase
) -> ReportView:
    with database.reading() as connection:
        return ReportView.of(twin_reports.get(connection, datasets.newest(connection, name, user)))


@router.put("", summary="Hand in the public report about the twin")
def put_report(name: Slug, handed_in: HandedIn, user: Maker, database: TheDatabase) -> ReportView:
    """In place of an earlier one of this version. The part for the rights holder alone is refused."""
    page = check_report(handed_in.page.encode(errors="surrogatepass"))  # refused there, as other letters
    with database.transaction() as connection:
        dataset = datasets.owned(connection, name, user)
        return ReportView.of(twin_reports.put(connection, dataset, page, by=user.name, now=datetime.now(UTC)))


@router.delete("", summary="Take the public report away")
def remove_report(name: Slug, user: Maker, database: TheDatabase) -> dict[str, str]:
    with database.transaction() as connection:
        dataset = datasets.owned(connection, name, user)
        twin_reports.remove(connection, dataset, by=user.name, now=datetime.now(UTC))
    return {"dataset": name}

"""The end of a data set: its rights holder withdraws it."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from domain.model import Model, Slug
from domain.permissions import Permission, User
from gateway.access import TheDatabase, requires
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from store import withdrawals

router = APIRouter(prefix=f"{PREFIX}/datasets", tags=["data sets"], responses=RESPONSES)
Holder = Annotated[User, Depends(requires(Permission.DATASET_END))]


class Running(StrEnum):
    """What becomes of jobs that are charged and run."""

    FINISH = "finish"
    CANCEL = "cancel"


class Withdrawal(Model):
    """A data set takes no new jobs from now on."""

    running: Annotated[
        Running, Field(description="finish: charged jobs end as they would. cancel: their charge stands")
    ] = Running.FINISH


class OpenJobsView(BaseModel):
    """How many jobs of a data set have not ended."""

    uncharged: int = Field(description="A withdrawal cancels them, and their budget comes back")
    running: int = Field(description="Charged: a withdrawal lets them end, or cancels them")
    ending: int = Field(description="Their release is drawn or in review: they end as they would")


class WithdrawalView(BaseModel):
    """What a withdrawal did."""

    dataset: str
    state: str
    cancelled: int = Field(description="Jobs that it cancelled")
    open: OpenJobsView


@router.get("/{name}/withdrawal", summary="Which jobs a withdrawal would end")
def get_open_jobs(name: Slug, user: Holder, database: TheDatabase) -> OpenJobsView:
    with database.reading() as connection:
        withdrawals.own(connection, name, user)
        return OpenJobsView(**vars(withdrawals.open_jobs(connection, name)))


@router.post("/{name}/withdrawal", summary="Withdraw a data set: it takes no new jobs")
def withdraw(name: Slug, wanted: Withdrawal, user: Holder, database: TheDatabase) -> WithdrawalView:
    """All its versions, and scrambled copies of them. Jobs that are not charged are cancelled and refunded;
    releases stay, and so does what was spent. A later version takes jobs again."""
    with database.transaction() as connection:
        dataset, cancelled = withdrawals.withdraw(
            connection,
            name=name,
            user=user,
            cancels_running=wanted.running is Running.CANCEL,
            now=datetime.now(UTC),
        )
        left = OpenJobsView(**vars(withdrawals.open_jobs(connection, name)))
    return WithdrawalView(dataset=name, state=dataset.state, cancelled=cancelled, open=left)

"""The end of a data set: its rights holder withdraws it, or has it erased."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, Field

from desk.rights import needs
from domain.errors import InvalidRequest
from domain.model import Model, Slug
from domain.permissions import Permission, User
from store import erasures, withdrawals
from store.database import Database


class Running(StrEnum):
    """What becomes of jobs that are charged: they run, or their release waits for its review."""

    FINISH = "finish"
    CANCEL = "cancel"


class Withdrawal(Model):
    """A data set takes no new jobs from now on."""

    running: Annotated[
        Running,
        Field(description="finish: charged jobs end as they would. cancel: their charge stands"),
    ] = Running.FINISH


class OpenJobsView(BaseModel):
    """How many jobs of a data set have not ended."""

    uncharged: int = Field(description="A withdrawal cancels them, and their budget comes back")
    running: int = Field(description="Charged: a withdrawal lets them end, or cancels them")
    in_review: int = Field(
        description="Their release waits for its reviewers: it goes on waiting, or never is read"
    )
    ending: int = Field(description="Their release is being drawn: they end as they would, or are cancelled")


class WithdrawalView(BaseModel):
    """What a withdrawal did."""

    dataset: str
    state: str
    cancelled: int = Field(description="Jobs that it cancelled")
    open: OpenJobsView


class Erasing(Model):
    """The key that seals a data set is to be destroyed."""

    name: Annotated[Slug, Field(description="The data set's name once more: this cannot be undone")]


class ErasureState(StrEnum):
    """How far an erasure is."""

    NONE = "NONE"
    ASKED = "ASKED"
    DONE = "DONE"


class ErasureView(BaseModel):
    """The newest erasure of a data set."""

    dataset: str
    state: ErasureState
    asked_by: str | None = None
    asked_at: datetime | None = None
    done_at: datetime | None = Field(None, description="When the key was destroyed")
    waits_for: str | None = Field(None, description="What has to come before, if anything has")
    record: dict[str, Any] | None = Field(
        None, description="What is gone, what stays and why, signed by the worker zone (DSSE)"
    )


@needs(Permission.DATASET_END)
def get_open_jobs(database: Database, user: User, name: Slug) -> OpenJobsView:
    with database.reading() as connection:
        withdrawals.own(connection, name, user)
        return OpenJobsView(**vars(withdrawals.open_jobs(connection, name)))


@needs(Permission.DATASET_END)
def withdraw(database: Database, user: User, name: Slug, wanted: Withdrawal) -> WithdrawalView:
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


@needs(Permission.DATASET_END)
def get_erasure(database: Database, user: User, name: Slug) -> ErasureView:
    with database.reading() as connection:
        withdrawals.own(connection, name, user)
        found = erasures.newest(connection, name)
        if found is None:
            return ErasureView(dataset=name, state=ErasureState.NONE)
        is_done = found.done_at is not None
        return ErasureView(
            dataset=name,
            state=ErasureState.DONE if is_done else ErasureState.ASKED,
            asked_by=found.asked_by,
            asked_at=found.asked_at,
            done_at=found.done_at,
            waits_for=erasures.waits_for(connection, found),
            record=None if found.record is None else dict(found.record),
        )


@needs(Permission.DATASET_END)
def erase(database: Database, user: User, name: Slug, wanted: Erasing) -> ErasureView:
    """All its versions. It is withdrawn first, and jobs that run are cancelled. The worker zone destroys the
    key when no job needs it any more. Releases stay, and so does what was spent. Again says how far it is."""
    with database.transaction() as connection:
        # what is somebody else's looks absent, whatever was typed
        withdrawals.own(connection, name, user)
        if wanted.name != name:
            raise InvalidRequest("name", "is not the name of this data set.", f"Say {name}.")
        erasures.ask(connection, name=name, user=user, now=datetime.now(UTC))
    return get_erasure(database, user, name)

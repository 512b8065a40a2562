"""Data sets: catalogue, registration, twin, budget."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from functools import lru_cache
from threading import Lock
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field

from domain.dataset import Dataset, Declaration
from domain.errors import InvalidRequest, TooLarge
from domain.loss import Epsilon, format_epsilon, micro
from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.twin import LABEL, make_twin
from gateway.access import TheDatabase, TheQueue, requires
from gateway.problems import RESPONSES
from store import audit, datasets, ledger, users

router = APIRouter(prefix="/datasets", tags=["data sets"], responses=RESPONSES)
# making a twin takes about twenty times its size in memory, and one core for a minute at most
MAX_TWIN_BYTES = 48 * 1024 * 1024
CELL_BYTES, FILE_BYTES = 10, 200
_one_at_a_time = Lock()
DELIVERY = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"


class DatasetView(BaseModel):
    """A data set as this user may see it. All of it was declared; nothing was counted in the data."""

    id: str
    name: str
    version: int
    owner: str
    cohort: str
    state: str
    problem: str | None
    declaration: Declaration
    twin: str = Field(description="What the twin is made from and what it shows")

    @classmethod
    def of(cls, dataset: Dataset) -> DatasetView:
        fields = dataset.model_dump(include={"id", "version", "owner", "cohort", "state", "problem"})
        return cls(name=dataset.name, declaration=dataset.declaration, twin=LABEL, **fields)


class Registration(Model):
    """A declaration, and the name under which its files were delivered to the worker zone."""

    declaration: Declaration
    delivery: Annotated[str, Field(pattern=DELIVERY)]


class AccountView(BaseModel):
    """Budget in epsilon, as exact decimals."""

    kind: str
    holder: str
    cap: str
    spent: str
    reserved: str
    left: str

    @classmethod
    def of(cls, account: ledger.Account) -> AccountView:
        amounts: dict[str, Any] = {
            name: format_epsilon(getattr(account, name)) for name in ("cap", "spent", "reserved", "left")
        }
        return cls(kind=account.kind, holder=account.holder, **amounts)


class BudgetView(BaseModel):
    """The accounts that bind this user: the whole cohort's, and allocations. Guarantee class: pure_dp."""

    dataset: str
    cohort: str
    guarantee: str = "pure_dp"
    accounts: list[AccountView]


class Allocation(Model):
    """A part of the cohort's budget; `members` are the users of a project."""

    epsilon: Epsilon
    members: tuple[Slug, ...] = ()


@router.get("", summary="Data sets that you may use")
def list_datasets(
    user: Annotated[User, Depends(requires(Permission.DATASET_READ))], database: TheDatabase
) -> list[DatasetView]:
    with database.reading() as connection:
        return [DatasetView.of(dataset) for dataset in datasets.visible_to(connection, user)]


@router.post("", status_code=201, summary="Register a data set or a new version of one")
def register_dataset(
    registration: Registration,
    user: Annotated[User, Depends(requires(Permission.DATASET_REGISTER))],
    database: TheDatabase,
    queue: TheQueue,
) -> DatasetView:
    """The files were delivered to the worker zone before (`dpgate dataset add`); they never pass this API."""
    with database.transaction() as connection:
        dataset = datasets.register(
            connection,
            declaration=registration.declaration,
            owner=user.name,
            delivery=registration.delivery,
            now=datetime.now(UTC),
        )
    queue.import_dataset(dataset.id)
    return DatasetView.of(dataset)


@router.get("/{name}", summary="One data set: its declaration and state")
def get_dataset(
    name: Slug, user: Annotated[User, Depends(requires(Permission.DATASET_READ))], database: TheDatabase
) -> DatasetView:
    with database.reading() as connection:
        return DatasetView.of(datasets.newest(connection, name, user))


@router.get("/{name}/registration", summary="The newest registration, whatever became of it")
def get_registration(
    name: Slug, user: Annotated[User, Depends(requires(Permission.DATASET_REGISTER))], database: TheDatabase
) -> DatasetView:
    with database.reading() as connection:
        return DatasetView.of(datasets.newest_registration(connection, name, user))


@router.get(
    "/{name}/twin",
    summary="The twin, as a zip file",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}, "description": LABEL}},
)
def get_twin(
    name: Slug, user: Annotated[User, Depends(requires(Permission.DATASET_READ))], database: TheDatabase
) -> Response:
    """A blank form, made from the declaration alone in a process that has no way to the data."""
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
    _check_twin_size(dataset.declaration)
    with _one_at_a_time:
        content = _zipped(dataset.declaration)
    return Response(content, media_type="application/zip")


@router.get("/{name}/budget", summary="What is left of the privacy budget")
def get_budget(
    name: Slug, user: Annotated[User, Depends(requires(Permission.BUDGET_READ))], database: TheDatabase
) -> BudgetView:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        accounts = [
            account
            for account in ledger.list_accounts(connection, cohort=dataset.cohort)
            if user.name == dataset.owner
            or account.kind == "cohort"
            or (account.kind == "user" and account.holder == user.name)
            or (account.kind == "project" and user.name in ledger.members(connection, account))
        ]
    return BudgetView(dataset=name, cohort=dataset.cohort, accounts=[AccountView.of(a) for a in accounts])


@router.put("/{name}/allocations/{kind}/{holder}", summary="Allot a part of the budget to a project or user")
def allot(
    name: Slug,
    kind: Literal["project", "user"],
    holder: Slug,
    allocation: Allocation,
    user: Annotated[User, Depends(requires(Permission.BUDGET_ALLOT))],
    database: TheDatabase,
) -> AccountView:
    """Sub-allocations are shares of the cohort's cap, never extra."""
    if kind == "user" and allocation.members:
        raise InvalidRequest("members", "only a project has members.", "Leave them out.")
    with database.transaction() as connection:
        dataset = datasets.newest(connection, name, user)
        users.check_exist(connection, allocation.members if kind == "project" else (holder,))
        cap = micro(allocation.epsilon)
        account = ledger.allot(connection, cohort=dataset.cohort, kind=kind, holder=holder, cap=cap)
        ledger.set_members(connection, account, allocation.members)
        audit.append(
            connection,
            at=datetime.now(UTC),
            actor=user.name,
            action="budget.allot",
            subject=dataset.cohort,
            kind=kind,
            holder=holder,
            micro_epsilon=cap,
            members=sorted(allocation.members),
        )
    return AccountView.of(account)


def _check_twin_size(declaration: Declaration) -> None:
    cells = sum(
        len(table.columns) * (1 if table.rows_per_person == "one" else 2) for table in declaration.tables
    )
    files = sum(FILE_BYTES + len(file.twin_text) for file in declaration.person_files)
    size = declaration.nominal_size * (CELL_BYTES * cells + files)
    if size > MAX_TWIN_BYTES:
        raise TooLarge(
            "twin",
            f"the twin would take about {size >> 20} MiB; at most {MAX_TWIN_BYTES >> 20} MiB are made here.",
            "Ask the rights holder for a part of it.",
        )


@lru_cache(maxsize=4)
def _zipped(declaration: Declaration) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(make_twin(declaration).items()):
            # a fixed time, so that equal declarations give equal bytes
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), text)
    return content.getvalue()

"""Data sets: catalogue, registration, twin, budget."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationInfo, WithJsonSchema, field_validator

from desk.drawn_twins import Drawing, zipped_twin
from desk.messages import Messages
from desk.rights import needs
from domain.budget import Accounting
from domain.dataset import Dataset, Declaration
from domain.dataset.person_size import check_most_rows
from domain.errors import InvalidRequest
from domain.loss import Currency, canonical_amount, format_amount, units
from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.twin.basis import BLANK, TwinBasis
from store import (
    allotments,
    audit,
    datasets,
    erasures,
    granting,
    grants,
    ledger,
    policies,
    profiles,
    projects,
    twins,
    users,
)
from store.database import Database

TAKEN = {"new"}


"""Names that no data set can have: its page would be another one."""


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
    def of(cls, dataset: Dataset, basis: TwinBasis = BLANK) -> DatasetView:
        fields = dataset.model_dump(include={"id", "version", "owner", "cohort", "state", "problem"})
        return cls(name=dataset.name, declaration=dataset.declaration, twin=basis.sentence, **fields)


class Registration(Model):
    """A declaration, and the name under which its files were delivered to the worker zone."""

    declaration: Declaration
    delivery: Annotated[str, Field(pattern=DELIVERY)]


class WantedTwin(Model):
    """Which of the twins of a data set; all of them are free."""

    level: Annotated[
        int | None, Field(ge=0, le=0, description="0: the blank form, whatever else there is")
    ] = None
    seed: Annotated[int, Field(ge=0, lt=2**31, description="Another twin for every number")] = 0
    people: Annotated[int | None, Field(ge=1, le=10**9, description="How many it shows")] = None
    counts: Annotated[
        str | None,
        Field(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="For reviewers: counts that are not approved"),
    ] = None


class AccountView(BaseModel):
    """One account, as exact decimals of its currency."""

    kind: str
    holder: str
    currency: Currency
    cap: str
    spent: str
    reserved: str
    left: str

    @classmethod
    def of(cls, account: ledger.Account) -> AccountView:
        amounts: dict[str, Any] = {
            name: format_amount(account.currency, getattr(account, name))
            for name in ("cap", "spent", "reserved", "left")
        }
        return cls(kind=account.kind, holder=account.holder, currency=account.currency, **amounts)


class BudgetView(BaseModel):
    """The accounts that bind this user: the whole cohort's, and allocations. Currencies are never added."""

    dataset: str
    cohort: str
    accounting: Accounting
    sentence: str = Field(description="What the caps promise together")
    accounts: list[AccountView]


class Allocation(Model):
    """A part of the cohort's budget of one currency.

    `members` replace those of a project that the rights holder made by allotting to it; left out, they stay.
    A project with a lead has its own.
    """

    currency: Currency = Currency.EPSILON
    amount: Annotated[str, WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}]})]
    members: tuple[Slug, ...] | None = None

    @field_validator("amount", mode="before")
    @classmethod
    def _of_its_currency(cls, value: Any, known: ValidationInfo) -> str:
        return canonical_amount(known.data.get("currency", Currency.EPSILON), value)

    @property
    def cap(self) -> int:
        """In units of the currency."""
        return units(self.currency, self.amount)


@needs(Permission.DATASET_READ)
def list_datasets(database: Database, user: User) -> list[DatasetView]:
    with database.reading() as connection:
        found = datasets.visible_to(connection, user)
        return [DatasetView.of(dataset, twins.basis(connection, dataset.id)) for dataset in found]


@needs(Permission.DATASET_REGISTER)
def brings_another_policy(database: Database, user: User, declaration: Declaration) -> bool:
    """It would come into effect with the registration, for the versions that are there too. Of what is
    somebody else's nothing is said: the registration is refused."""
    with database.reading() as connection:
        is_own = grants.owner_of(connection, declaration.name) == user.name
        present = policies.in_effect(connection, declaration.name) if is_own else None
    return present is not None and present.policy != declaration.policy


@needs(Permission.DATASET_REGISTER)
def register_dataset(
    database: Database, user: User, registration: Registration, queue: Messages
) -> DatasetView:
    """The files were delivered to the worker zone before (`dpgate dataset add`); they never pass here."""
    if registration.declaration.name in TAKEN:
        raise InvalidRequest("declaration.name", "is the address of a page here.", "Choose another name.")
    check_most_rows(registration.declaration)
    with database.transaction() as connection:
        erasures.check_none_waits(connection, registration.declaration.name)
        dataset = datasets.register(
            connection,
            declaration=registration.declaration,
            owner=user.name,
            delivery=registration.delivery,
            now=datetime.now(UTC),
        )
        profiles.check_delivery(connection, registration.delivery, user.name)
    queue.import_dataset(dataset.id)
    return DatasetView.of(dataset)


@needs(Permission.DATASET_READ)
def get_dataset(database: Database, user: User, name: Slug) -> DatasetView:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        return DatasetView.of(dataset, twins.basis(connection, dataset.id))


@needs(Permission.DATASET_REGISTER)
def get_registration(database: Database, user: User, name: Slug) -> DatasetView:
    with database.reading() as connection:
        return DatasetView.of(datasets.newest_registration(connection, name, user))


@needs(Permission.DATASET_READ)
def get_twin(database: Database, user: User, name: Slug, wanted: WantedTwin) -> bytes:
    """As a zip file: blank, or drawn from released counts. Raises Conflict until reviewers have approved it,
    where the policy asks for a review of twins."""
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        basis = twins.basis_for(connection, dataset, user, is_blank=wanted.level == 0, job_id=wanted.counts)
        counts = twins.counts_of(connection, basis)
    drawing = Drawing(dataset.declaration, basis, counts, seed=wanted.seed, people=wanted.people)
    return zipped_twin(drawing, user=user.name)


@needs(Permission.BUDGET_READ)
def get_budget(database: Database, user: User, name: Slug) -> BudgetView:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        mine: list[tuple[ledger.AccountKind, str]] = [("user", user.name)]
        mine += [("project", name) for name in projects.names_of(connection, user)]
        accounts = ledger.list_accounts(
            connection, cohort=dataset.cohort, of=None if user.name == dataset.owner else mine
        )
    return BudgetView(
        dataset=name,
        cohort=dataset.cohort,
        accounting=dataset.declaration.accounting,
        sentence=dataset.declaration.budget_sentence,
        accounts=[AccountView.of(account) for account in accounts],
    )


@needs(Permission.BUDGET_ALLOT)
def allot(
    database: Database,
    user: User,
    name: Slug,
    kind: Literal["project", "user"],
    holder: Slug,
    allocation: Allocation,
) -> AccountView:
    """Sub-allocations are shares of the cohort's cap, never extra. A project of a new name is made, granted
    the data set, and kept by you; one with a lead needs a grant before."""
    if kind == "user" and allocation.members:
        raise InvalidRequest("members", "only a project has members.", "Leave them out.")
    now = datetime.now(UTC)
    with database.transaction() as connection:
        dataset = datasets.owned(connection, name, user)
        users.check_exist(connection, (allocation.members or ()) if kind == "project" else (holder,))
        if kind == "project":
            granting.give_kept(
                connection, project=holder, dataset=dataset, members=allocation.members, by=user, now=now
            )
        account = allotments.allot(
            connection,
            cohort=dataset.cohort,
            kind=kind,
            holder=holder,
            currency=allocation.currency,
            cap=allocation.cap,
        )
        audit.append(
            connection,
            at=now,
            actor=user.name,
            action="budget.allot",
            subject=dataset.cohort,
            kind=kind,
            holder=holder,
            currency=allocation.currency,
            amount=allocation.cap,
            members=sorted(allocation.members or ()),
        )
    return AccountView.of(account)

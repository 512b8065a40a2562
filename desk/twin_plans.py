"""A plan for a better twin as the interface shows it: from declaration and accounts, never from data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from pydantic import BaseModel, Field

from domain.admission import check_policy
from domain.dataset import Dataset
from domain.errors import RequestError
from domain.loss import Currency, format_amount
from domain.twin.request import PlanOrder, TwinRequest
from store.ledger import Account


class PlannedColumn(BaseModel):
    table: str
    column: str
    level: int
    cells: int = Field(description="0 for a column that is not counted")
    why: str = Field(description="One sentence")


class PlannedTable(BaseModel):
    path: str
    level: int
    label: str
    predicted_error: float | None = Field(
        description="Expected distance of a counted column's shape to the original's, 0 to 1"
    )
    suggested: int = Field(description="By the level rule")
    why: str


class PlannedCost(BaseModel):
    """One account of everybody together, as exact decimals of its currency."""

    currency: Currency
    cap: str
    cost: str
    left: str
    left_after: str | None = Field(description="None where the account does not cover it")
    share: float = Field(description="Of the cap")


class PlanView(BaseModel):
    """What twins would be worth, what their counts would cost once, and what that leaves for questions."""

    dataset: str
    version: int
    epsilon: str
    delta: str | None = Field(description="None for Laplace noise")
    guarantee: str
    tables: list[PlannedTable]
    columns: list[PlannedColumn]
    accounts: list[PlannedCost]
    warnings: list[str]
    problem: str | None = Field(description="Why an order like this would be refused")

    @classmethod
    def of(cls, dataset: Dataset, order: PlanOrder, accounts: Sequence[Account]) -> PlanView:
        """Raises InvalidRequest for tables and columns that cannot be counted."""
        cohort = {account.currency: account for account in accounts if account.kind == "cohort"}
        taken = {currency: account.spent + account.reserved for currency, account in cohort.items()}
        plan = order.plan(dataset.declaration, spent=taken)
        costs = dict(plan.cost or ())
        return cls(
            dataset=dataset.name,
            version=dataset.version,
            epsilon=order.epsilon,
            delta=order.delta,
            guarantee=str(order.guarantee),
            tables=[
                PlannedTable(
                    path=table.path,
                    level=table.level,
                    label=table.label,
                    predicted_error=table.predicted_tv1,
                    suggested=table.suggested,
                    why=table.why,
                )
                for table in plan.tables
            ],
            columns=[
                PlannedColumn(
                    table=table.path,
                    column=column.name,
                    level=column.level,
                    cells=column.cells,
                    why=column.reason,
                )
                for table in plan.tables
                for column in table.columns
            ],
            accounts=[_cost(account, costs.get(currency, 0)) for currency, account in cohort.items()],
            warnings=list(plan.warnings),
            problem=_problem(dataset, order),
        )


def _cost(account: Account, amount: int) -> PlannedCost:
    currency, after = account.currency, account.left - amount
    return PlannedCost(
        currency=currency,
        cap=format_amount(currency, account.cap),
        cost=format_amount(currency, amount),
        left=format_amount(currency, account.left),
        left_after=format_amount(currency, after) if after >= 0 else None,
        share=float(Fraction(amount, account.cap)),
    )


def _problem(dataset: Dataset, order: PlanOrder) -> str | None:
    """What the order itself would hear, but for the accounts, which the costs show."""
    if not order.tables:
        return None
    try:
        check_policy(TwinRequest(dataset=dataset.name, **order.model_dump()), dataset)
    except RequestError as error:
        return error.sentence
    return None

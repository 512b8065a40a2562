"""What a rights holder should hear before budget goes into a twin: one sentence each, from the plan alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from domain.dataset import Declaration
from domain.twin.levels import LOOKED_AT, columns_looked_at
from domain.twin.plan_losses import is_wider_than_pure
from privacy.cost import Currency
from privacy.loss import GuaranteeClass

if TYPE_CHECKING:
    from domain.twin.plan import TablePlan

_USUAL_SHARE = Fraction(1, 5)
_LARGE_ERROR = 0.15


def warnings_of(
    declaration: Declaration,
    tables: Sequence[TablePlan],
    share: Fraction,
    left: Mapping[Currency, int],
) -> tuple[str, ...]:
    """In the order in which they matter."""
    return (
        *_about_budget(share, left),
        *(sentence for table in tables for sentence in _about_table(table)),
        *_about_declaration(declaration),
        *_about_price({table.mechanism.guarantee for table in tables if table.mechanism}),
    )


def _about_budget(share: Fraction, left: Mapping[Currency, int]) -> Iterator[str]:
    if any(amount < 0 for amount in left.values()):
        yield "The budget does not have as much left: take a smaller epsilon."
    elif share > _USUAL_SHARE:
        yield (
            f"It takes {float(share):.0%} of the budget; by default a twin takes {float(_USUAL_SHARE):.0%} "
            "at most, so that enough is left for questions."
        )


def _about_table(table: TablePlan) -> Iterator[str]:
    if table.level > table.suggested:
        yield f"{table.path}: level {table.level} is more than the data can carry: {table.why}"
    if table.predicted_tv1 is not None and table.predicted_tv1 > _LARGE_ERROR:
        yield (
            f"{table.path}: the predicted error of a column is {table.predicted_tv1:.2f} (0: the same shape, "
            "1: nothing in common). Values drawn blindly often do as well, for nothing."
        )
    large = [column.name for column in table.columns if "declare coarsen" in column.reason]
    if large:
        yield f"{table.path}: {', '.join(large[:5])}: too many categories to be counted without coarsen."
    if is_wider_than_pure(table.mechanism):
        yield f"{table.path}: so few columns at level 1 have less noise without a delta; leave it out."
    if table.level and table.rows > 1:
        yield (
            f"{table.path}: up to {table.rows} rows of each person count, and each costs: the noise is "
            f"{table.rows} times as wide as for one row."
        )


def _about_declaration(declaration: Declaration) -> Iterator[str]:
    if looked := columns_looked_at(declaration):
        yield f"{', '.join(looked[:5])}: {LOOKED_AT}. No level of the twin takes that back."
    if declaration.layout == "bids":
        yield (
            f"The twin has {declaration.nominal_size} people, and as many folders: the declared number, "
            "never the counted one. State a round number, unless how many people there are is public."
        )


def _about_price(guarantees: set[GuaranteeClass]) -> Iterator[str]:
    if guarantees:
        with_delta = GuaranteeClass.APPROX_DP in guarantees
        more = " and (1 + e^epsilon) delta" if with_delta else ""
        yield (
            "The price is for one person more or less. If the exact number of people is public, the promise "
            "is for one person in another's place, and the same release costs twice as much: "
            f"epsilon{' and delta' if with_delta else ''} for the first, 2 epsilon{more} for the second."
        )

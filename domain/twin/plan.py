"""What a twin would be worth and what it would cost, from the declaration alone: before anything is spent.

No data is looked at, so a plan may be shown to anybody who may see the declaration, and made any number of
times. What it predicts is an expectation over the noise, not a promise about one twin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from domain.dataset import Column, Declaration, Table
from domain.errors import InvalidRequest
from domain.twin.cells import cell_count, most_cells
from domain.twin.choice import Place, check_names, chosen_columns, wanted_level
from domain.twin.levels import LOOKED_AT, columns_looked_at, label
from domain.twin.plan_losses import (
    Loss,
    Mechanism,
    cost_of,
    is_wider_than_pure,
    losses_of,
    mechanism_of,
    micro_share,
    predicted_by,
)
from privacy.cost import Cost, Currency
from privacy.loss import MICRO, GuaranteeClass
from privacy.twin import GaussianColumns, GaussianLoss, suggested_level
from privacy.twin.level import COLUMNS_FROM, LARGEST_ERROR

Level = Literal[0, 1, 2]
LARGEST_SHARE = Fraction(1, 5)
"""Of a data set's budget that a twin takes unless its rights holder says otherwise."""
MAX_CELLS = 2**20
"""Of all columns together that a plan looks at: more would keep the gateway busy, and are never counted."""


@dataclass(frozen=True)
class ColumnPlan:
    """`reason` is one sentence; `cells` is 0 for a column that is not counted."""

    name: str
    level: int
    reason: str
    cells: int


@dataclass(frozen=True)
class TablePlan:
    """`predicted_tv1` is the expected total variation distance of a counted column, None at level 0; `why`
    what the level rule says; `rows` the most rows of one person that are counted."""

    path: str
    level: int
    label: str
    columns: tuple[ColumnPlan, ...]
    mechanism: Mechanism | None
    rows: int
    predicted_tv1: float | None
    suggested: int
    why: str

    @property
    def counted(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.level)


@dataclass(frozen=True)
class TwinPlan:
    """`cost` is on the data set's accounts, None where nothing is counted; `leaves` what they have left
    after it and what was `spent`. `guarantee` is the class of what is released; None where nothing is.

    `share` is the largest part of any account that the twin takes; within_share whether that is no more than
    a twin takes by default.
    """

    tables: tuple[TablePlan, ...]
    cost: Cost | None
    share: Fraction
    leaves: Mapping[Currency, int]
    warnings: tuple[str, ...]

    @property
    def guarantee(self) -> str | None:
        return next((str(table.mechanism.guarantee) for table in self.tables if table.mechanism), None)

    @property
    def within_share(self) -> bool:
        return self.share <= LARGEST_SHARE


def plan_twin(
    declaration: Declaration,
    *,
    micro_epsilon: int,
    atto_delta: int | None = None,
    levels: Mapping[Place, int] | None = None,
    wanted: Mapping[str, int] | None = None,
    rows: int = 1,
    spent: Mapping[Currency, int] | None = None,
) -> TwinPlan:
    """The plan for `micro_epsilon` over all counted tables, in equal shares; with a delta, which brings
    Gaussian noise, in equal shares of the rho that both imply.

    `wanted` is the level of each table, by path; a table without gets what the level rule suggests. `levels`
    decides for single columns, by table and name: 0 leaves one out. `rows` is the most rows of one person
    that count in a table with many. Raises InvalidRequest for tables, columns or levels that cannot be.
    """
    levels, wanted = levels or {}, wanted or {}
    check_names(declaration, levels, wanted)
    chosen = [chosen_columns(table, declaration, levels) for table in declaration.tables]
    # which tables are counted depends on the rule, and the rule on the share of each: those asked for first
    asked = [wanted_level(table, levels, wanted) for table in declaration.tables]
    takes_part = [bool(columns) and level != 0 for level, (columns, _) in zip(asked, chosen, strict=True)]
    _check_cells([column for (columns, _), counted in zip(chosen, takes_part, strict=True) if counted
                  for column in columns])  # fmt: skip
    shares = iter(losses_of(micro_epsilon, atto_delta, sum(takes_part)))
    tables = tuple(
        _table(declaration, table, columns, reasons, level, next(shares) if counted else None, rows)
        for table, (columns, reasons), level, counted in zip(
            declaration.tables, chosen, asked, takes_part, strict=True
        )
    )
    cost = cost_of(declaration, [table.mechanism for table in tables if table.mechanism])
    amounts = dict(cost or ())
    caps = declaration.caps
    parts = [Fraction(amount, caps[currency]) for currency, amount in amounts.items()]
    left = {
        currency: cap - (spent or {}).get(currency, 0) - amounts.get(currency, 0)
        for currency, cap in caps.items()
    }
    share = max(parts, default=Fraction(0))
    return TwinPlan(tables, cost, share, left, warnings_of(declaration, tables, share, left))


def _check_cells(columns: list[Column]) -> None:
    """Before any of them is divided into cells."""
    if (cells := sum(map(most_cells, columns))) > MAX_CELLS:
        raise InvalidRequest(
            "tables",
            f"their columns have up to {cells:,} cells together, more than {MAX_CELLS:,}.",
            "Take fewer tables or columns, or declare fewer bins.",
        )


def _table(
    declaration: Declaration,
    table: Table,
    columns: list[Column],
    reasons: Mapping[str, str],
    asked: int | None,
    loss: Loss | None,
    rows: int,
) -> TablePlan:
    many = table.rows_per_person == "many"
    most = rows if many else 1
    size = declaration.nominal_size * min(table.twin_rows, most)
    looked_into = columns if loss else []
    cells = tuple(cell_count(column, declaration.nominal_size) for column in looked_into)
    suggested, why = 0, "no column of it can be counted." if not columns else "nothing is spent on it."
    level, mechanism = 0, None
    if columns and loss:
        try:
            suggested, why = _suggested(cells, loss, size, most)
            level = suggested if asked is None else asked
            mechanism = mechanism_of(cells, level, loss, most, size) if level else None
        except ValueError as error:
            raise InvalidRequest(f"tables.{table.path}", f"{error}") from None
    looked = [name for name in columns_looked_at(declaration) if name in {c.name for c in table.columns}]
    counts = dict(zip((column.name for column in looked_into), cells, strict=True))
    return TablePlan(
        path=table.path,
        level=level,
        label=label(level, looked_at=looked),
        columns=tuple(_column(column, level, reasons, counts) for column in table.columns),
        mechanism=mechanism,
        rows=most,
        predicted_tv1=predicted_by(mechanism, size=size),
        suggested=suggested,
        why=why,
    )


def _suggested(cells: tuple[int, ...], loss: Loss, size: int, rows: int) -> tuple[Level, str]:
    """By the level rule, and why. Raises ValueError."""
    micro_epsilon = micro_share(loss)
    deviation = GaussianColumns(cells, loss, rows).one_scale if isinstance(loss, GaussianLoss) else None
    level, why = suggested_level(
        cells, nominal_size=size, micro_epsilon=micro_epsilon, rows=rows, deviation=deviation
    )
    # how many more is known for noise that grows with the number of columns
    if level == 0 and deviation is None and (some := _affordable(cells, size, micro_epsilon, rows)):
        why = f"{why} About {some} of its {len(cells)} columns could be counted at this epsilon."
    return level, why


def _affordable(cells: tuple[int, ...], size: int, micro_epsilon: int, rows: int) -> int:
    """How many columns of average cells the level rule would take; 0 where it takes none."""
    if not cells or size * micro_epsilon < COLUMNS_FROM * MICRO * rows:
        return 0
    noise_of_one = Fraction(rows * sum(cells) * MICRO, 2 * len(cells) * size * micro_epsilon)
    return min(int(LARGEST_ERROR / noise_of_one), len(cells) - 1)


def _column(column: Column, level: int, reasons: Mapping[str, str], counts: Mapping[str, int]) -> ColumnPlan:
    if column.name in reasons:
        return ColumnPlan(column.name, 0, reasons[column.name], 0)
    if level == 0:
        return ColumnPlan(column.name, 0, "The whole table stays blank.", 0)
    what = "by itself" if level == 1 else "by itself and in its strongest pairs"
    return ColumnPlan(column.name, level, f"It is counted {what}, in {counts[column.name]} cells.",
                      counts[column.name])  # fmt: skip


# What a rights holder should hear before budget goes into a twin: one sentence each, from the plan alone.

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

"""A request for the noisy counts that better twins are drawn from: tables, levels, and the epsilon to spend.

The counts are the release. Any number of twins, of any size, is drawn from them afterwards for nothing. Only
the rights holder of a data set asks, since it is their budget that pays for everybody's twin.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from domain.dataset import ColumnName, Declaration, Table
from domain.dataset.table import repeated
from domain.delta import check_delta
from domain.errors import InvalidRequest
from domain.loss import Delta, Epsilon, format_amount, micro, units
from domain.model import InsidePath, Model, Slug, Whole, digest, is_none, parse
from domain.query.contribution import limit_sentence
from domain.scan_memory import passes
from domain.schedule import Schedule
from domain.twin import has_cells
from domain.twin.plan import TablePlan, TwinPlan, plan_twin
from privacy.cost import Cost, Currency
from privacy.loss import GuaranteeClass
from privacy.twin import TwinMechanism
from privacy.twin.mechanism import MECHANISM

MAX_WIDTH = 2**20
"""Most counts that a scan keeps of all tables together, so that what is sealed stays below 16 MiB."""
MAX_TABLES = 20
MAX_ROWS = 1000
FILE = "twin-counts.json"
FORM = "dpgate twin counts, 1"

# what a scan may take at any size, for each column and pair of columns, and for each row: of reading it, and
# of each count that it is part of. A statement is about so many columns at most, for longer ones take much
# longer to prepare; more columns are read again
SCAN_S = 2.0
SCAN_S_PER_COLUMN = 1 / 100
SCAN_S_PER_ROW = 1 / 100_000
SCAN_S_PER_VALUE = 1 / 5_000_000
COLUMNS_AT_ONCE = 120


class AskedTable(Model):
    """One table and how well its twin shall look. Without `columns`, all worth counting take part."""

    path: InsidePath
    level: Literal[1, 2] = 1
    columns: Annotated[tuple[ColumnName, ...], Field(max_length=5000)] = ()


class PlanOrder(Model):
    """What is asked of a data set that the address names. `rows`: the most rows of one person that count, in
    tables with many of each. A plan without tables follows the level rule."""

    tables: Annotated[tuple[AskedTable, ...], Field(max_length=MAX_TABLES)] = ()
    epsilon: Epsilon = "1"
    # brings Gaussian noise; without it noise is Laplace, and orders read and digest as before there was one
    delta: Annotated[Delta | None, Field(exclude_if=is_none)] = None
    rows: Annotated[Whole, Field(ge=1, le=MAX_ROWS)] = 1
    # more than a fifth of the budget
    beyond_share: bool = False
    # a second set of counts of the same data
    again: bool = False

    @model_validator(mode="after")
    def _each_once(self) -> PlanOrder:
        if twice := repeated(table.path for table in self.tables):
            raise ValueError(f"tables name {twice[0]} twice; name each once")
        for table in self.tables:
            if twice := repeated(table.columns):
                raise ValueError(f"tables: {table.path} names the column {twice[0]} twice; name each once")
        return self

    @property
    def micro_epsilon(self) -> int:
        return micro(self.epsilon)

    @property
    def is_of_holder(self) -> bool:
        return True

    @property
    def guarantee(self) -> GuaranteeClass:
        """The class of the counts."""
        return GuaranteeClass.PURE_DP if self.delta is None else GuaranteeClass.APPROX_DP

    @property
    def price(self) -> str:
        """Such as `epsilon 1, delta 0.000000001`."""
        return f"epsilon {self.epsilon}" + ("" if self.delta is None else f", delta {self.delta}")

    def plan(self, declaration: Declaration, *, spent: dict[Currency, int] | None = None) -> TwinPlan:
        """What it comes to, in equal shares over the tables. Raises InvalidRequest. Kept for a
        while: whoever looks at a job asks for its cost and its schedule again."""
        return _planned(declaration, self, tuple(sorted((spent or {}).items())))

    def _plan(self, declaration: Declaration, spent: dict[Currency, int]) -> TwinPlan:
        levels: dict[tuple[str, str], int] = {}
        for asked in self.tables:
            table = find_table(declaration, asked.path)
            _check_columns(asked, table)
            if asked.columns:
                chosen = set(asked.columns)
                levels |= {
                    (table.path, column.name): asked.level if column.name in chosen else 0
                    for column in table.columns
                }
        wanted = {table.path: 0 for table in declaration.tables} if self.tables else {}
        wanted |= {table.path: table.level for table in self.tables}
        return plan_twin(
            declaration,
            micro_epsilon=self.micro_epsilon,
            atto_delta=None if self.delta is None else units(Currency.DELTA, self.delta),
            levels=levels,
            wanted=wanted,
            rows=self.rows,
            spent=spent,
        )

    def to_make(self) -> TwinOrder:
        """Raises InvalidRequest for an order without tables."""
        return parse(TwinOrder, self.model_dump())


class TwinOrder(PlanOrder):
    """The same to be made: with one table at least."""

    tables: Annotated[tuple[AskedTable, ...], Field(min_length=1, max_length=MAX_TABLES)]


class TwinRequest(TwinOrder):
    """The same as a job keeps it."""

    dataset: Slug

    @property
    def project(self) -> None:
        return None  # everybody's twin is nobody's project

    @property
    def title(self) -> str:
        return f"twin counts of {', '.join(table.path for table in self.tables)}"

    @property
    def pipeline_digest(self) -> None:
        return None

    @property
    def mechanism_name(self) -> str:
        return MECHANISM

    def choices(self) -> dict[str, Any]:
        tables = [table.model_dump(mode="json", exclude_defaults=True) for table in self.tables]
        levels = [{**dumped, "level": table.level} for dumped, table in zip(tables, self.tables, strict=True)]
        rows = {"rows": self.rows} if self.rows > 1 else {}
        delta = {} if self.delta is None else {"delta": self.delta}
        return {"epsilon": self.epsilon, **delta, "tables": levels, **rows}

    def question(self, *, dataset_id: str, image_digest: str | None = None) -> str:
        """Equal for requests that ask the same counts of the same snapshot at the same loss."""
        del image_digest
        delta = {} if self.delta is None else {"delta": self.delta}
        return digest(
            {
                "dataset": dataset_id,
                "mechanism": MECHANISM,
                "micro_epsilon": self.micro_epsilon,
                **delta,
                "rows": self.rows,
                "tables": [table.model_dump(mode="json") for table in self.tables],
            }
        )

    def once_key(self, *, snapshot: str) -> str | None:
        """One set of counts for each snapshot: a second one costs again, and must be asked for as such."""
        return None if self.again else digest({"snapshot": snapshot, "once": MECHANISM})

    def cost(self, declaration: Declaration) -> Cost:
        cost = self.plan(declaration).cost
        if cost is None:
            raise InvalidRequest("tables", "no column of them can be counted.", "Leave them at level 0.")
        return cost

    def schedule(self, declaration: Declaration, *, slots: int) -> Schedule:
        """One run, as long as the public sizes of the tables may need."""
        wall_s = SCAN_S
        for table, mechanism in self.counted(declaration):
            declared = find_table(declaration, table.path)
            columns = len(mechanism.cells)
            times = 1 if mechanism.pairs else math.ceil(columns / COLUMNS_AT_ONCE)
            values = times * len(declared.columns) + columns + len(mechanism.pairs)
            rows = declaration.nominal_size * (declared.most_rows or max(declared.twin_rows, mechanism.rows))
            wall_s += (columns + len(mechanism.pairs)) * SCAN_S_PER_COLUMN
            rows *= _turns(declared, mechanism, declaration)
            wall_s += rows * (times * SCAN_S_PER_ROW + values * SCAN_S_PER_VALUE)
        return Schedule(runs=1, wall_s=wall_s, slots=slots, nominal_size=declaration.nominal_size)

    def limit(self, declaration: Declaration) -> str | None:
        """How a person's rows were brought down to a limit, in words; None where there is one anyway."""
        tables = (find_table(declaration, table.path) for table, _ in self.counted(declaration))
        many = [table.path for table in tables if table.rows_per_person == "many"]
        return f"In {', '.join(many)}: {limit_sentence(self.rows)}" if many else None

    def counted(self, declaration: Declaration) -> list[tuple[TablePlan, TwinMechanism]]:
        """The tables that are counted, in declared order; their losses add up to the cost."""
        tables = self.plan(declaration).tables
        return [(table, table.mechanism) for table in tables if table.mechanism is not None]


def _turns(table: Table, mechanism: TwinMechanism, declaration: Declaration) -> int:
    """How often the table is read so that few people are in memory at once."""
    if table.rows_per_person == "one":
        return 1
    size, values = declaration.nominal_size, len(mechanism.cells)
    return passes(nominal_size=size, rows=mechanism.rows, values=values, is_choice=True)


@lru_cache(maxsize=8)  # few: the plan of a declaration with very many columns is large
def _planned(declaration: Declaration, order: PlanOrder, spent: tuple[tuple[Currency, int], ...]) -> TwinPlan:
    return order._plan(declaration, dict(spent))


def find_table(declaration: Declaration, path: str) -> Table:
    """The declared table. Raises InvalidRequest."""
    for table in declaration.tables:
        if table.path == path:
            return table
    known = ", ".join(table.path for table in declaration.tables)
    raise InvalidRequest("tables", f"{path} is not a declared table.", f"There are: {known}.")


def check_twin(request: TwinRequest, declaration: Declaration) -> None:
    """Raises InvalidRequest when the declaration or the budget does not fit: before anything is reserved."""
    check_delta(request.delta, field="delta", nominal_size=declaration.nominal_size)
    plan = request.plan(declaration)
    asked = {table.path for table in request.tables}
    if blank := [table for table in plan.tables if table.path in asked and table.mechanism is None]:
        raise InvalidRequest(
            "tables", f"{blank[0].path} cannot be counted: {blank[0].why}", "Leave it at level 0."
        )
    width = sum(mechanism.width for _, mechanism in request.counted(declaration))
    if width > MAX_WIDTH:
        raise InvalidRequest(
            "tables",
            f"they have {width:,} counts together, more than {MAX_WIDTH:,}.",
            "Take fewer columns, wider bins, or level 1.",
        )
    if request.rows > 1 and all(find_table(declaration, path).rows_per_person == "one" for path in asked):
        raise InvalidRequest("rows", "every table asked for has one row per person.", "Leave it out.")
    if not plan.within_share and not request.beyond_share:
        raise _too_large_a_share(request, declaration)


def _too_large_a_share(request: TwinRequest, declaration: Declaration) -> InvalidRequest:
    caps = declaration.caps
    currency, amount = max(request.cost(declaration), key=lambda each: each[1] / caps[each[0]])
    return InvalidRequest(
        "delta" if currency is Currency.DELTA else "epsilon",
        f"{format_amount(currency, amount)} of {currency} is over a fifth of the budget of "
        f"{format_amount(currency, caps[currency])}.",
        "Ask for less, or say beyond_share: true.",
    )


def _check_columns(asked: AskedTable, table: Table) -> None:
    possible = [column.name for column in table.columns if has_cells(column)]
    for name in asked.columns:
        if name not in possible:
            raise InvalidRequest(
                "tables",
                f"{name} is no column of {table.path} that can be counted.",
                f"There are: {', '.join(possible[:50]) or 'none'}.",
            )

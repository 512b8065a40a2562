"""SQL for the rows that take part: declared values of each, conditions met, every person within the limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from domain.dataset import Column, Declaration, Table
from domain.query.columns import Clipped, find_column
from domain.query.contribution import Contribution
from domain.query.filters import Comparison
from privacy.grid import OutputGrid
from worker.scan.cells import Parameters, category, clipped, condition, measured, number, person, steps
from worker.scan.limit import Lot, chosen, reduced
from worker.scan.source import PLACE_IN_FILE, Source
from worker.scan.winners import WON, Choice

_COMPARABLE = ("integer", "number", "categorical")


@dataclass(frozen=True)
class Pass:
    """One of several scans, each for a part of the people, so that few need be in memory at once."""

    number: int
    of: int


class Wanted(Protocol):
    """Which columns and rows a request is about."""

    @property
    def by(self) -> Sequence[str]:
        """Categorical columns."""

    @property
    def where(self) -> Sequence[Comparison]:
        """Conditions, all of which must hold."""

    @property
    def read_columns(self) -> Sequence[Clipped]:
        """Numeric columns."""

    @property
    def reads_down(self) -> bool:
        """As the step below each, not as the nearest."""

    def grids(self, table: Table, /) -> Sequence[OutputGrid]:
        """Of the numeric columns."""


class AsksForRows(Protocol):
    """A trusted query, or a training."""

    @property
    def query(self) -> Wanted: ...

    def table(self, declaration: Declaration, /) -> Table: ...

    def contribution(self, declaration: Declaration, /) -> Contribution | None: ...


@dataclass(frozen=True)
class Rows:
    """The rows of one source that one request is about.

    In SQL a row has g0, g1, ... (groups), x0, x1, ... (columns read, in steps), q0, q1, ... (the same,
    clipped), f0, f1, ... (what each condition compares: a category, or a number as it is) and, where there
    are many rows of each, the person.
    Where `is_numbered`, it has its `place_in_file`.
    """

    request: AsksForRows
    declaration: Declaration
    source: Source
    parameters: Parameters
    part: Pass
    key: bytes
    is_numbered: bool = False

    @property
    def table(self) -> Table:
        return self.request.table(self.declaration)

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(f"g{number}" for number in range(len(self.request.query.by)))

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(f"q{number}" for number in range(len(self.request.query.read_columns)))

    @property
    def choice(self) -> Choice:
        """Among the rows that take part."""
        return Choice(
            lambda parameters: replace(self, parameters=parameters).taking_part(),
            (*self.groups, *self.units),
            self.source.place,
        )

    def contributed(self, *, is_kept: bool = False) -> str:
        """A chain of WITH clauses; the last relation, `contributed`, has columns g0, ... and q0, ...

        `is_kept` says that the rows that count are in the table of winners by now.
        """
        if is_kept:
            return f"WITH contributed AS (SELECT {', '.join(self.choice.names)} FROM {WON})"  # noqa: S608  as below
        rule = self.request.contribution(self.declaration)
        limited, lot = "SELECT * FROM taking_part", Lot(self.key, self.parameters)
        if rule is not None and rule.rows is not None:
            limited = chosen(rule.rows, lot, groups=self.groups, units=self.units)
        elif rule is not None and rule.reduce is not None:
            is_down = self.request.query.reads_down
            limited = reduced(rule.reduce, lot, groups=self.groups, units=self.units, is_down=is_down)
        # each is used once: what is not kept in memory needs no room there
        parts = {"taking_part": self.taking_part(), "contributed": limited}
        return "WITH " + ", ".join(f"{name} AS NOT MATERIALIZED ({sql})" for name, sql in parts.items())

    def taking_part(self) -> str:
        """The rows that meet all conditions: g0, ..., q0, ... and, of tables with many, the person."""
        grids = enumerate(self.request.query.grids(self.table))
        columns = [*self.groups, *(f"{clipped(f'x{i}', grid)} AS q{i}" for i, grid in grids)]
        columns += ["person"] if self._of_many else []
        columns += ["place_in_file"] if self.is_numbered else []
        conditions = list(self._conditions())
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {', '.join(columns) or '1'} FROM ({self._cells()}){where}"  # noqa: S608  see Parameters

    def _cells(self) -> str:
        """What the cells say, one column for each use of one."""
        query = self.request.query
        grids = query.grids(self.table)
        columns = [
            f"{self._steps(column.name, grid)} AS x{i}"
            for i, (column, grid) in enumerate(zip(query.read_columns, grids, strict=True))
        ]
        columns += [f"{self._category(name)} AS g{i}" for i, name in enumerate(query.by)]
        for i, comparison in enumerate(query.where):
            column = self._column(comparison.column)
            is_category = column.kind == "categorical"
            value = self._category(column.name) if is_category else self._number(column)
            columns.append(f"{value} AS f{i}")
        if self._of_many:
            name = self.table.person_column.name
            cell, is_text = self.source.column(name), self.source.is_text(name)
            columns.append(f"{person(cell, self.parameters, is_text=is_text)} AS person")
        columns += [f"{PLACE_IN_FILE} AS place_in_file"] if self.is_numbered else []
        return f"SELECT {', '.join(columns) or '1'} FROM {self.source.relation()}"  # noqa: S608  see Parameters

    def _conditions(self) -> Iterator[str]:
        for i, comparison in enumerate(self.request.query.where):
            column = self._column(comparison.column)
            is_category = column.kind == "categorical"
            value = f"f{i}" if is_category else f"({measured(f'f{i}', column, self.parameters)})"
            yield condition(value, comparison, column, self.parameters)
        yield from (f"{name} IS NOT NULL" for name in self.groups)
        # a row that lacks one value of several takes no part; of a single one, the sums leave NULL out
        if len(self.units) > 1 or self._of_many:
            yield from (f"x{i} IS NOT NULL" for i in range(len(self.units)))
        if self._of_many:
            is_text = self.source.is_text(self.table.person_column.name)
            yield "person <> ''" if is_text else "person IS NOT NULL"
            if self.part.of > 1:
                yield f"hash(person) % {self.part.of} = {self.part.number}"

    @property
    def _of_many(self) -> bool:
        return self.table.rows_per_person == "many"

    def _column(self, name: str) -> Column:
        return find_column(self.table, name, field="query", kinds=_COMPARABLE)

    def _category(self, name: str) -> str:
        cell = self.source.column(name)
        text = cell if self.source.is_text(name) else f"CAST({cell} AS VARCHAR)"
        return category(text, self._column(name), self.parameters)

    def _steps(self, name: str, grid: OutputGrid) -> str:
        value = self._number(self._column(name))
        return steps(value, grid, is_down=self.request.query.reads_down)

    def _number(self, column: Column) -> str:
        cell, is_text = self.source.column(column.name), self.source.is_text(column.name)
        return number(cell, column, is_text=is_text, parameters=self.parameters)

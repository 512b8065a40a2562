"""Columns as a query names them, looked up in the declaration and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from domain.dataset import Column, ColumnName, Declaration, Table
from domain.errors import InvalidRequest
from domain.model import Model, Number
from privacy.grid import OutputGrid

NUMERIC = ("integer", "number")


class Clipped(Model):
    """A numeric column, by name alone or with bounds inside the declared ones.

    Narrower bounds mean less noise, and values beyond them count as the bound.
    """

    name: ColumnName
    lower: Number | None = None
    upper: Number | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Clipped:
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise ValueError("lower must be less than upper")
        return self

    def grid(self, table: Table, *, field: str) -> OutputGrid:
        """The grid of its clipped values. Raises InvalidRequest naming the field."""
        column = find_column(table, self.name, field=field, kinds=NUMERIC)
        least, most = column.bounds
        lower = least if self.lower is None else self.lower
        upper = most if self.upper is None else self.upper
        if lower < least or upper > most or lower >= upper:
            raise InvalidRequest(
                field,
                f"the bounds {lower:g} to {upper:g} are not inside those declared for {column.name}.",
                f"Stay between {least:g} and {most:g}, lower below upper.",
            )
        try:
            return OutputGrid.build(lower, upper)
        except ValueError as error:
            raise InvalidRequest(field, f"{error}") from None


def _by_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


ClippedColumn = Annotated[Clipped, BeforeValidator(_by_name)]


def declared_grid(column: Column) -> OutputGrid:
    """The grid of a numeric column's declared bounds: what filters compare on."""
    return OutputGrid.build(*column.bounds)


def find_table(declaration: Declaration, path: str | None, *, field: str = "query.table") -> Table:
    """The named table, or that of the privacy unit. Raises InvalidRequest."""
    wanted = path or declaration.privacy_unit.table
    for table in declaration.tables:
        if table.path == wanted:
            return table
    paths = ", ".join(table.path for table in declaration.tables)
    raise InvalidRequest(field, f"{wanted} is not a declared table.", f"There are: {paths}.")


def find_column(table: Table, name: str, *, field: str, kinds: Iterable[str]) -> Column:
    """The declared column of one of these kinds. Raises InvalidRequest naming the field and what there is."""
    for column in table.columns:
        if column.name == name and column.kind in kinds:
            return column
    fitting = [column.name for column in table.columns if column.kind in kinds]
    known = any(column.name == name for column in table.columns)
    problem = f"{name} is not {' or '.join(kinds)}." if known else f"{name} is not a column of {table.path}."
    raise InvalidRequest(field, problem, f"There are: {', '.join(fitting) or 'none'}.")


def exact(value: float) -> Fraction:
    """The decimal number that a float prints as, so that 0.1 is one tenth."""
    return Fraction(repr(float(value)))

"""Which rows take part: comparisons of declared columns with public values, all of which must hold."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema, model_validator

from domain.dataset import Column, ColumnName, Table
from domain.errors import InvalidRequest
from domain.model import Model
from domain.query.columns import find_column

MAX_COMPARISONS = 20
MAX_VALUES = 1000
MAX_CATEGORY = 200


class Operator(StrEnum):
    EQUAL = "="
    DIFFERENT = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    ONE_OF = "in"


EQUALITY = {Operator.EQUAL, Operator.DIFFERENT, Operator.ONE_OF}


def _value(value: Any) -> Any:
    """A finite number, a text, or a list of one kind of these, as the one spelling that a question has."""
    if isinstance(value, list | tuple):
        values = tuple(map(_single, value))
        if len({type(each) for each in values}) > 1:
            raise ValueError("a list holds numbers or categories, not both")
        return values
    return _single(value)


def _single(value: Any) -> float | str:
    if isinstance(value, str) and len(value) <= MAX_CATEGORY:
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # NaN fails every comparison, and a whole number of any length can be compared
    if not is_number or not -1e300 <= value <= 1e300:
        raise ValueError("must be a number, a category, or a list of these")
    return float(value)


Value = Annotated[
    float | str | tuple[float, ...] | tuple[str, ...],
    PlainValidator(_value),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number"},
                {"type": "string"},
                {"type": "array", "items": {"type": "number"}},
                {"type": "array", "items": {"type": "string"}},
            ]
        }
    ),
]


class Comparison(Model):
    """One condition on a row. A row that lacks the value does not meet it, whatever the operator."""

    column: ColumnName
    operator: Operator
    value: Value

    @model_validator(mode="after")
    def _operator_fits_the_value(self) -> Comparison:
        if (self.operator is Operator.ONE_OF) != isinstance(self.value, tuple):
            raise ValueError(f"{self.column}: the operator in takes a list, every other one a single value")
        if len(self.values) > MAX_VALUES or not self.values:
            raise ValueError(f"{self.column}: list 1 to {MAX_VALUES} values")
        return self

    @property
    def values(self) -> tuple[float | str, ...]:
        return self.value if isinstance(self.value, tuple) else (self.value,)

    def declared(self, table: Table, *, field: str) -> Column:
        """The column, of a kind that this comparison suits. Raises InvalidRequest."""
        column = find_column(
            table, self.column, field=f"{field}.column", kinds=("integer", "number", "categorical")
        )
        is_text = all(isinstance(value, str) for value in self.values)
        if is_text != (column.kind == "categorical"):
            wanted = "one of its categories" if column.kind == "categorical" else "a number"
            raise InvalidRequest(f"{field}.value", f"{column.name} is compared with {wanted}.")
        if column.kind == "categorical":
            self._check_categories(column, field=field)
        return column

    def _check_categories(self, column: Column, *, field: str) -> None:
        if self.operator not in EQUALITY:
            raise InvalidRequest(
                f"{field}.operator", f"{column.name} has categories, which have no order.", "Use =, != or in."
            )
        unknown = [value for value in self.values if value not in column.categories]
        if unknown:
            raise InvalidRequest(
                f"{field}.value",
                f"{unknown[0]!r} is not a declared category of {column.name}.",
                f"There are: {', '.join(column.categories)}.",
            )

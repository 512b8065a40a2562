"""From declared columns to a model's inputs and target: by declared bounds and categories alone."""

from __future__ import annotations

from dataclasses import dataclass

from domain.dataset import Column, Table
from domain.errors import InvalidRequest
from domain.query.columns import NUMERIC, Clipped, find_column
from privacy.grid import OutputGrid
from privacy.training import Head
from privacy.training.fixed_point import MAX_OUTPUTS

USABLE = (*NUMERIC, "categorical")


@dataclass(frozen=True)
class Feature:
    """A numeric column scaled from its bounds to -1..1, or one input of 0 or 1 for each declared category."""

    name: str
    grid: OutputGrid | None
    categories: tuple[str, ...] = ()

    @property
    def inputs(self) -> int:
        return len(self.categories) or 1


@dataclass(frozen=True)
class Target:
    """What is predicted: a number scaled from its bounds to -1..1, or one of the declared categories."""

    head: Head
    name: str
    grid: OutputGrid | None
    categories: tuple[str, ...] = ()

    @property
    def outputs(self) -> int:
        """Of the model: two classes have one, the log-odds of the second."""
        return len(self.categories) if self.head is Head.SOFTMAX else 1


def feature_of(asked: Clipped, table: Table, *, field: str) -> Feature:
    """Raises InvalidRequest naming the field."""
    column = find_column(table, asked.name, field=field, kinds=USABLE)
    if column.kind == "categorical":
        return Feature(column.name, None, _categories(asked, column, field=field))
    return Feature(column.name, asked.grid(table, field=field))


def target_of(asked: Clipped, table: Table, head: Head, *, field: str) -> Target:
    """What the head of the model predicts. Raises InvalidRequest naming the field."""
    if head is Head.LINEAR:
        column = find_column(table, asked.name, field=field, kinds=NUMERIC)
        return Target(head, column.name, asked.grid(table, field=field))
    column = find_column(table, asked.name, field=field, kinds=("categorical",))
    categories = _categories(asked, column, field=field)
    if head is Head.LOGISTIC and len(categories) != 2:
        raise InvalidRequest(
            field,
            f"{column.name} has {len(categories)} declared categories, and logistic tells two apart.",
            "Take softmax for three or more." if len(categories) > 2 else "Choose another target.",
        )
    if not 2 <= len(categories) <= MAX_OUTPUTS:
        raise InvalidRequest(
            field,
            f"{column.name} has {len(categories)} categories, and softmax tells 2 to {MAX_OUTPUTS} apart.",
            "Choose another target.",
        )
    return Target(head, column.name, None, categories)


def _categories(asked: Clipped, column: Column, *, field: str) -> tuple[str, ...]:
    if asked.lower is not None or asked.upper is not None:
        raise InvalidRequest(field, f"{column.name} has categories, which have no bounds.", "Leave them out.")
    return column.categories

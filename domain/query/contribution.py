"""What one person contributes where a table holds many rows of each: a public rule that looks at one person
alone."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from domain.dataset import Table
from domain.errors import InvalidRequest
from domain.model import Model, Whole
from privacy.rows_of_a_person import MAX_ROWS


class Contribution(Model):
    """Either all of a person's rows become one (`reduce`), or at most `rows` of them count, each for itself.

    `reduce` takes the mean, the least or the greatest of the person's values, column by column. Rows are
    chosen by a hash of what they hold, so the choice depends on nobody else; noise grows in proportion to
    `rows`. In groups, a reduced person counts in the group where most of their rows are.
    """

    rows: Annotated[Whole, Field(ge=1, le=MAX_ROWS)] | None = None
    reduce: Literal["mean", "least", "greatest"] | None = None

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Contribution:
        if (self.rows is None) == (self.reduce is None):
            raise ValueError("give either rows or reduce")
        return self


def rule_for(table: Table, asked: Contribution | None) -> Contribution | None:
    """The rule that holds, or None for a table with one row per person. Raises InvalidRequest."""
    if table.rows_per_person == "many":
        return asked or Contribution(reduce="mean")
    if asked is not None:
        raise InvalidRequest(
            "query.contribution",
            f"{table.path} holds one row per person: there is nothing to choose.",
            "Leave it out.",
        )
    return None

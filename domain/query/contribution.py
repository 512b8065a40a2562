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
    chosen by a secret lot among those of one person, so the choice depends on nobody else; noise grows in
    proportion to `rows`. In groups, a reduced person counts in the group where most of their rows are.
    """

    rows: Annotated[Whole, Field(ge=1, le=MAX_ROWS)] | None = None
    reduce: Literal["mean", "least", "greatest"] | None = None

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Contribution:
        if (self.rows is None) == (self.reduce is None):
            raise ValueError("give either rows or reduce")
        return self

    def sentence(self, *, in_groups: bool = False) -> str:
        """What it makes of the rows, for whoever reads the numbers: facts of the question alone."""
        if self.rows is not None:
            return limit_sentence(self.rows)
        where = ": in the group where most of their rows are, a tie drawn by lot" if in_groups else ""
        return (
            f"Each person counts once, with the {self.reduce} of their rows{where}. "
            "The interval of the noise says nothing about the rows themselves."
        )


def limit_sentence(rows: int) -> str:
    """What a limit makes of a person's rows. It says nothing of how many people have more."""
    what = "one is chosen" if rows == 1 else f"{rows:,} are chosen"
    return (
        f"At most {rows:,} row{'' if rows == 1 else 's'} of each person count: where more take part, {what} "
        "by lot, fair to every value. The numbers are those of the chosen rows; the interval of the noise "
        "says nothing about the others."
    )


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

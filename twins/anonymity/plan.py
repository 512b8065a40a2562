"""What is wanted of a table, as its owner declares it: the role of every column, and how far to go."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from domain.errors import InvalidRequest
from domain.model import Model, Number, Whole
from twins.anonymity.ladders import Ladder
from twins.anonymity.measures import Distance
from twins.anonymity.table import TextTable

Name = Annotated[str, Field(min_length=1, max_length=200)]
Names = tuple[Name, ...]


class Quasi(Model):
    """A column that somebody may know of people, and its ladder."""

    name: Name
    ladder: Ladder


class Sensitive(Model):
    """A column that nobody should learn. `ordered` distance is for numbers, where near counts as near."""

    name: Name
    distance: Distance = "equal"


class Goal(Model):
    """k people in every class, l values (of either kind), at most t from everybody's. None: not asked for."""

    k: Annotated[Whole, Field(ge=1)] = 1
    l: Annotated[Number, Field(ge=1)] | None = None  # noqa: E741 - its name in every paper
    diversity: Literal["distinct", "entropy"] = "distinct"
    t: Annotated[Number, Field(ge=0, le=1)] | None = None


class Plan(Model):
    """Every column has one role: quasi, sensitive, keep (as it is) or drop."""

    quasi: Annotated[tuple[Quasi, ...], Field(min_length=1, max_length=40)]
    sensitive: Annotated[tuple[Sensitive, ...], Field(max_length=40)] = ()
    keep: Names = ()
    drop: Names = ()
    goal: Goal
    most_suppressed: Annotated[Number, Field(ge=0, lt=1)] = 0.0
    """The largest share of rows that may be left out, because their class stays too small."""
    search: Literal["best", "greedy", "auto"] = "auto"

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        twice = [name for name, count in Counter(self.columns).items() if count > 1]
        if twice:
            raise ValueError(f"the column {twice[0]!r} has two roles")
        if (self.goal.l is not None or self.goal.t is not None) and not self.sensitive:
            raise ValueError("l and t speak of sensitive columns: name at least one")
        if self.goal.k < 2 and self.goal.l is None and self.goal.t is None:
            raise ValueError("goal: ask for k of 2 or more, for l or for t")
        return self

    @property
    def columns(self) -> Names:
        quasi, sensitive = (one.name for one in self.quasi), (one.name for one in self.sensitive)
        return (*quasi, *sensitive, *self.keep, *self.drop)

    def check(self, table: TextTable) -> None:
        """Raises InvalidRequest for a column without a role, and for a role without its column."""
        for name in self.columns:
            table.column(name, field="plan")
        left = [name for name in table.names if name not in self.columns]
        if left:
            raise InvalidRequest(
                "plan",
                f"gives no role to the column {left[0]!r}.",
                "Name each column under quasi, sensitive, keep or drop.",
            )

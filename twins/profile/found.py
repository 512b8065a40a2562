"""What was found in a table: frozen models, because they come out of a sandbox that read hostile bytes.

For the rights holder alone: counts, ranges and frequent values here follow from the data without any noise.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from domain.dialect import Dialect
from domain.model import Model, Number, Whole

MOST_COLUMNS = 20_000
MOST_FREQUENT = 60
Short = Annotated[str, StringConstraints(max_length=400)]
Count = Annotated[Whole, Field(ge=0)]
OpenField = Literal["decimal", "dates"]
"""What of a dialect the cells of a table may leave open."""


class Numbers(Model):
    """The numbers of a column. Quantiles (1, 5, 25, 50, 75, 95, 99 %), skew and bars are of sampled rows."""

    count: Count
    lower: Number
    upper: Number
    mean: Number
    sd: Number
    zeros: Count = 0
    decimals: Count = 0
    quantiles: tuple[Number, ...] = ()
    skew: Number = 0
    # Yeo and Johnson, Biometrika 2000: the power, and the skew behind it
    power: Number | None = None
    skew_after: Number | None = None
    # twenty equal steps from lower to upper
    bars: Annotated[tuple[Count, ...], Field(max_length=20)] = ()


class Days(Model):
    """The dates of a column: the first, the last, and how many cells the calendar does not have. Quantiles
    (1, 5, 95, 99 %) are of sampled rows."""

    first: Short
    last: Short
    impossible: Count = 0
    quantiles: Annotated[tuple[Short, ...], Field(max_length=4)] = ()


class Identifying(Model):
    """What the scan for identifying columns says: counts by rule, never a value."""

    kind: Short
    classification: Annotated[str, StringConstraints(pattern="^(direct|quasi|sensitive|none)$")]
    confidence: Annotated[Number, Field(ge=0, le=1)]
    proposed: Annotated[str, StringConstraints(pattern="^(drop|mask|generalise|pseudonymise|keep)$")]
    why: Short
    masked_example: Short = ""
    evidence: dict[Short, Count] = Field(default_factory=dict)
    is_flagged: bool


class FoundColumn(Model):
    """One column. `frequent` counts may be too small by `short_by`; 0 means that they are exact and all.
    A column that may identify people has none, and one that identifies them directly no range either."""

    name: Short
    rows: Count
    missing: Annotated[dict[Short, Count], Field(max_length=80, default_factory=dict)]
    kinds: Annotated[dict[Short, Count], Field(max_length=20, default_factory=dict)]
    distinct: Count = 0
    distinct_is_exact: bool = True
    frequent: Annotated[tuple[tuple[Short, Count], ...], Field(max_length=MOST_FREQUENT)] = ()
    short_by: Count = 0
    longest: Count = 0
    words: Annotated[Number, Field(ge=0)] = 0
    numbers: Numbers | None = None
    days: Days | None = None
    identifying: Identifying

    @property
    def present(self) -> int:
        """Cells that hold a value."""
        return self.rows - sum(self.missing.values())

    @property
    def masked(self) -> FoundColumn:
        """As it may be written down: without what would name somebody."""
        if not self.identifying.is_flagged:
            return self
        return self.masked_if_direct.model_copy(update={"frequent": ()})

    @property
    def masked_if_direct(self) -> FoundColumn:
        """As it may be looked at, and not written down: what names nobody by itself keeps its values."""
        if not self.identifying.is_flagged or self.identifying.classification != "direct":
            return self
        return self.model_copy(update={"frequent": (), "numbers": None, "days": None})

    @property
    def missing_share(self) -> float:
        return 1 - self.present / self.rows if self.rows else 0.0


class Together(Model):
    """How far the quasi-identifiers single people out: the smallest group, and rows that stand alone."""

    columns: Annotated[tuple[Short, ...], Field(max_length=200)]
    rows: Count
    k: Count
    unique: Count
    groups: Count
    is_exact: bool


class People(Model):
    """A column that may name the privacy unit, and how many rows its people have."""

    column: Short
    people: Count
    people_is_exact: bool
    # of rows for each person: the 5, 25, 50, 75, 95 and 99 % quantiles and the most
    rows_per_person: Annotated[tuple[Count, ...], Field(max_length=7)]
    unnamed: Count = 0
    # the smallest hashes of its values: tables that share people share them
    hashes: Annotated[tuple[Count, ...], Field(max_length=256)] = ()


class Dependency(Model):
    """Every value of `determines` belongs to one value of `follows`, in all rows but `exceptions`."""

    determines: Short
    follows: Short
    exceptions: Count = 0


class FoundTable(Model):
    """One table, read to its end."""

    rows: Count
    columns: Annotated[tuple[FoundColumn, ...], Field(max_length=MOST_COLUMNS)]
    sampled: Count = 0
    candidate_ids: Annotated[tuple[Short, ...], Field(max_length=MOST_COLUMNS)] = ()
    # columns that may name the privacy unit, the likeliest first
    people: Annotated[tuple[People, ...], Field(max_length=10)] = ()
    together: Together | None = None
    dependencies: Annotated[tuple[Dependency, ...], Field(max_length=500)] = ()
    notes: Annotated[tuple[Short, ...], Field(max_length=100)] = ()
    # how the file is written, where that is not the one form of twins and runs; and where two answers fit
    dialect: Dialect | None = None
    open: Annotated[tuple[OpenField, ...], Field(max_length=2)] = ()
    # columns that seem to be of numbers or days, with cells that no dialect of the table reads
    unread: Annotated[tuple[Short, ...], Field(max_length=MOST_COLUMNS)] = ()

    def people_of(self, column: str | None) -> People | None:
        """What is known of the people that this column names."""
        return next((people for people in self.people if people.column == column), None)

    def column(self, name: str) -> FoundColumn:
        return next(column for column in self.columns if column.name == name)

"""A data set as its rights holder declares it. Everything here is public to the people whom the policy names.

Nothing in a declaration may be looked up in the data by the platform: bounds, categories and sizes are what
the rights holder states, since a bound taken from the data is itself a disclosure.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.loss import Epsilon, micro
from domain.model import InsidePath, Model, Number, Slug, Whole, Words, find_inside_another
from domain.policy import Policy

ONE_LINE = r"^[^\t\r\n\x00]*$"
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=ONE_LINE)]
Category = Annotated[str, StringConstraints(max_length=200, pattern=ONE_LINE)]
PERSON = "{person}"


def _repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]


def _strict(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise ValueError(str(error)) from None


class _Lines(list[str]):
    # the writer quotes a cell only for the characters of its own line end: both of them must be in it
    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")


class Typical(Model):
    """Public knowledge about a column (an instrument's manual, a national statistic): enlivens the twin."""

    mean: Number
    sd: Annotated[Number, Field(gt=0)]


class Column(Model):
    """One declared column. Columns of the file that are not declared are left out of the snapshot."""

    name: ColumnName
    kind: Literal["person", "integer", "number", "categorical"]
    lower: Number | None = None
    upper: Number | None = None
    decimals: Annotated[Whole, Field(ge=0, le=12)] = 2
    categories: tuple[Category, ...] = ()
    typical: Typical | None = None
    missing: Category = "n/a"
    missing_rate: Annotated[Number, Field(ge=0, lt=1)] = 0
    description: Words = ""

    @model_validator(mode="after")
    def _kind_has_what_it_needs(self) -> Column:
        if self.kind in ("integer", "number"):
            if self.lower is None or self.upper is None:
                raise ValueError(f"column {self.name}: lower and upper bounds are missing; declare both")
            if self.lower >= self.upper:
                raise ValueError(f"column {self.name}: lower must be less than upper")
            if self.kind == "integer" and math.ceil(self.lower) > math.floor(self.upper):
                raise ValueError(f"column {self.name}: no whole number lies between lower and upper")
        if self.kind == "categorical" and not self.categories:
            raise ValueError(f"column {self.name}: categories are missing; declare them")
        return self


class Table(Model):
    """One delimited text file; the ending decides the delimiter (.tsv: tab, .csv: comma)."""

    path: Annotated[InsidePath, StringConstraints(pattern=r"\.(tsv|csv)$")]
    columns: Annotated[tuple[Column, ...], Field(min_length=1, max_length=5000)]
    rows_per_person: Literal["one", "many"] = "one"

    @model_validator(mode="after")
    def _one_person_column(self) -> Table:
        if repeated := _repeated(column.name for column in self.columns):
            raise ValueError(f"column {repeated[0]} is declared twice")
        if sum(column.kind == "person" for column in self.columns) != 1:
            raise ValueError("exactly one column must have kind person: the one that names the privacy unit")
        return self

    @property
    def delimiter(self) -> str:
        return "\t" if self.path.endswith(".tsv") else ","

    def split(self, text: str) -> Iterator[list[str]]:
        """The rows of this text. TSV has no quotes (BIDS), CSV has. Raises ValueError on a bad quote."""
        if self.delimiter == "\t":
            lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
            return (line.split("\t") for line in lines)
        return _strict(csv.reader(io.StringIO(text, newline=""), strict=True))

    def join(self, rows: Iterable[list[str]]) -> str:
        """Rows as this table's text; cells keep their text, so `n/a` and `25` stay what they were."""
        if self.delimiter == "\t":
            return "".join("\t".join(row) + "\n" for row in rows)
        lines = _Lines()
        csv.writer(lines, lineterminator="\r\n").writerows(rows)
        return "".join(lines)

    @property
    def person_column(self) -> Column:
        return next(column for column in self.columns if column.kind == "person")


class PrivacyUnit(Model):
    """What one neighbour differs by: everything that belongs to one value of this column."""

    name: Slug = "participant"
    table: InsidePath
    column: ColumnName


class PersonFile(Model):
    """A file that each person has, by a path with `{person}`; public `twin_text` fills the twin's."""

    path: InsidePath
    twin_text: Annotated[str, StringConstraints(max_length=100_000)] = ""

    @model_validator(mode="after")
    def _names_the_person(self) -> PersonFile:
        if self.path.split("/")[0] != PERSON:
            raise ValueError("the path of a person's file must start with the folder {person}")
        return self


class PublicFile(Model):
    """A file that says nothing about any one person; every block and the twin get it as it is.

    The rights holder states that it is public and gives the text here: it is never read from the original.
    """

    path: InsidePath
    text: Annotated[str, StringConstraints(max_length=1_000_000)]


class Declaration(Model):
    """What a rights holder registers (`dataset.yaml`)."""

    name: Slug
    title: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    description: Words = ""
    licence: Words = ""
    citation: Words = ""
    layout: Literal["bids", "tables"] = "tables"
    privacy_unit: PrivacyUnit
    nominal_size: Annotated[Whole, Field(ge=6, le=1_000_000_000)]
    tables: Annotated[tuple[Table, ...], Field(min_length=1, max_length=100)]
    person_files: Annotated[tuple[PersonFile, ...], Field(max_length=1000)] = ()
    public_files: Annotated[tuple[PublicFile, ...], Field(max_length=1000)] = ()
    cohort: Slug | None = None
    new_people: bool = False
    # the rights holder's word that no real person is in it: only such data may run where little is isolated
    synthetic: bool = False
    budget_epsilon: Epsilon
    policy: Policy

    @model_validator(mode="after")
    def _hangs_together(self) -> Declaration:
        paths = [
            *(table.path for table in self.tables),
            *(file.path for file in self.public_files),
            *(file.path for file in self.person_files),
        ]
        if repeated := _repeated(paths):
            raise ValueError(f"the file {repeated[0]} is declared twice")
        if inner := find_inside_another(paths):
            raise ValueError(f"the file {inner} lies inside the path of another declared file")
        unit_table = next((table for table in self.tables if table.path == self.privacy_unit.table), None)
        if unit_table is None:
            raise ValueError(f"privacy_unit.table {self.privacy_unit.table} is not among the declared tables")
        if unit_table.person_column.name != self.privacy_unit.column:
            raise ValueError(
                f"privacy_unit.column {self.privacy_unit.column} must be the column of kind person"
            )
        if unit_table.rows_per_person != "one" and self.layout == "bids":
            raise ValueError("a BIDS participants table has one row per person")
        if self.person_files and self.layout != "bids":
            raise ValueError("person_files need layout bids")
        return self

    @property
    def budget_micro_epsilon(self) -> int:
        return micro(self.budget_epsilon)


class DatasetState(StrEnum):
    IMPORTING = "IMPORTING"  # the worker zone checks and seals what was delivered
    READY = "READY"
    REFUSED = "REFUSED"  # `problem` says why, from a fixed list: the text has not seen data


class ImportProblem(StrEnum):
    """Why an import was refused. A fixed list, because these words pass the gateway; `dpgate dataset check`
    says more, on the rights holder's own machine."""

    NOT_DELIVERED = "nothing was delivered under that name; run dpgate dataset add where the data are"
    FILE_MISSING = "a declared file is missing"
    FILE_UNDECLARED = "the tree holds a file that is neither declared nor a person's"
    NOT_A_FILE = "the tree holds a link or a special file; deliver plain files"
    FILE_NAME = "a file's path is not UTF-8, has control characters, or is too long or too deep; rename it"
    TOO_LARGE = "a file is larger than this platform imports"
    NOT_UTF8 = "a table is not UTF-8 text; convert it"
    NOT_A_TABLE = "a table has rows of unequal length, a quote that never ends, or no header"
    UNIT_COLUMN_MISSING = "a table lacks its person column"
    COLUMN_MISSING = "a table lacks a declared column"
    COLUMN_REPEATED = "a table has two columns of the same name"
    PERSON_EMPTY = "a row names no person"
    PERSON_NAME = "a person's name has characters that a folder cannot have"
    PERSON_REPEATED = "a person has two rows in a table declared with one row per person"
    PEOPLE_MISSING = "a table or folder names a person who is missing from the privacy unit's table"
    FOLDER_MISSING = "a person of the privacy unit's table has no folder"
    SAME_PEOPLE = (
        "people of this data set are in another cohort already; declare that cohort, "
        "or state new_people: true if the same names stand for other people"
    )


class Dataset(Model):
    """A registered data set: the declaration, and what became of its import."""

    id: str
    version: int
    owner: Slug
    cohort: str
    declaration: Declaration
    state: DatasetState
    problem: ImportProblem | None = None
    snapshot: str | None = None

    @property
    def name(self) -> str:
        return self.declaration.name

"""Facts of a data set for people who read: its dictionary, and what an attacker could learn at most."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from desk.rights import needs
from domain import assessment, attacker, dictionary
from domain.model import Slug
from domain.permissions import Permission, User
from store import datasets, history
from store.database import Database


class ColumnView(BaseModel):
    """One declared column of one table."""

    table: str
    column: str
    kind: str
    lower: float | str | None = Field(description="A number; of a column of dates, a day like 2020-01-31")
    upper: float | str | None
    categories: list[str]
    missing: str
    missing_rate: float
    rows_per_person: str
    typical_rows: int | None = Field(description="Of a person in the twin; None where it is not stated")
    most_rows: int | None = Field(description="Kept of one person at the most; None where nothing is stated")
    description: str


class DictionaryView(BaseModel):
    """Every column that analyses can use; all of it was declared, nothing was looked up in the data."""

    dataset: str
    version: int
    columns: list[ColumnView]
    rewritten: dict[str, str] = {}
    """By table: how it was delivered, where its import writes it otherwise."""


class BoundView(BaseModel):
    """The most that suspicions about one person, or a family, can grow; text is rounded against us."""

    what: str
    about: str
    people: int
    epsilon: str
    delta: str | None
    odds_grow_by: str
    from_1_percent: str
    from_10_percent: str
    from_50_percent: str
    exception: str = Field(description="How rarely the bound may fail; empty where it always holds")
    holds: bool


class Sentence(BaseModel):
    """What stands beside the bounds."""

    about: str
    text: str


class AttackerView(BaseModel):
    """Closed bounds from what was spent and what may be; where there is no bound, it says so."""

    dataset: str
    example: str
    bounds: list[BoundView]
    sentences: list[Sentence]


class AssessmentView(BaseModel):
    """A draft of an impact assessment; all of it was declared, nothing depends on the data."""

    dataset: str
    version: int
    text: str = Field(description="Markdown; what people have to write is marked")


@needs(Permission.DATASET_REGISTER)
def get_assessment(database: Database, user: User, name: Slug) -> AssessmentView:
    """For its rights holder, of the newest version, whatever became of its import."""
    with database.reading() as connection:
        dataset = datasets.newest_registration(connection, name, user)
    return AssessmentView(dataset=name, version=dataset.version, text=assessment.draft(dataset))


@needs(Permission.DATASET_READ)
def get_dictionary(
    database: Database,
    user: User,
    name: Slug,
    q: Annotated[str, Field(max_length=200, description="Words that a column's names and meaning have")] = "",
) -> DictionaryView:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
    found = dictionary.entries(dataset.declaration, sought=q)
    return DictionaryView(
        dataset=name,
        version=dataset.version,
        columns=[ColumnView(**{**vars(entry), "categories": list(entry.categories)}) for entry in found],
        rewritten={
            table.path: table.dialect.words
            for table in dataset.declaration.tables
            if table.dialect and table.dialect.words
        },
    )


@needs(Permission.BUDGET_READ)
def get_attacker(database: Database, user: User, name: Slug) -> AttackerView:
    """Bounds for everything spent so far and for the whole cap, for one person and for families."""
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        spent = history.spent(connection, cohort=dataset.cohort)
    found = attacker.learnable(dataset.declaration, spent)
    return AttackerView(
        dataset=name,
        example=found.example,
        bounds=[_bound(bound) for bound in found.bounds],
        sentences=[
            Sentence(about=about, text=text)
            for about, text in (("A safer budget", found.safer), *found.sentences)
            if text
        ],
    )


def _bound(bound: attacker.Bound) -> BoundView:
    low, middle, high = bound.become
    return BoundView(
        what=bound.what,
        about=bound.about,
        people=bound.people,
        epsilon=bound.epsilon,
        delta=bound.delta,
        odds_grow_by=bound.factor,
        from_1_percent=low,
        from_10_percent=middle,
        from_50_percent=high,
        exception=bound.exception,
        holds=bound.holds,
    )

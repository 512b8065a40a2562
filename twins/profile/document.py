"""A whole profile as a document: what was found in each table. Equal data give equal bytes but for the id."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from domain.model import Model, Slug, Whole
from twins.profile.found import FoundTable
from twins.profile.proposals import DictionaryEntry

WARNING = (
    "For the rights holder only. Everything here was read from the original data without any protection. "
    "Do not send or publish it."
)
Text = Annotated[str, Field(max_length=4000)]


class ProfiledTable(Model):
    """One table: what was found, or why it could not be read."""

    name: Text
    files: Annotated[Whole, Field(ge=1)]
    bytes: Annotated[Whole, Field(ge=0)]
    is_many: bool = False
    refused: Text | None = None
    found: FoundTable | None = None
    # the column of people, where its people are those of the unit's table
    person: Text | None = None


class ProfileDocument(Model):
    """The whole profile. For the rights holder alone: its figures follow from the data without noise."""

    version: Literal[1] = 1
    # random: what a declaration and the audit trail call it by. None before it is written
    id: Annotated[str, Field(max_length=64)] | None = None
    warning: Text
    layout: Literal["bids", "tables"]
    # the table that lists everybody
    unit: Text | None = None
    sandboxed: bool
    tables: tuple[ProfiledTable, ...]
    notes: tuple[Text, ...] = ()

    @property
    def readable(self) -> dict[str, FoundTable]:
        return {table.name: table.found for table in self.tables if table.found is not None}


class DictionaryColumn(Model):
    """What a sidecar beside a table says of a column."""

    description: Text = ""
    levels: Annotated[tuple[Text, ...], Field(max_length=2000)] = ()
    units: Text = ""

    @classmethod
    def of(cls, entry: DictionaryEntry) -> DictionaryColumn:
        return cls(description=entry.description, levels=entry.levels, units=entry.units)

    @property
    def entry(self) -> DictionaryEntry:
        return DictionaryEntry(self.description, self.levels, self.units)


class DeliveredProfile(Model):
    """What the worker zone seals for a rights holder: a profile, and the sidecars that they may not have."""

    version: Literal[1] = 1
    name: Slug
    document: ProfileDocument
    dictionaries: dict[Text, dict[Text, DictionaryColumn]] = Field(default_factory=dict)

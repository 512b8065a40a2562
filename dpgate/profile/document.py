"""`profile.json`: what was found in each table. Equal data give equal bytes: there is no date in it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from domain.model import Model, Whole
from domain.profile import FoundTable

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

"""How a delivered table is written where it comes from, as its rights holder declares it."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from domain.model import Model
from formats.dialect import Mark

Encoding = Literal["utf-8", "latin-1", "windows-1252"]
Dates = Literal["YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY", "DD-MM-YYYY", "MM/DD/YYYY", "YYYYMMDD"]


_MARKS = {",": "commas", ";": "semicolons", "tab": "tabs", "|": "bars", ".": "points"}


class Dialect(Model):
    """How a delivered text table is written. Its import writes it anew, once: twin and runs have commas (in a
    `.tsv` tabs), UTF-8, decimal points and days like 2020-01-31."""

    delimiter: Mark = ","
    """Between the cells of a `.csv` file; a `.tsv` file has tabs."""
    encoding: Encoding = "utf-8"
    """Of the file. `utf-8` may begin with a byte order mark."""
    decimal: Literal[".", ","] = "."
    """In columns of kind `integer` and `number`."""
    thousands: Literal["none", ".", ",", "'", "space"] = "none"
    """Between groups of three digits, in the same columns."""
    dates: Dates = "YYYY-MM-DD"
    """Of days in columns of kind `date`. A zero in front may be missing."""

    @model_validator(mode="after")
    def _told_apart(self) -> Dialect:
        if self.decimal == self.thousands:
            raise ValueError("decimal and thousands must be different marks; change one of the two")
        return self

    @property
    def words(self) -> str:
        """How the file was delivered and how everybody sees it, where that is not the same."""
        stated = self.model_dump(exclude_defaults=True)
        told = {
            "delimiter": f"{_MARKS.get(self.delimiter, self.delimiter)} between cells",
            "encoding": f"encoding {self.encoding}",
            "decimal": f"decimal {_MARKS[self.decimal]}",
            "thousands": f"{_MARKS.get(self.thousands, self.thousands)} between thousands",
            "dates": f"days as {self.dates}",
        }
        as_delivered = ", ".join(words for name, words in told.items() if name in stated)
        if not as_delivered:
            return ""
        return f"Delivered with {as_delivered}; written anew: 1.5, 2020-01-31, UTF-8, the usual separator."

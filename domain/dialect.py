"""How a delivered table is written where it comes from, as its rights holder declares it."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from domain.model import Model
from formats.dialect import Mark

Encoding = Literal["utf-8", "latin-1", "windows-1252"]
Dates = Literal["YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY", "DD-MM-YYYY", "MM/DD/YYYY", "YYYYMMDD"]


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

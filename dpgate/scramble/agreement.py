"""Who answers for a scrambled folder, under which agreement, until when; and the folder's own record."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import StringConstraints

from domain.model import InsidePath, Model, parse
from dpgate.errors import DpgateError

RECORD = "scramble.json"
NOTE = "NOT-ANONYMOUS.md"

METHODS = ("stub", "permute", "swap", "jitter", "bidscramble")
Method = Literal["stub", "permute", "swap", "jitter", "bidscramble"]
Line = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=2, max_length=500, pattern=r"^[^\n\r]*$")
]


class Agreement(Model):
    """A named person's signature. `expires` is the last day on which the folder may be used."""

    signed_by: Line
    agreement: Line
    expires: date

    def check(self, today: date) -> None:
        """Raises DpgateError for a day that is over."""
        if self.expires < today:
            raise DpgateError(f"--expires {self.expires} is over; name the last day on which it may be used")


class Written(Model):
    """One file as it was handed over."""

    path: InsidePath
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Record(Model):
    """scramble.json: what the folder is, and what was in it when it was handed over."""

    format: Literal[1] = 1
    guarantee: Literal["none"] = "none"
    label: str
    method: Method
    made: date
    agreement: Agreement
    files: tuple[Written, ...]


def agree(signed_by: str, agreement: str, expires: str, *, today: date) -> Agreement:
    """Raises InvalidRequest for a name, text or date that is none, DpgateError for a date that is over."""
    content = {"signed_by": signed_by, "agreement": agreement, "expires": expires}
    found = parse(Agreement, content)
    found.check(today)
    return found

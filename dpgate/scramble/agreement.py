"""Who answers for a scrambled folder, under which agreement, until when; and the folder's own record."""

from __future__ import annotations

from datetime import date

from domain.model import parse
from domain.scrambled import METHODS, NOTE, RECORD, Agreement, Method, Record, Written
from dpgate.errors import DpgateError


def check(agreement: Agreement, today: date) -> None:
    """Raises DpgateError for a day that is over."""
    if agreement.expires < today:
        raise DpgateError(f"--expires {agreement.expires} is over; name the last day on which it may be used")


def agree(signed_by: str, agreement: str, expires: str, *, today: date) -> Agreement:
    """Raises InvalidRequest for a name, text or date that is none, DpgateError for a date that is over."""
    content = {"signed_by": signed_by, "agreement": agreement, "expires": expires}
    found = parse(Agreement, content)
    check(found, today)
    return found


__all__ = ["METHODS", "NOTE", "RECORD", "Agreement", "Method", "Record", "Written", "agree", "check"]

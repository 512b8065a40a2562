"""Who answers for a scrambled folder, under which agreement, until when; and the folder's own record."""

from __future__ import annotations

from datetime import date, timedelta

from domain.model import parse
from domain.scrambled import METHODS, MOST_DAYS, NOTE, RECORD, Agreement, Method, Record, Written
from dpgate.errors import DpgateError


def check(agreement: Agreement, today: date) -> None:
    """Raises DpgateError for a day that is over, and for one that is too far."""
    if agreement.expires < today:
        raise DpgateError(f"--expires {agreement.expires} is over; name the last day on which it may be used")
    if (agreement.expires - today).days > MOST_DAYS:
        raise DpgateError(
            f"--expires {agreement.expires} is more than {MOST_DAYS} days away; name a day until "
            f"{today + timedelta(days=MOST_DAYS)}, and scramble again when it is over"
        )


def agree(signed_by: str, agreement: str, expires: str, *, today: date) -> Agreement:
    """Raises InvalidRequest for a name, text or date that is none, DpgateError for a date that is over."""
    content = {"signed_by": signed_by, "agreement": agreement, "expires": expires}
    found = parse(Agreement, content)
    check(found, today)
    return found


__all__ = ["METHODS", "NOTE", "RECORD", "Agreement", "Method", "Record", "Written", "agree", "check"]

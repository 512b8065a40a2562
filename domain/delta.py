"""The largest delta that any request may ask for: far less than one in the number of people."""

from __future__ import annotations

from domain.loss import Currency, Delta, format_amount, units
from domain.refusals import admission
from privacy.cost import ATTO

LEAST_PEOPLE_PER_DELTA = 10
"""A delta is at most one in so many times the nominal size: one in the size would allow to publish a row."""


def check_delta(delta: Delta | None, *, field: str, nominal_size: int) -> None:
    """Raises InvalidRequest for one that is larger."""
    most = ATTO // (LEAST_PEOPLE_PER_DELTA * nominal_size)
    if delta is not None and units(Currency.DELTA, delta) > most:
        limit = format_amount(Currency.DELTA, most)
        raise admission.DELTA(at=field, delta=delta, limit=limit)

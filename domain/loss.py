"""An amount of privacy loss as people write it: exact decimal text of a currency, kept as integer units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, WithJsonSchema

from privacy.cost import Cost, Currency, format_amount
from privacy.loss import format_epsilon, micro_epsilon

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,9})?", re.ASCII | re.IGNORECASE)
_COMMA = re.compile(r"[+-]?\d{1,10},\d{1,20}", re.ASCII)
_LONGEST = 64
T = TypeVar("T")


def units(currency: Currency, value: Any) -> int:
    """Integer units of an amount. Raises ValueError for anything but a plain number above zero.

    A float stands for the decimal number that it prints as.
    """
    if isinstance(value, str) and _COMMA.fullmatch(value.strip()):
        raise ValueError(f"has a comma; write {value.strip().replace(',', '.')}.")
    if currency is Currency.EPSILON:
        return micro_epsilon(value)
    exact = _exact(currency, value)
    # compared before any conversion: a Fraction of 1e999999999 would fill the memory
    if exact <= 0:
        raise ValueError(f"{currency} must be above zero.")
    if exact > 10**6:
        raise ValueError(f"{currency} is far too large.")
    if exact < Decimal(1).scaleb(-30):
        raise ValueError(f"{currency} is far too small.")
    amount = Fraction(exact) * currency.per_one
    if amount.denominator != 1:
        places = len(str(currency.per_one)) - 1
        fix = "give a whole number" if not places else f"at most {places} decimal places are kept; round it"
        raise ValueError(f"{currency}: {fix}.")
    return int(amount)


def canonical_amount(currency: Currency, value: Any) -> str:
    """One spelling for one amount, so that "0.50" and 0.5 are the same question."""
    return format_amount(currency, units(currency, value))


def texts(cost: Cost) -> dict[str, str]:
    """A cost as people read it: exact decimal text by currency."""
    return in_order({str(currency): format_amount(currency, amount) for currency, amount in cost})


def in_order(amounts: Mapping[str, T]) -> dict[str, T]:
    """Epsilon first. By letter, as a cost and canonical bytes have them, delta would be."""
    return {name: amounts[name] for name in sorted(amounts, key=place_of)}


def place_of(currency: str) -> int:
    """Where a currency stands among others; what is none stands last."""
    known = [str(one) for one in Currency]
    return known.index(currency) if currency in known else len(known)


def _exact(currency: Currency, value: Any) -> Decimal:
    text = repr(float(value)) if isinstance(value, float) else str(value).strip()
    is_number = isinstance(value, str | int | float) and not isinstance(value, bool)
    if not is_number or len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        raise ValueError(f"{currency} must be a plain number, written as text or as a number.")
    return Decimal(text)


def _canonical(currency: Currency) -> BeforeValidator:
    return BeforeValidator(lambda value: canonical_amount(currency, value))


def _schema(currency: Currency, meaning: str, *, example: str) -> WithJsonSchema:
    kinds = [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}]
    return WithJsonSchema(
        {"anyOf": kinds, "title": str(currency), "description": meaning, "examples": [example]}
    )


Epsilon = Annotated[
    str,
    _canonical(Currency.EPSILON),
    _schema(Currency.EPSILON, "Positive, at most six decimals", example="0.5"),
]
Delta = Annotated[
    str,
    _canonical(Currency.DELTA),
    _schema(Currency.DELTA, "Positive, at most 0.01, at most 18 decimals", example="0.000001"),
]
Nats = Annotated[
    str,
    _canonical(Currency.NATS),
    _schema(Currency.NATS, "Positive, at most six decimals", example="0.03125"),
]


def micro(epsilon: Epsilon) -> int:
    """Integer micro-epsilon."""
    return micro_epsilon(epsilon)


__all__ = [
    "Currency",
    "Delta",
    "Epsilon",
    "Nats",
    "canonical_amount",
    "format_amount",
    "format_epsilon",
    "micro",
    "texts",
    "units",
]

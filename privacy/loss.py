"""What a release costs, as an exact integer, and what kind of promise it is.

One micro-epsilon is 10^-6 of epsilon. Every account, comparison and noise scale starts from this integer;
a float epsilon must never be added up (0.1 + 0.1 + 0.1 > 0.3 refuses a legitimate third request).
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

MICRO = 1_000_000
MIN_MICRO_EPSILON = 1_000
MAX_MICRO_EPSILON = 1_000_000_000

_MAX_TEXT_LENGTH = 64
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,9})?", re.ASCII | re.IGNORECASE)


class GuaranteeClass(StrEnum):
    """Four promises that are never added up with each other and are always printed with a release."""

    PURE_DP = "pure_dp"
    APPROX_DP = "approx_dp"
    PAC = "pac"
    EMPIRICAL = "empirical"

    @property
    def sentence(self) -> str:
        """One line in plain words, for people who read a release."""
        return _SENTENCES[self]


_SENTENCES = {
    GuaranteeClass.PURE_DP: (
        "Differential privacy: whether or not one person is in the data changes the probability "
        "of any result by at most a factor e^epsilon."
    ),
    GuaranteeClass.APPROX_DP: (
        "Approximate differential privacy: the factor e^epsilon holds except for a part of the results "
        "whose total probability is at most delta."
    ),
    GuaranteeClass.PAC: (
        "PAC privacy: the chance of a correct guess about who was in the sample is bounded, for data "
        "sampled at random; weaker than differential privacy."
    ),
    GuaranteeClass.EMPIRICAL: (
        "Empirical only: noise matched to observed stability. Not differential privacy; it does not "
        "protect outliers or against an adversarial pipeline."
    ),
}


def micro_epsilon(value: str | int | float | Decimal | Fraction) -> int:
    """Parse an epsilon exactly into integer micro-epsilon.

    A float stands for the decimal number that it prints as, so 0.1 is one tenth. Raises ValueError for
    anything that is not a plain number from 0.001 to 1000 with at most 6 decimal places: zero or a
    negative epsilon would refill a budget, NaN compares as never above a cap, and 10^-18 would be free.
    """
    exact = _exact_number(value)
    _check_range(exact)
    micro = Fraction(exact) * MICRO
    if micro.denominator != 1:
        raise ValueError("epsilon has more than 6 decimal places; round it to a multiple of 0.000001.")
    return int(micro)


def check_micro_epsilon(micro: int) -> None:
    """Raise ValueError unless `micro` is an integer that `micro_epsilon` could have returned."""
    if not isinstance(micro, int) or isinstance(micro, bool):
        raise ValueError("micro-epsilon must be an integer; parse the epsilon with micro_epsilon().")
    _check_range(Fraction(micro, MICRO))


def format_epsilon(micro: int) -> str:
    """Micro-epsilon as the shortest exact decimal text: 1_500_000 gives "1.5"."""
    whole, rest = divmod(abs(micro), MICRO)
    sign = "-" if micro < 0 else ""
    return f"{sign}{whole}.{rest:06d}".rstrip("0").rstrip(".")


def _exact_number(value: object) -> Decimal | Fraction:
    if isinstance(value, bool):
        raise ValueError("epsilon must be a number, not true or false.")
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError("epsilon must be a finite number, not NaN or infinite.")
        return value
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        # float() first: the repr of a numpy float is not a number
        return _parse(repr(float(value)))
    if isinstance(value, str):
        return _parse(value.strip())
    raise ValueError("epsilon must be a number such as 1 or 0.5.")


def _parse(text: str) -> Decimal:
    if text.lstrip("+-").lower() in {"nan", "inf", "infinity"}:
        raise ValueError("epsilon must be a finite number, not NaN or infinite.")
    if len(text) > _MAX_TEXT_LENGTH or not _NUMBER.fullmatch(text):
        raise ValueError("epsilon must be a number such as 1 or 0.5.")
    return Decimal(text)


def _check_range(value: Decimal | Fraction) -> None:
    # Compared before any conversion: Fraction(Decimal("1e999999999")) would fill the memory.
    if value <= 0:
        raise ValueError("epsilon must be above zero.")
    if value > Fraction(MAX_MICRO_EPSILON, MICRO):
        raise ValueError("epsilon is above 1000, which protects nobody; ask for a smaller one.")
    if value < Fraction(MIN_MICRO_EPSILON, MICRO):
        raise ValueError("epsilon is below 0.001, the smallest that can be asked for; ask for a larger one.")

"""Dates as tables write them: which year a value names, if it is a date. There is no clock here."""

from __future__ import annotations

import re

FIRST_YEAR, LAST_YEAR = 1850, 2150
FIRST_WRITTEN_OUT = 1500
"""Of dates such as 1789-04-30, which are hardly anything else."""
EXCEL_EPOCH = 1899
"""Day 0 of a spreadsheet's serial numbers is the last but one of this year (ECMA-376, part 1, 18.17.4.1)."""

_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?[AaPp][Mm])?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?"
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})" + _TIME)
_COMPACT = re.compile(
    r"(\d{4})(\d{2})(\d{2})(?:T[0-2]\d[0-5]\d(?:[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_CLOCK = re.compile(r":|\dT\d")
_MIDNIGHT = re.compile(r"[T ]00:?00(?::?00(?:[.,]0+)?)?")
_DAY_MONTH = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th|\.|er)?[ -](?:de )?([^\W\d_]{3,10})\.?(?: de)?[ ,-]{1,2}(\d{4}|\d{2})" + _TIME
)
_MONTH_DAY = re.compile(r"([^\W\d_]{3,10})\.?[ -](\d{1,2})(?:st|nd|rd|th)?,?[ -](\d{4})" + _TIME)
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? ", re.IGNORECASE)
_INTERVAL = re.compile(r"(.{8,25}?)(?: ?/ ?| (?:-|–|to) |\.\.)(.{8,25})")
_LONGEST, _SHORTEST_INTERVAL = 40, 18

_MONTHS_TEXT = """
jan feb mar apr may jun jul aug sep oct nov dec mrt mei okt maa mär mai dez ene abr ago dic gen mag giu
lug set ott fév fev avr jui aoû aou déc
"""
_MONTHS = frozenset(_MONTHS_TEXT.split())


def year_of(value: str) -> int | None:
    """The year of a date, or None where the value is no date. Two-digit years lie in 1931..2030.

    Of two dates with a sign between them (ISO 8601-1, 5.5) it is the year of the first.
    """
    if not 6 <= len(value) <= _LONGEST:
        return None
    both = _INTERVAL.fullmatch(value) if len(value) >= _SHORTEST_INTERVAL else None
    if both and year_of(both[2]) is not None:
        return year_of(both[1])
    if value[0].isalpha() and (day := _WEEKDAY.match(value)):
        value = value[day.end() :]
    if match := _YEAR_FIRST.fullmatch(value):
        return _checked(int(match[1]), int(match[3]), int(match[4]), first=FIRST_WRITTEN_OUT)
    if match := _YEAR_LAST.fullmatch(value):
        return _checked(_full(match[4]), int(match[3]), int(match[1]))
    if match := _COMPACT.fullmatch(value):
        return _checked(int(match[1]), int(match[2]), int(match[3])) if int(match[2]) <= 12 else None
    if match := _DAY_MONTH.fullmatch(value):
        return _named(match[2], int(match[1]), _full(match[3]))
    if match := _MONTH_DAY.fullmatch(value):
        return _named(match[1], int(match[2]), int(match[3]))
    return None


def has_time_of_day(value: str) -> bool:
    """Whether a date says when on that day; midnight says nothing."""
    return bool(_CLOCK.search(value)) and not _MIDNIGHT.search(value)


def year_of_serial(number: float) -> int:
    """The year of a spreadsheet's serial number of days, to about a day."""
    return EXCEL_EPOCH + int((number + 363) / 365.2425)


def _full(year: str) -> int:
    return int(year) if len(year) == 4 else int(year) + (1900 if int(year) > 30 else 2000)


def _checked(year: int, month: int, day: int, *, first: int = FIRST_YEAR) -> int | None:
    """Month and day may be in either order: 3/29/1982."""
    small, large = sorted((month, day))
    return year if first <= year <= LAST_YEAR and 1 <= small <= 12 and large <= 31 else None


def _named(month: str, day: int, year: int) -> int | None:
    return _checked(year, 1, day) if month.casefold()[:3] in _MONTHS else None

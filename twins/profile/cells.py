"""What one cell of a table looks like: a number, a date, a code, a formula, or text. Rules of linear time."""

from __future__ import annotations

import datetime
import re
from typing import Literal

CellKind = Literal[
    "whole", "decimal", "comma", "padded", "date", "date_other", "datetime", "datetime_other", "zoned",
    "formula", "text",
]  # fmt: skip

MISSING = frozenset({"", "n/a", "na", "nan", "null", "none", "nil", ".", "-", "?", "#n/a", "missing"})
"""How people write that a value is missing, in small letters and without spaces around it."""

LONGEST_LOOKED_AT = 64
"""Characters: a longer cell is text, whatever it begins with."""

_LARGEST = 1e150
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})")
_PADDED = re.compile(r"[+-]?0[0-9]{1,30}|[+-]?[0-9]{19,40}")
_DECIMAL = re.compile(
    r"[+-]?(?:[0-9]{1,40}\.[0-9]{0,40}|\.[0-9]{1,40}|[0-9]{1,40}(?=[eE]))(?:[eE][+-]?[0-9]{1,3})?"
)
_COMMA = re.compile(r"[+-]?(?:[0-9]{1,15}|[0-9]{1,3}(?:\.[0-9]{3}){1,5}),[0-9]{1,15}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_OTHER = re.compile(r"[0-9]{1,2}([/.-])[0-9]{1,2}\1[0-9]{4}|[0-9]{4}([/.])[0-9]{1,2}\2[0-9]{1,2}")
_TIME = r"[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
_DATETIME = re.compile(_DATE.pattern + _TIME)
_DATETIME_OTHER = re.compile(f"(?:{_DATE_OTHER.pattern}){_TIME}")
_ZONED = re.compile(f"{_DATE.pattern}{_TIME}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})")
_FORMULA = re.compile(r"[=@].|[+-][A-Za-z(].", re.DOTALL)
_WITH_DIGIT = re.compile(r"[+-]?[.]?[0-9]")


def is_missing(text: str) -> bool:
    """Also with spaces around it: `n/a ` is as missing as `n/a`."""
    return len(text) < LONGEST_LOOKED_AT and text.strip().casefold() in MISSING


def kind_of(text: str) -> CellKind:
    """Of a cell that is not missing; spaces around it do not count."""
    text = text.strip() if len(text) <= 4 * LONGEST_LOOKED_AT else text[: 4 * LONGEST_LOOKED_AT]
    if len(text) <= LONGEST_LOOKED_AT and _WITH_DIGIT.match(text):
        for kind, rule in _RULES:
            if rule.fullmatch(text):
                return kind
    return "formula" if _FORMULA.match(text) else "text"


_RULES: tuple[tuple[CellKind, re.Pattern[str]], ...] = (
    ("whole", _WHOLE),
    ("decimal", _DECIMAL),
    ("date", _DATE),
    ("datetime", _DATETIME),
    ("zoned", _ZONED),
    ("padded", _PADDED),
    ("comma", _COMMA),
    ("date_other", _DATE_OTHER),
    ("datetime_other", _DATETIME_OTHER),
)


def number_of(text: str, kind: CellKind) -> float | None:
    """The number in a cell of kind whole, decimal or comma; None for one too large to be squared."""
    text = text.strip()
    if kind == "comma":
        text = text.replace(".", "").replace(",", ".")
    value = float(text)
    return value if abs(value) < _LARGEST else None


def decimals_of(text: str) -> int:
    """Digits behind the point or comma."""
    mantissa = re.split("[eE]", text.strip(), maxsplit=1)[0].replace(",", ".")
    return len(mantissa.partition(".")[2])


def day_of(text: str) -> str | None:
    """An ISO date that the calendar has, from the year 1 on; else None."""
    try:
        return datetime.date.fromisoformat(text.strip()[:10]).isoformat()
    except ValueError:
        return None

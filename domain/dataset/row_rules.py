"""Rules between columns of a row that anybody knows without the data, and that every row of a twin keeps.

    end >= start                              also >, <= and <
    Weight ~ -85 + 0.94 * Height, sd 12       a straight line with a deviation
    visit_date rises with visit               over the rows of one person

A name that is more than letters, digits, dots and underscores stands between backticks. A rule changes the
column on its left and no other, so rules that have been kept stay kept: a column is changed by one rule at
most, and by none after another rule has used it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from domain.dataset.column import Column

Order = Literal[">=", ">", "<=", "<"]
ORDERED_KINDS = ("integer", "number", "date")

_NAME = r"(?:[^\W\d][\w.]*|`[^`]+`)"
_NUMBER = r"(?:\d{1,15}(?:\.\d{1,15})?(?:e[+-]?\d{1,2})?)"
_ORDER = re.compile(rf"({_NAME})\s*(>=|<=|>|<)\s*({_NAME})")
_LINE = re.compile(
    rf"({_NAME})\s*~\s*(-?\s*{_NUMBER})\s*([+-])\s*({_NUMBER})\s*\*\s*({_NAME})\s*,\s*sd\s+({_NUMBER})"
)
_RISES = re.compile(rf"({_NAME})\s+rises\s+with\s+({_NAME})")
_FORMS = "`end >= start`, `Weight ~ -85 + 0.9 * Height, sd 12` or `visit_date rises with visit`"


@dataclass(frozen=True)
class InOrder:
    """`left` is at least, above, at most or below `right` in each row that has both."""

    left: str
    order: Order
    right: str


@dataclass(frozen=True)
class OnALine:
    """`left` is intercept + slope * `right`, with a normal deviation, in each row that has both."""

    left: str
    intercept: float
    slope: float
    right: str
    sd: float


@dataclass(frozen=True)
class Rising:
    """Among the rows of one person that have both, `left` never falls while `right` rises."""

    left: str
    right: str


RowRule = InOrder | OnALine | Rising


def read_rule(text: str) -> RowRule:
    """One rule from its text. Raises ValueError with the forms that there are."""
    if found := _ORDER.fullmatch(text.strip()):
        order: Order = next(each for each in (">=", ">", "<=", "<") if each == found[2])
        return InOrder(_name(found[1]), order, _name(found[3]))
    if found := _RISES.fullmatch(text.strip()):
        return Rising(_name(found[1]), _name(found[2]))
    if found := _LINE.fullmatch(text.strip()):
        slope = float(found[4]) * (-1 if found[3] == "-" else 1)
        return OnALine(
            _name(found[1]), float(found[2].replace(" ", "")), slope, _name(found[5]), float(found[6])
        )
    raise ValueError(f"row rule {text!r} cannot be read; write one like {_FORMS}")


def check_rules(texts: Sequence[str], columns: Mapping[str, Column], *, many_rows: bool) -> None:
    """Raises ValueError for a rule that cannot be read, or that not every twin could keep."""
    used: set[str] = set()
    for text in texts:
        rule = read_rule(text)
        _check_columns(text, rule, columns)
        if rule.left in used:
            raise ValueError(
                f"row rule {text!r}: an earlier rule has changed or used {rule.left}; put this rule "
                "first, or remove one of the two"
            )
        if isinstance(rule, Rising) and not many_rows:
            raise ValueError(f"row rule {text!r}: rises with is for tables with rows_per_person: many")
        if isinstance(rule, InOrder):
            _check_room(text, rule, columns[rule.left], columns[rule.right])
        used |= {rule.left, rule.right}


def _check_columns(text: str, rule: RowRule, columns: Mapping[str, Column]) -> None:
    for name in (rule.left, rule.right):
        if name not in columns:
            raise ValueError(f"row rule {text!r}: {name} is not a declared column of the table")
        if columns[name].kind not in ORDERED_KINDS:
            raise ValueError(f"row rule {text!r}: {name} must be of kind {', '.join(ORDERED_KINDS)}")
    kinds = [columns[name].kind for name in (rule.left, rule.right)]
    if rule.left == rule.right:
        raise ValueError(f"row rule {text!r}: needs two different columns")
    if isinstance(rule, InOrder) and (kinds[0] == "date") is not (kinds[1] == "date"):
        raise ValueError(f"row rule {text!r}: a date is compared with dates only")
    times = [columns[name].with_time for name in (rule.left, rule.right)]
    if isinstance(rule, InOrder) and any(times) and not (all(times) and "=" in rule.order):
        raise ValueError(f"row rule {text!r}: a column with_time is compared with another one by >= or <=")
    if isinstance(rule, OnALine) and "date" in kinds:
        raise ValueError(f"row rule {text!r}: a line is for numbers; compare dates by >=")


def _check_room(text: str, rule: InOrder, left: Column, right: Column) -> None:
    """The left column must have room for whatever the right one holds."""
    upwards = rule.order in (">=", ">")
    end, other = (left.bounds[1], right.bounds[1]) if upwards else (left.bounds[0], right.bounds[0])
    if left.kind == "integer":
        end = math.floor(end) if upwards else math.ceil(end)
    is_fine = {">=": end >= other, ">": end > other, "<=": end <= other, "<": end < other}[rule.order]
    if not is_fine:
        side, way = ("upper", "above") if upwards else ("lower", "below")
        also = "" if rule.order in (">", "<") else "at or "
        raise ValueError(
            f"row rule {text!r}: the {side} bound of {rule.left} must be {also}{way} that of {rule.right}"
        )


def _name(text: str) -> str:
    return text.strip("`")

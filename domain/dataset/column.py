"""One column as its rights holder declares it: what it holds, how finely it is counted, and who said so.

Every field that came after the first version is left out of the declaration's text while it has its default:
twins are drawn from the digest of that text, and pipelines were tried on them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, StringConstraints, WithJsonSchema, model_validator
from pydantic_core import PydanticKnownError

from domain.dataset.identifying import Identifying, OneLine
from domain.instruments import BY_KEY, Instrument
from domain.model import Model, Number, Whole, Words

ONE_LINE = r"^[^\t\r\n\x00]*$"
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=ONE_LINE)]
LONGEST_CATEGORY = 200
Category = Annotated[str, StringConstraints(max_length=LONGEST_CATEGORY, pattern=ONE_LINE)]
ColumnKind = Literal["person", "integer", "number", "categorical", "date", "text"]
Basis = Literal["instrument", "dictionary", "law", "looked_at_data"]

MOST_SPECIAL_VALUES = 20
_LARGEST = 1.7976931348623157e308
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3])(?::[0-5]\d){2}", re.ASCII)
_FITS: Mapping[str, tuple[str, ...]] = {
    "lower": ("person", "integer", "number", "categorical", "date"),
    "upper": ("person", "integer", "number", "categorical", "date"),
    "categories": ("person", "integer", "number", "categorical"),
    "typical": ("person", "integer", "number", "categorical"),
    "with_time": ("date",),
    "bins": ("integer", "number", "date"),
    "scale": ("integer", "number"),
    "special_values": ("integer", "number"),
    "instrument": ("integer", "number"),
    "typical_shares": ("integer", "number", "categorical"),
    "coarsen": ("categorical",),
    "count_missing": ("integer", "number", "categorical", "date"),
    "text_length": ("text",),
}
"""The kinds that each field is for. Kinds that had fields for nothing in the first version keep them."""


def read_date(text: str) -> date | None:
    """A day written as 2020-01-31, or None. No other spelling of a day counts as one."""
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def read_moment(text: str) -> datetime | None:
    """A day with its time written as 2020-01-31T14:05:00, or None."""
    try:
        return datetime.fromisoformat(text) if _MOMENT.fullmatch(text) else None
    except ValueError:
        return None


def _bound(value: Any) -> float | str:
    if isinstance(value, str) and read_date(value):
        return value
    if isinstance(value, date) and not isinstance(value, datetime):  # YAML without quotation marks
        return value.isoformat()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    if not abs(value) <= _LARGEST:  # nor is NaN; a whole number may be longer than any float
        raise PydanticKnownError("finite_number")
    return float(value)


Bound = Annotated[
    float | str,
    PlainValidator(_bound),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "format": "date"}]}),
]


def is_unset(value: object) -> bool:
    return value in (None, (), {}, False, "linear", "line")


class Typical(Model):
    """Public knowledge about a column (an instrument's manual, a national statistic): enlivens the twin."""

    mean: Number
    """From a manual or a published statistic, never from these data."""
    sd: Annotated[Number, Field(gt=0)]
    """The same."""


Share = Annotated[Number, Field(ge=0)]


class Column(Model):
    """One declared column. Columns of the file that are not declared are left out of the snapshot."""

    name: ColumnName
    """As in the header."""
    kind: ColumnKind
    """What the cells hold. `date`: days like 2020-01-31. `text`: free text or codes, kept by a decision in
    `pii`."""
    with_time: Annotated[bool, Field(exclude_if=is_unset)] = False
    """For `date`: the cells are days with a time. An import writes them like 2020-01-31T14:05:00; bounds are
    days."""
    lower: Bound | None = None
    """For `integer` and `number`: the twin's smallest value. For `date`: its first day."""
    upper: Bound | None = None
    """For `integer` and `number`: the twin's largest value. For `date`: its last day."""
    decimals: Annotated[Whole, Field(ge=0, le=12)] = 2
    """For `number`: digits in the twin."""
    categories: tuple[Category, ...] = ()
    """For `categorical`: the twin's values."""
    typical: Typical | None = None
    """Public knowledge that makes the twin more life-like."""
    missing: Category = "n/a"
    """The twin's text for a missing value."""
    missing_rate: Annotated[Number, Field(ge=0, le=1)] = 0
    """The twin's share of missing values; 1 where all are."""
    description: Words = ""
    """Unit or meaning."""
    count_missing: Annotated[bool, Field(exclude_if=is_unset)] = False
    """Missing is counted as a cell of its own where a twin is made from counts. It is, too, where
    `missing_rate` is above 0."""
    bins: Annotated[Whole | None, Field(ge=2, le=200, exclude_if=is_unset)] = None
    """Into how many bins the range is cut where a twin is made from counts. Default: 20, or 10 below 500
    people."""
    scale: Annotated[Literal["linear", "log"], Field(exclude_if=is_unset)] = "linear"
    """`log`: bins of equal ratios, for amounts such as incomes."""
    special_values: Annotated[
        tuple[Number, ...], Field(max_length=MOST_SPECIAL_VALUES, exclude_if=is_unset)
    ] = ()
    """Numbers that mean something of their own, such as 0 for none: each has a cell."""
    typical_shares: Annotated[dict[Category, Share], Field(exclude_if=is_unset, default_factory=dict)]
    """Public shares of the categories, or of special values, in a blank form."""
    coarsen: Annotated[dict[Category, Category], Field(exclude_if=is_unset, default_factory=dict)]
    """A public map from every category to a coarser one: cells where a twin is made from counts. The twin
    still has the categories."""
    instrument: Annotated[str | None, Field(exclude_if=is_unset)] = None
    """A scale or measure by name, such as `sas`, `mmse`, `bmi`: the twin has its usual values."""
    text_length: Annotated[Literal["code", "line", "paragraph"], Field(exclude_if=is_unset)] = "line"
    """For `text`: how long the twin's placeholder is."""
    basis: Annotated[Basis | None, Field(exclude_if=is_unset)] = None
    """Where bounds or categories come from. `looked_at_data` changes the twin's label."""
    declared_by: Annotated[OneLine | None, Field(exclude_if=is_unset)] = None
    """Who declared them."""
    pii: Annotated[Identifying | None, Field(exclude_if=is_unset)] = None
    """The decision about a column that identifies people. Part of the version."""

    @model_validator(mode="after")
    def _kind_has_what_it_needs(self) -> Column:
        if self.instrument is not None and self.instrument not in BY_KEY:
            known = ", ".join(BY_KEY)
            raise ValueError(
                f"column {self.name}: instrument {self.instrument} is not known; there are {known}"
            )
        for field, kinds in _FITS.items():
            if self.kind not in kinds and not is_unset(getattr(self, field)):
                raise ValueError(f"column {self.name}: {field} is for kind {' or '.join(kinds)}; remove it")
        if self.kind in ("integer", "number", "date"):
            self._check_bounds()
        elif isinstance(self.lower, str) or isinstance(self.upper, str):
            raise ValueError(f"column {self.name}: dates as bounds are for kind date; remove them")
        if self.kind == "categorical" and not self.categories:
            raise ValueError(f"column {self.name}: categories are missing; declare them")
        if self.kind == "text" and self.pii is None:
            raise ValueError(
                f"column {self.name}: text may name people, so it stays only by a recorded decision; "
                "declare pii, or leave the column out"
            )
        return self

    def _check_bounds(self) -> None:
        if self.lower is None or self.upper is None:
            scale = BY_KEY.get(self.instrument or "")
            ends = f" ({scale.name} goes from {scale.lower:g} to {scale.upper:g})" if scale else ""
            raise ValueError(f"column {self.name}: lower and upper bounds are missing; declare both{ends}")
        if any(isinstance(bound, str) is not (self.kind == "date") for bound in (self.lower, self.upper)):
            wanted = "dates like 2020-01-31" if self.kind == "date" else "numbers; kind date has dates"
            raise ValueError(f"column {self.name}: lower and upper must be {wanted}")
        lower, upper = self.bounds
        if lower >= upper:
            raise ValueError(f"column {self.name}: lower must be less than upper")
        if self.kind == "integer" and math.ceil(lower) > math.floor(upper):
            raise ValueError(f"column {self.name}: no whole number lies between lower and upper")

    @model_validator(mode="after")
    def _counted_as_it_can_be(self) -> Column:
        if self.scale == "log" and self.bounds[0] < 0:
            raise ValueError(f"column {self.name}: scale log needs a lower bound of 0 or more")
        if len(set(self.special_values)) < len(self.special_values):
            raise ValueError(f"column {self.name}: special_values hold a number twice; remove one")
        for value in self.special_values:
            if not self.bounds[0] <= value <= self.bounds[1]:
                raise ValueError(
                    f"column {self.name}: special value {value:g} is outside the bounds; widen them"
                )
            if self.kind == "integer" and not value.is_integer():
                raise ValueError(f"column {self.name}: special value {value:g} is no whole number")
        if self.instrument is not None:
            scale = BY_KEY[self.instrument]
            if self.bounds[0] >= scale.upper or self.bounds[1] <= scale.lower:
                raise ValueError(
                    f"column {self.name}: {scale.name} lies between {scale.lower:g} and {scale.upper:g} "
                    f"{scale.unit}, outside the bounds; check the unit or remove instrument"
                )
        return self

    @model_validator(mode="after")
    def _names_its_categories(self) -> Column:
        if self.coarsen and (left := [each for each in self.categories if each not in self.coarsen]):
            raise ValueError(f"column {self.name}: coarsen says nothing of {left[0]!r}; name every category")
        if unknown := [each for each in self.coarsen if each not in self.categories]:
            raise ValueError(f"column {self.name}: coarsen names {unknown[0]!r}, which is no category")
        if self.typical_shares:
            self._check_shares()
        return self

    def _check_shares(self) -> None:
        shares = self.typical_shares
        known = self.categories if self.kind == "categorical" else tuple(map(plain, self.special_values))
        if unknown := [each for each in shares if each not in known]:
            raise ValueError(
                f"column {self.name}: typical_shares names {unknown[0]!r}, which is none of its "
                f"{'categories' if self.kind == 'categorical' else 'special_values'}"
            )
        if self.kind == "categorical" and (left := [each for each in known if each not in shares]):
            raise ValueError(f"column {self.name}: typical_shares says nothing of {left[0]!r}; name them all")
        total = math.fsum(shares.values())
        if not 0 < total < math.inf or (self.kind != "categorical" and total > 1):
            raise ValueError(f"column {self.name}: typical_shares must add up to more than 0, and of special "
                             "values to 1 at most")  # fmt: skip

    def __hash__(self) -> int:  # mappings have none; what is equal has equal names and bounds
        return hash((self.name, self.kind, self.lower, self.upper, self.categories))

    @property
    def bounds(self) -> tuple[float, float]:
        """Both bounds as numbers: those of a date as days since the year 1. Only of kinds that have any."""
        return _as_number(self.lower), _as_number(self.upper)

    def day_of(self, text: str) -> date | None:
        """The day in a cell of a column of kind date, or None where it holds none as it is declared."""
        if not self.with_time:
            return read_date(text)
        moment = read_moment(text)
        return moment and moment.date()

    @property
    def usual(self) -> Instrument | None:
        return BY_KEY.get(self.instrument or "")

    @property
    def is_drawn_anew(self) -> bool:
        """Whether its twin's values use more of the declaration than the first version had."""
        return bool(
            self.kind in ("date", "text")
            or self.scale == "log"
            or self.special_values
            or self.typical_shares
            or self.instrument
            or self.is_generalised
        )

    @property
    def is_generalised(self) -> bool:
        """Whether the import writes a coarser value: the twin has none but those."""
        return self.pii is not None and self.pii.decision == "generalise"


def plain(value: float) -> str:
    """A number as people write it: 0 rather than 0.0."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _as_number(bound: float | str | None) -> float:
    assert bound is not None
    return float(date.fromisoformat(bound).toordinal()) if isinstance(bound, str) else bound

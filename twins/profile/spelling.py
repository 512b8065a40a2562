"""How the numbers and days of a table are written, from every cell of it: a proposal, or a question.

Where two spellings fit that say something else, as in 03/04/2024, none is chosen: the rights holder is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from domain.dialect import Dialect
from formats.dialect import DATES, Content, Read, reader
from twins.profile.found import FoundColumn, FoundTable, OpenField

MOST_STRAY = 0.05
"""Of the cells of a column of numbers or days, so many may be neither."""

_OTHER_NUMBERS: Sequence[Mapping[str, str]] = (
    {"decimal": ","},
    {"decimal": ",", "thousands": "."},
    {"thousands": ","},
)
"""In this order: what no thousands are found in has none."""

_SLASHES = ("DD/MM/YYYY", "MM/DD/YYYY")
_ISO = "YYYY-MM-DD"


@dataclass(frozen=True)
class Spelling:
    """What fits. Of a field that is open it has the first that does."""

    dialect: Dialect
    open: tuple[OpenField, ...] = ()
    contents: Mapping[str, Content] = field(default_factory=dict)
    is_stated: bool = False
    """Whether a declaration has to say it: a column with times is written anew without."""
    unread: tuple[str, ...] = ()
    """Columns that seem to be of numbers or days, and have cells that an import would refuse."""

    def rows(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
        """The same rows in the one form that an import writes."""
        reads = [
            (place, reader(self.dialect, self.contents[name]))
            for place, name in enumerate(header)
            if name in self.contents
        ]
        for row in rows:
            cells = list(row)
            for place, read in reads:
                cells[place] = read(cells[place])
            yield cells

    def unmeasured(self, column: FoundColumn) -> FoundColumn:
        is_number = self.contents.get(column.name) == "number"
        return column.model_copy(update={"numbers": None}) if is_number else column


def may_be_otherwise(found: FoundTable, layout: Dialect) -> bool:
    """Whether a column of numbers or days may be written in another form: else nothing is read again."""
    other = any(_has_commas(column) or _has_other_days(column) for column in found.columns)
    return other or layout != Dialect()


def spell(found: FoundTable, layout: Dialect, rows: Iterable[Sequence[str]]) -> Spelling:
    """`found` says which columns may be of numbers or days, `layout` what is known of the file itself."""
    with_commas = any(map(_has_commas, found.columns))
    numbers = _Tried(
        [at for at, each in enumerate(found.columns) if _is_of_numbers(each)],
        [(fields, ("number",)) for fields in ((*_OTHER_NUMBERS, {}) if with_commas else ({},))],
    )
    days = _Tried(
        [at for at, each in enumerate(found.columns) if _is_of_days(each)],
        [({"dates": dates}, ("day", "moment")) for dates in DATES],
    )
    for row in rows:
        numbers.look(row)
        days.look(row)
    names = [column.name for column in found.columns]
    fields, read, opened = dict[str, str](), dict[str, Content](), list[OpenField]()
    if fit := numbers.fitting():
        fields |= fit[0].fields
        read |= {names[place]: "number" for place in fit[0].reads}
        if len({each.fields.get("decimal") for each in fit if each.reads.keys() == fit[0].reads.keys()}) > 1:
            opened.append("decimal")
    if fit := days.fitting():
        fields |= fit[0].fields
        read |= {names[place]: next(iter(contents)) for place, contents in fit[0].reads.items()}
        # a day that begins with its year fits everywhere
        if fit[0].fields["dates"] != _ISO and set(_SLASHES) <= {each.fields["dates"] for each in fit}:
            opened.append("dates")
    dialect = layout.model_copy(update=fields)
    cut = (read.get(each.name) == "day" and _count(each, "datetime") for each in found.columns)
    is_stated = dialect != Dialect() or any(cut)
    unread = tuple(
        each.name
        for each in found.columns
        if each.name not in read
        and ((is_stated and (_is_of_numbers(each) or _is_of_days(each))) or _has_other_days(each))
    )
    return Spelling(dialect, tuple(opened), read, is_stated=is_stated, unread=unread)


@dataclass
class _Way:
    """One way of writing, and what of it reads every cell so far, by column."""

    fields: Mapping[str, str]
    reads: dict[int, dict[Content, Read]]


class _Tried:
    """Ways of writing, tried on each cell of some columns."""

    def __init__(
        self, places: Sequence[int], ways: Sequence[tuple[Mapping[str, str], tuple[Content, ...]]]
    ) -> None:
        self._ways = [
            _Way(fields, {place: _readers(fields, contents) for place in places}) for fields, contents in ways
        ]

    def look(self, row: Sequence[str]) -> None:
        for way in self._ways:
            for place, reads in list(way.reads.items()):
                for content in [each for each, read in reads.items() if not _can(read, row[place])]:
                    del reads[content]
                if not reads:
                    del way.reads[place]

    def fitting(self) -> list[_Way]:
        """Those that read the most columns, in their order; none where none reads any."""
        most = max((len(way.reads) for way in self._ways), default=0)
        return [way for way in self._ways if most and len(way.reads) == most]


def _readers(fields: Mapping[str, str], contents: Sequence[Content]) -> dict[Content, Read]:
    dialect = Dialect.model_validate(fields)
    return {content: reader(dialect, content) for content in contents}


def _can(read: Read, cell: str) -> bool:
    try:
        read(cell)
    except ValueError:
        return False
    return True


def _count(column: FoundColumn, *kinds: str) -> int:
    return sum(column.kinds.get(kind, 0) for kind in kinds)


def _is_of_numbers(column: FoundColumn) -> bool:
    return _is_mostly(column, "whole", "decimal", "comma")


def _has_commas(column: FoundColumn) -> bool:
    return _is_of_numbers(column) and bool(_count(column, "comma"))


def _is_of_days(column: FoundColumn) -> bool:
    return _is_mostly(column, "date", "date_other", "datetime", "datetime_other")


def _has_other_days(column: FoundColumn) -> bool:
    return _is_of_days(column) and bool(_count(column, "date_other", "datetime", "datetime_other"))


def _is_mostly(column: FoundColumn, *kinds: str) -> bool:
    """A column of one value stays as it is written: it is one category, unless it may identify people."""
    is_one = column.distinct == 1 and not column.missing and not column.identifying.is_flagged
    return column.present > 0 and not is_one and _count(column, *kinds) >= (1 - MOST_STRAY) * column.present

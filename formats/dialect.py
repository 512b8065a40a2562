"""A table in another dialect, row by row in the one form that everything behind the import reads.

Numbers and days alone are read, and only as they were declared to be written: a cell that looks like one and
is written otherwise is refused, for it would be read as another one. Whatever else stands there stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, time
from typing import BinaryIO, Literal, Protocol

from formats.delimited import LONGEST_ROW, Row, stream_rows

Content = Literal["number", "day", "moment"]
"""What the cells of a column are read as; a moment is a day with a time."""

Read = Callable[[str], str]

_LONGEST = 64
"""Characters: a longer cell is text."""

_SHOWN = 40
Mark = Literal[",", ";", "tab", "|"]
MARKS: Mapping[Mark, str] = {",": ",", ";": ";", "tab": "\t", "|": "|"}
"""What may stand between cells, by its name."""

_Y, _M, _D, _MM, _DD = r"(?P<y>\d{4})", r"(?P<m>\d\d?)", r"(?P<d>\d\d?)", r"(?P<m>\d\d)", r"(?P<d>\d\d)"
DATES: Mapping[str, str] = {
    "YYYY-MM-DD": rf"{_Y}-{_M}-{_D}",
    "DD.MM.YYYY": rf"{_D}\.{_M}\.{_Y}",
    "DD/MM/YYYY": rf"{_D}/{_M}/{_Y}",
    "DD-MM-YYYY": rf"{_D}-{_M}-{_Y}",
    "MM/DD/YYYY": rf"{_M}/{_D}/{_Y}",
    "YYYYMMDD": rf"{_Y}{_MM}{_DD}",
}
"""How days are written, as rules of a whole cell."""

# fractions of a second are cut
_TIME = r"(?:[T ](?P<time>\d\d?:\d\d(?::\d\d)?)(?:[.,]\d{1,9})?)?"
_LIKE_DAY = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}(?!\d).*|\d{8}(?!\d).*", re.ASCII | re.DOTALL)
_LIKE_NUMBER = re.compile(r"[+-]?[\d.,'’ \u00a0\u202f]+(?:[eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = {"space": r"[ \u00a0\u202f]", "'": r"['’]"}


class Dialect(Protocol):
    """What a declaration says."""

    @property
    def delimiter(self) -> Mark: ...
    @property
    def encoding(self) -> str: ...
    @property
    def decimal(self) -> str: ...
    @property
    def thousands(self) -> str: ...
    @property
    def dates(self) -> str: ...


def rewritten(
    name: str,
    file: BinaryIO,
    dialect: Dialect,
    contents: Mapping[str, Content],
    *,
    missing: Mapping[str, str],
    end: bytes = b"\n",
) -> Iterator[Row]:
    """The header, then each row, as `stream_rows` would read them from a file of the one form.

    `contents` are the columns that are read, `missing` what is written in each where nothing stands. Raises
    ValueError with name and line; for a cell in another spelling also with the column, what stands there and
    what to do.
    """
    rows = stream_rows(name, file, delimiter=MARKS[dialect.delimiter], encoding=dialect.encoding)
    header = next(rows)
    reads = [
        (position, column, missing.get(column), reader(dialect, contents[column]))
        for position, column in enumerate(header.cells)
        if column in contents
    ]
    yield _anew(header, header.cells, name, end)
    for row in rows:
        cells = list(row.cells)
        for position, column, nothing, read in reads:
            if cells[position] != nothing:
                try:
                    cells[position] = read(cells[position])
                except ValueError as error:
                    raise ValueError(f"{name}, line {row.number}, column {column}: {error}") from None
        yield _anew(row, cells, name, end)


def _anew(row: Row, cells: Sequence[str], name: str, end: bytes) -> Row:
    written = ",".join(map(_in_quotes, cells)) if name.endswith(".csv") else "\t".join(cells)
    raw = written.encode() + end
    if len(raw) > LONGEST_ROW:
        raise ValueError(f"{name}, line {row.number}, is longer than {LONGEST_ROW} bytes in UTF-8")
    return Row(row.number, raw, tuple(cells))


def _in_quotes(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',"\n\r') else cell


def reader(dialect: Dialect, content: Content) -> Read:
    """What turns a cell into the one form, and raises ValueError for one in another spelling."""
    if content == "number":
        return _number_reader(dialect.decimal, dialect.thousands)
    return _day_reader(dialect.dates, with_time=content == "moment")


def _number_reader(decimal: str, thousands: str) -> Read:
    group = _THOUSANDS.get(thousands, re.escape(thousands))
    whole = r"\d+" if thousands == "none" else rf"\d{{1,3}}(?:{group}\d{{3}})+|\d+"
    form = re.compile(rf"([+-]?)({whole})?({re.escape(decimal)}\d*)?([eE][+-]?\d{{1,3}})?", re.ASCII)
    apart = re.compile(group)

    def read(cell: str) -> str:
        text = cell.strip()
        if len(text) > _LONGEST or not any(map(str.isdigit, text)):
            return cell
        found = form.fullmatch(text)
        if found and (found[2] or len(found[3] or "") > 1):
            whole = apart.sub("", found[2] or "")
            return f"{found[1]}{whole}{(found[3] or '').replace(decimal, '.')}{found[4] or ''}"
        if _LIKE_NUMBER.fullmatch(text):
            raise ValueError(
                f"{_shown(text)} is no number with decimal {decimal!r} and "
                f"{'no mark between thousands' if thousands == 'none' else f'thousands {thousands!r}'}; "
                "change the cell, or decimal or thousands of the dialect"
            )
        return cell

    return read


def _day_reader(dates: str, *, with_time: bool) -> Read:
    """A day that begins with its year is read in any dialect, for it is one day alone."""
    forms = [re.compile(DATES[form] + _TIME, re.ASCII) for form in dict.fromkeys((dates, "YYYY-MM-DD"))]

    def read(cell: str) -> str:
        text = cell.strip()
        if len(text) > _LONGEST or not any(map(str.isdigit, text)):
            return cell
        found = next((match for form in forms if (match := form.fullmatch(text))), None)
        if found is None:
            if _LIKE_DAY.fullmatch(text):
                also = " with a time such as 14:05" if with_time else ""
                raise ValueError(
                    f"{_shown(text)} is no day like {dates}{also}; change the cell, or dates of the dialect"
                )
            return cell
        try:
            day = date(int(found["y"]), int(found["m"]), int(found["d"])).isoformat()
            clock = _clock(found["time"])
        except ValueError:
            raise ValueError(
                f"{_shown(text)} is no day or time that there is; leave the cell empty if it is missing"
            ) from None
        return f"{day}T{_moment(clock, text)}" if with_time else _without_time(day, clock, text)

    return read


def _clock(text: str | None) -> time | None:
    if text is None:
        return None
    hour, minute, second = map(int, f"{text}:0".split(":")[:3])
    return time(hour, minute, second)


def _moment(clock: time | None, text: str) -> str:
    if clock is None:
        raise ValueError(
            f"{_shown(text)} has no time, and the column is declared with_time; write one, or declare the "
            "column without"
        )
    return clock.isoformat("seconds")


def _without_time(day: str, clock: time | None, text: str) -> str:
    if clock not in (None, time()):  # midnight, as programs write of a day alone, is left out
        raise ValueError(f"{_shown(text)} has a time; declare the column with_time, or write the day alone")
    return day


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")

"""A table, read once to its end: every column counted, and a fair sample of rows for what needs rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from domain.dialect import Dialect
from twins.pii.model import Model
from twins.profile.column import ColumnTally
from twins.profile.found import MOST_COLUMNS, FoundColumn, FoundTable
from twins.profile.keys import Keys, Wanted, choose
from twins.profile.sketch import RowSample, shortened
from twins.profile.spelling import may_be_otherwise, spell

LONGEST_NAME = 200
_CHUNK_CELLS, _MOST_CHUNK_ROWS, _CHUNK_CHARACTERS = 200_000, 10_000, 8_000_000
_COUNTED_VALUES, _SAMPLED_CELLS = 300_000, 300_000

Rows = Iterator[Sequence[str]]


class Reader(Protocol):
    """Opens the table anew each time: the header first, then rows of equal length."""

    def __call__(self) -> tuple[tuple[str, ...], Rows]: ...


class NoTable(ValueError):
    """Why a table cannot be profiled, in one sentence."""


def profile_table(
    read: Reader,
    *,
    model: Model | None,
    wanted: Wanted | None = None,
    is_written: bool = True,
    layout: Callable[[], Dialect] = Dialect,
) -> FoundTable:
    """Two passes: columns and sample, then keys over all rows. Raises NoTable, and what `read` raises.

    Where numbers or days may be in another form than that of twins and runs, it is found out in which, and
    both passes are made again of what an import would write. `layout`: what is known of the dialect of the
    file once it was read. What is written down holds no values of columns that may identify people; what is
    not, none of columns that identify them directly.
    """
    found = _profiled(read, model, wanted or Wanted(), is_written=is_written)
    dialect = layout()
    if not may_be_otherwise(found, dialect):
        return found
    spelling = spell(found, dialect, read()[1])

    def again() -> tuple[tuple[str, ...], Rows]:
        header, rows = read()
        return header, spelling.rows(header, rows)

    if spelling.contents:
        found = _profiled(again, model, wanted or Wanted(), is_written=is_written)
    if "decimal" in spelling.open:  # of 1,234 nobody knows yet how large it is
        found = found.model_copy(update={"columns": tuple(map(spelling.unmeasured, found.columns))})
    told = {"dialect": spelling.dialect, "open": spelling.open} if spelling.is_stated else {}
    return found.model_copy(update={**told, "unread": spelling.unread})


def _profiled(read: Reader, model: Model | None, wanted: Wanted, *, is_written: bool) -> FoundTable:
    header, rows = read()
    check_header(header)
    tally = _Tally(header, model)
    tally.add_all(rows)
    columns, sample = tally.finish()
    chosen = choose(columns, sample, tally.counts, wanted)
    keys = Keys(header, chosen)
    if chosen.is_anything:
        for row in read()[1]:
            keys.add(row)
    return FoundTable(
        rows=tally.rows,
        columns=tuple(column.masked if is_written else column.masked_if_direct for column in columns),
        sampled=len(sample),
        candidate_ids=chosen.candidate_ids,
        people=keys.people,
        together=keys.together,
        dependencies=keys.dependencies,
        notes=tuple(_notes(tally.rows, columns)),
    )


def check_header(header: Sequence[str]) -> None:
    """Raises NoTable where columns cannot be told apart."""
    if not any(name.strip() for name in header):
        raise NoTable("it has no header: the first line must name the columns")
    if len(header) > MOST_COLUMNS:
        raise NoTable(f"it has {len(header)} columns, more than {MOST_COLUMNS}; split it")
    for position, name in enumerate(header, start=1):
        if len(name) > LONGEST_NAME:
            raise NoTable(
                f"the name of column {position} has {len(name)} characters, more than {LONGEST_NAME}; "
                "shorten it, or give the table a header line"
            )
    seen: dict[str, int] = {}
    for position, name in enumerate(header, start=1):
        if name in seen:
            raise NoTable(
                f"columns {seen[name]} and {position} are both named {name!r}; rename one, or add a header"
            )
        seen[name] = position


@dataclass
class _Tally:
    header: Sequence[str]
    model: Model | None
    rows: int = 0
    _columns: list[ColumnTally] = field(default_factory=list)

    def __post_init__(self) -> None:
        width = len(self.header)
        most = min(max(_COUNTED_VALUES // width, 100), 5_000)
        self._columns = [ColumnTally(name, most=most, model=self.model) for name in self.header]
        self._sample: RowSample[tuple[str, ...]] = RowSample(min(max(_SAMPLED_CELLS // width, 100), 10_000))

    def add_all(self, rows: Iterable[Sequence[str]]) -> None:
        for chunk in chunks(rows, len(self.header)):
            for number, row in enumerate(chunk, start=self.rows):
                if self._sample.offers(number):
                    self._sample.keep(number, tuple(map(shortened, row)))
            for column, values in zip(self._columns, zip(*chunk, strict=True), strict=True):
                column.add(values)
            self.rows += len(chunk)

    @property
    def counts(self) -> dict[str, int]:
        """Different values of each column whose values were all counted."""
        return {column.name: column.distinct for column in self._columns if column.counts is not None}

    def finish(self) -> tuple[tuple[FoundColumn, ...], list[tuple[str, ...]]]:
        sample = self._sample.rows
        cells: Sequence[Sequence[str]] = list(zip(*sample, strict=True)) or [()] * len(self._columns)
        found = (column.finish(own) for column, own in zip(self._columns, cells, strict=True))
        return tuple(found), sample


def chunks(rows: Iterable[Sequence[str]], width: int) -> Iterator[list[Sequence[str]]]:
    """Some rows at a time: few of wide tables, and few of huge cells."""
    most = min(max(_CHUNK_CELLS // width, 1), _MOST_CHUNK_ROWS)
    flow = iter(rows)
    step: Callable[[], list[Sequence[str]]] = lambda: _some(flow, most)  # noqa: E731
    yield from iter(step, [])


def _some(flow: Iterator[Sequence[str]], most: int) -> list[Sequence[str]]:
    found, size = [], 0
    for row in islice(flow, most):
        found.append(row)
        size += sum(map(len, row))
        if size > _CHUNK_CHARACTERS:
            break
    return found


def _notes(rows: int, columns: Sequence[FoundColumn]) -> Iterator[str]:
    if rows == 0:
        yield "The table has a header and no rows: only names could be looked at."
    elif rows == 1:
        yield "The table has one row: whatever is shown here is that person's."
    if len(columns) > 1000:
        yield f"The table has {len(columns)} columns: values are counted less finely in wide tables."

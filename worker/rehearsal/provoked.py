"""Inputs that a twin happens not to hold and a block of the data may: tried before anything is charged.

One person alone, nobody of a category, values at their bounds, missing cells. All of them are the twin's own
people; only cells of declared columns change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from domain.dataset import Declaration
from domain.dataset.column import Column, plain
from domain.dataset.table import Table
from domain.pipeline import Pipeline
from domain.shape import Shape
from formats.delimited import read_rows
from formats.delimited_text import table_text
from worker.rehearsal.failures import Failure, failures, place_of
from worker.rehearsal.levels import GroupRuns
from worker.sandbox.protocol import NOTHING
from worker.view import View

_PEOPLE = 10
_MOST_CATEGORICAL = 3

Change = Callable[[Column, int, str], str]
"""A cell for another: of this column, in this row of the input, from 0."""


def provoke(
    pipeline: Pipeline, shape: Shape, declaration: Declaration, runs: GroupRuns
) -> tuple[Failure, ...]:
    """What failed, named by what was tried."""
    found, place = [], place_of(pipeline, runs.people, runs.images_with)
    for what, block in _tried(declaration, runs):
        # cells change where nothing lies before a group run
        result = runs.slot.run(block, before=NOTHING) if isinstance(block, View) else runs.run(block)
        for failure in failures([result], shape, pipeline, place):
            found.append(replace(failure, reason=f"{what} {failure.reason}"))
    return tuple(found)


def _tried(declaration: Declaration, runs: GroupRuns) -> Iterator[tuple[str, View | Sequence[str]]]:
    names = runs.people.names
    yield "With one person", names[:1]
    for column, category, without in _without_a_category(declaration, runs):
        yield f"Without {category} in {column},", without
    if runs.level is None and not runs.people.is_bids:
        some = names[:_PEOPLE]
        yield "With values at their bounds", _changed(declaration, runs, some, _at_bounds)
        yield "With missing cells", _changed(declaration, runs, some, _missing)


def _without_a_category(
    declaration: Declaration, runs: GroupRuns
) -> Iterator[tuple[str, str, Sequence[str]]]:
    """For a few columns, some people who are not of the most frequent category."""
    table = _one_row_each(declaration)
    if table is None:
        return
    rows = _cells(table, runs, runs.people.names)
    person = table.person_column.name
    columns = [column for column in table.columns if column.kind == "categorical"]
    for column in columns[:_MOST_CATEGORICAL]:
        counts = Counter(row.get(column.name, "") for row in rows)
        category = max(column.categories, key=lambda each: counts[each])
        without = {row[person] for row in rows if row.get(column.name) != category}
        kept = [name for name in runs.people.names if name in without][:_PEOPLE]
        if kept and counts[category]:
            yield column.name, category, kept


def _one_row_each(declaration: Declaration) -> Table | None:
    unit = declaration.privacy_unit.table
    return next((table for table in declaration.tables if table.path == unit), None)


def _cells(table: Table, runs: GroupRuns, names: Sequence[str]) -> list[dict[str, str]]:
    rows = next((rows for rows in runs.people.tables if rows.path == table.path), None)
    if rows is None:
        return []
    read = read_rows(table.path, rows.only(names))
    return [dict(zip(read.header.cells, row.cells, strict=True)) for row in read.rows]


def _changed(declaration: Declaration, runs: GroupRuns, names: Sequence[str], change: Change) -> View:
    view = runs.people.view(names)
    tables = {table.path: table for table in declaration.tables if table.path in view.files}
    changed = {path: _table(view.files[path], table, change) for path, table in tables.items()}
    return View({**view.files, **changed}, view.parts)


def _table(content: bytes, table: Table, change: Change) -> bytes:
    read = read_rows(table.path, content)
    known: Mapping[str, Column] = {column.name: column for column in table.columns}
    rows = [
        [
            change(known[name], number, cell) if name in known else cell
            for name, cell in zip(read.header.cells, row.cells, strict=True)
        ]
        for number, row in enumerate(read.rows)
    ]
    return table_text(table.path, read.header.cells, rows).encode()


def _at_bounds(column: Column, row: int, cell: str) -> str:
    if column.kind not in ("integer", "number", "date"):
        return cell
    bound = column.lower if row % 2 == 0 else column.upper
    if isinstance(bound, str):
        return f"{bound}T00:00:00" if column.with_time else bound
    return plain(float(bound or 0))


def _missing(column: Column, row: int, cell: str) -> str:
    """In every other row whatever may be missing: a column that the twin has gaps in, or is to have."""
    may_be = column.missing_rate > 0 and column.kind != "person"
    return column.missing if may_be and row % 2 == 0 else cell

"""The tables of a twin: rows for every person, columns from counts where there are any, rules kept, written
as text or Parquet.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from domain.dataset import Column, Table
from domain.twin.cells import cell_grid
from domain.twin.counts import TableCounts
from formats.parquet_file import Kind, ParquetColumn, write_parquet
from privacy.twin import draw_rows
from twins.drawn.blank import blank_cell
from twins.drawn.rules import RowRules

Row = list[str]

_TRIES = 2000


def blank_rows(table: Table, people: Sequence[str], draw: random.Random) -> list[Row]:
    """A table from its declaration alone; rows of one person stand together, in the order of people."""
    cells = [blank_cell(column) for column in table.columns]
    rules, rows = RowRules(table), []
    for person in people:
        own = [[cell(person, draw) for cell in cells] for _ in range(_rows_of_one(table, draw))]
        rows += rules.keep(own, draw)
    return _varied(table, rows, draw)


def counted_rows(
    table: Table,
    people: Sequence[str],
    counts: TableCounts,
    *,
    nominal_size: int,
    seed: int,
    draw: random.Random,
) -> list[Row]:
    """A table whose counted columns are drawn from their noisy counts, the others from the declaration.

    The names of people, and how many rows each has, are those of the declaration: every person of the twin
    has rows in every table. Raises ValueError for counts of another declaration.
    """
    held = [_rows_of_one(table, draw) for _ in people]
    names = [person for person, rows in zip(people, held, strict=True) for _ in range(rows)]
    by_name = {column.name: column for column in table.columns}
    counts.check(table, nominal_size)
    codes = draw_rows(counts.counts, len(names), seed=seed)
    columns: dict[str, Sequence[str]] = {}
    for at, name in enumerate(counts.columns):
        columns[name] = cell_grid(by_name[name], nominal_size).texts(codes[:, at], draw)
    for column in table.columns:
        if column.name not in columns:
            cell = blank_cell(column)
            columns[column.name] = [cell(person, draw) for person in names]
    rows = [list(row) for row in zip(*(columns[column.name] for column in table.columns), strict=True)]
    rules, start = RowRules(table, counts.columns), 0
    for number in held:
        rules.keep(rows[start : start + number], draw)  # in place
        start += number
    return rows


def written(table: Table, rows: list[Row]) -> bytes:
    """The file of a table."""
    if table.is_parquet:
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(table.columns)
        return write_parquet(
            [_typed(column, each) for column, each in zip(table.columns, cells, strict=True)]
        )
    text = table.join([[column.name for column in table.columns], *rows])
    return (text if table.line_end == "lf" else text.replace("\n", "\r\n")).encode()


def _rows_of_one(table: Table, draw: random.Random) -> int:
    return 1 if table.rows_per_person == "one" else draw.randint(1, 2 * table.twin_rows - 1)


def _varied(table: Table, rows: list[Row], draw: random.Random) -> list[Row]:
    """A column that happened to come out the same everywhere would stop a pipeline that divides by its
    deviation: one cell is drawn again. Columns of the first version stay as they are."""
    ruled = {rule.left for rule in table.rules} | {rule.right for rule in table.rules}
    for at, column in enumerate(table.columns):
        if not column.is_drawn_anew or column.name in ruled:
            continue
        present = [row for row in rows if row[at] != column.missing]
        if len(present) < 2 or any(row[at] != present[0][at] for row in present):
            continue
        cell, same = blank_cell(column), present[0][at]
        again = (cell("", draw) for _ in range(_TRIES))
        present[-1][at] = next((text for text in again if text not in (same, column.missing)), same)
    return rows


def _typed(column: Column, cells: tuple[str, ...]) -> ParquetColumn:
    if column.kind in ("person", "categorical"):
        known = column.categories if column.kind == "categorical" else cells
        return ParquetColumn(column.name, "text", [cell if cell in known else None for cell in cells])
    if column.kind in ("date", "text"):
        return ParquetColumn(
            column.name, "text", [None if cell == column.missing else cell for cell in cells]
        )
    widest = max(map(abs, column.bounds))
    kind: Kind = "integer" if column.kind == "integer" and widest < 2**63 else "number"
    read = int if kind == "integer" else float
    return ParquetColumn(
        column.name, kind, [None if cell == column.missing else read(cell) for cell in cells]
    )

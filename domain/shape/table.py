"""A table with a row for each person, of which a release holds one number for a column: a mean, or a share.

Such a table can never leave as it is. Of a run's file the columns that are named are summarised over its
rows, by this code; whatever else it holds is passed over. Reads hostile bytes.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.errors import PipelineError
from domain.formats import FORMATS, format_of
from domain.model import InsidePath, Model
from domain.people_summary import Product, Square
from domain.people_summary import Summary as Summary
from domain.pipeline import MAX_VALUES, OutputFile
from domain.shape.text import delimiter_of, find_number, split_cells

MAX_TABLE_CELLS = 65_536
MAX_PAIRS = 2 * MAX_TABLE_CELLS
"""Of the rows of one run, times its summaries of two columns: the time of the format in `domain/formats.py`
holds for so many. A release's whole twin, which nobody waits for, may have more."""
_HEADINGS = ("column", "summary", "value")


class TableShape(Model):
    """Which columns of a table are summarised. Rows may be any, in any order, and so may other columns."""

    format: Literal["table"] = "table"
    file: Annotated[InsidePath, StringConstraints(pattern=r"\.(tsv|csv|txt)$")]
    columns: Annotated[tuple[Summary, ...], Field(min_length=1, max_length=MAX_VALUES)]

    @model_validator(mode="after")
    def _says_each_once(self) -> TableShape:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("the same summary of a column stands there twice; type `dpgate run FOLDER`")
        if any(delimiter_of(self.file) in each.column for each in self.columns):
            raise ValueError("a column's name holds the delimiter of the file; type `dpgate run FOLDER`")
        return self

    @property
    def constants(self) -> tuple[()]:
        """None: a release holds summaries alone."""
        return ()

    @property
    def numbers(self) -> int:
        return len(self.columns)

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(f"column:{each.column} ({each.words})" for each in self.columns)

    def read(self, content: bytes) -> list[float | None]:
        """One number for each summary, over the rows that have one; None where no row has.

        Raises PipelineError for a file without one of the columns, and for rows of unequal length.
        """
        headings, *rows = split_cells(
            self.file, content, most_bytes=FORMATS["table"].most_bytes, most_cells=MAX_TABLE_CELLS
        )
        if any(len(row) != len(headings) for row in rows):
            raise PipelineError("the file has rows of another length than its headings")
        # each column once, however many summaries it has: a run's reading time is what the next one waits for
        cells = {name: _numbers(rows, self._place(name, headings)) for name in self._names}
        alone = {
            name: sorted(number for number in found if number is not None) for name, found in cells.items()
        }
        return [_summarised(each, _found(each, cells, alone)) for each in self.columns]

    def check_run(self, content: bytes) -> None:
        """Raises PipelineError for more rows of one run than there is time to read."""
        pairs = sum(each.complete is not None for each in self.columns)
        if content.count(b"\n") * pairs > MAX_PAIRS:
            raise PipelineError(
                f"{self.file} has more than {MAX_PAIRS // pairs} rows for {pairs} summaries of two columns: "
                "write fewer rows in a run, or ask for fewer covariances and correlations"
            )

    def write(self, numbers: Sequence[str]) -> bytes:
        """A table of its own, a row for each summary."""
        if len(numbers) != self.numbers:
            raise ValueError(f"{self.file} holds {self.numbers} numbers, got {len(numbers)}")
        # a space delimits the cells of a .txt file
        summaries = [each.words.replace(" ", "_") for each in self.columns]
        names = [each.column for each in self.columns]
        rows = [_HEADINGS, *zip(names, summaries, numbers, strict=True)]
        return "".join(delimiter_of(self.file).join(row) + "\n" for row in rows).encode()

    @property
    def _names(self) -> set[str]:
        return {name for each in self.columns for name in _columns_of(each)}

    def _place(self, column: str, headings: Sequence[str]) -> int:
        if headings.count(column) != 1:
            # the twin's own name: nothing of a run's headings is repeated
            raise PipelineError(f"{self.file} has no column {column}, or has it twice")
        return headings.index(column)


def rows_of(file: str, content: bytes) -> tuple[list[str], list[list[str]]] | None:
    """Headings that are all labels, each once, and the rows below; None where the file is no such table."""
    try:
        headings, *rows = split_cells(
            file, content, most_bytes=FORMATS["table"].most_bytes, most_cells=MAX_TABLE_CELLS
        )
    except PipelineError:
        return None
    are_names = len(set(headings)) == len(headings) and not any(map(find_number, headings))
    return (headings, rows) if are_names and all(len(row) == len(headings) for row in rows) else None


def stacked(file: str, tables: Sequence[bytes]) -> bytes:
    """The rows of several tables with the same headings below each other; the first file, of what is none."""
    if format_of(file) != "text":
        return tables[0]
    found = [table for content in tables if (table := rows_of(file, content)) is not None]
    if len(found) < len(tables) or any(headings != found[0][0] for headings, _ in found):
        return tables[0]
    rows = [found[0][0], *(row for _, below in found for row in below)]
    return "".join(delimiter_of(file).join(row) + "\n" for row in rows).encode()


def summaries(output: OutputFile) -> tuple[Summary, ...]:
    """What the manifest asks of the columns of a file."""
    return tuple(summary for each in output.columns for summary in each.summaries)


def lock(output: OutputFile, content: bytes, _sources: Mapping[str, bytes]) -> TableShape:
    """The summaries of a table that was written on the twin. Raises PipelineError where it lacks one."""
    try:
        shape = TableShape(file=output.file, columns=summaries(output))
    except ValueError as error:
        raise PipelineError(f"{output.file}: {error}") from None
    shape.read(content)
    return shape


def _columns_of(summary: Summary) -> tuple[str, ...]:
    both = summary.times or summary.square
    others = (summary.complete, None if both is None else both.column)
    return (summary.column, *(name for name in others if name is not None))


def _numbers(rows: Sequence[Sequence[str]], place: int) -> list[float | None]:
    """The numbers of one column by row."""
    return [find_number(row[place]) for row in rows]


def _found(
    summary: Summary, cells: Mapping[str, Sequence[float | None]], alone: Mapping[str, Sequence[float]]
) -> Sequence[float]:
    """What the rows say for one summary, from the least."""
    if summary.complete is None:
        return alone[summary.column]
    both = summary.times or summary.square
    other = summary.column if both is None else both.column
    rows = zip(cells[summary.column], cells[other], cells[summary.complete], strict=True)
    whole = [(x, y) for x, y, z in rows if x is not None and y is not None and z is not None]
    return sorted(x if both is None else _of_both(x, y, both) for x, y in whole)


def _of_both(x: float, y: float, both: Product | Square) -> float:
    if isinstance(both, Square):
        return both.value(x, y)
    return _from_centre(x, both.beside) * _from_centre(y, both.bounds)


def _from_centre(number: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return min(max(number, low), high) - (low + high) / 2


def _summarised(summary: Summary, found: Sequence[float]) -> float | None:
    if not found:
        return None
    if summary.above is not None:
        return (len(found) - bisect_right(found, summary.above)) / len(found)
    if summary.quantile is not None:
        return found[max(0, math.ceil(summary.quantile * len(found)) - 1)]
    mean = math.fsum(number / len(found) for number in found)  # divided first: sums of large ones overflow
    return mean if math.isfinite(mean) else None

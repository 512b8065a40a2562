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
from domain.formats import MAX_BYTES
from domain.model import InsidePath, Model, Number
from domain.pipeline import MAX_VALUES, ColumnName, OutputFile
from domain.shape.text import delimiter_of, find_number, split_cells

MAX_TABLE_CELLS = 65_536
_HEADINGS = ("column", "summary", "value")


class Summary(Model):
    """The mean of a column, or the share of its rows that are above a number."""

    column: ColumnName
    above: Number | None = None

    @property
    def words(self) -> str:
        return "mean" if self.above is None else f"share above {self.above:g}"


class TableShape(Model):
    """Which columns of a table are summarised. Rows may be any, in any order, and so may other columns."""

    format: Literal["table"] = "table"
    file: Annotated[InsidePath, StringConstraints(pattern=r"\.(tsv|csv|txt)$")]
    columns: Annotated[tuple[Summary, ...], Field(min_length=1, max_length=MAX_VALUES)]

    @model_validator(mode="after")
    def _says_each_once(self) -> TableShape:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("the same summary of a column stands there twice; run `dpgate run` again")
        if any(delimiter_of(self.file) in each.column for each in self.columns):
            raise ValueError("a column's name holds the delimiter of the file; run `dpgate run` again")
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
            self.file, content, most_bytes=MAX_BYTES["table"], most_cells=MAX_TABLE_CELLS
        )
        if any(len(row) != len(headings) for row in rows):
            raise PipelineError("the file has rows of another length than its headings")
        # each column once, however many summaries it has: a run's reading time is what the next one waits for
        numbers = {name: _numbers(rows, self._place(name, headings)) for name in self._names}
        return [_summarised(each, numbers[each.column]) for each in self.columns]

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
        return {each.column for each in self.columns}

    def _place(self, column: str, headings: Sequence[str]) -> int:
        if headings.count(column) != 1:
            # the twin's own name: nothing of a run's headings is repeated
            raise PipelineError(f"{self.file} has no column {column}, or has it twice")
        return headings.index(column)


def rows_of(file: str, content: bytes) -> tuple[list[str], list[list[str]]] | None:
    """Headings that are all labels, each once, and the rows below; None where the file is no such table."""
    try:
        headings, *rows = split_cells(
            file, content, most_bytes=MAX_BYTES["table"], most_cells=MAX_TABLE_CELLS
        )
    except PipelineError:
        return None
    are_names = len(set(headings)) == len(headings) and not any(map(find_number, headings))
    return (headings, rows) if are_names and all(len(row) == len(headings) for row in rows) else None


def summaries(output: OutputFile) -> tuple[Summary, ...]:
    """What the manifest asks of the columns of a file."""
    return tuple(Summary(column=each.column, above=each.above) for each in output.columns)


def lock(output: OutputFile, content: bytes, _sources: Mapping[str, bytes]) -> TableShape:
    """The summaries of a table that was written on the twin. Raises PipelineError where it lacks one."""
    try:
        shape = TableShape(file=output.file, columns=summaries(output))
    except ValueError as error:
        raise PipelineError(f"{output.file}: {error}") from None
    shape.read(content)
    return shape


def _numbers(rows: Sequence[Sequence[str]], place: int) -> list[float]:
    """The numbers of one column, from the least."""
    return sorted(number for row in rows if (number := find_number(row[place])) is not None)


def _summarised(summary: Summary, found: Sequence[float]) -> float | None:
    if not found:
        return None
    if summary.above is not None:
        return (len(found) - bisect_right(found, summary.above)) / len(found)
    mean = math.fsum(number / len(found) for number in found)  # divided first: sums of large ones overflow
    return mean if math.isfinite(mean) else None

"""The shape of a delimited text file: cells that read as numbers are numeric, all others are labels."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.errors import PipelineError
from domain.formats import MAX_BYTES
from domain.model import InsidePath, Model
from domain.pipeline import OutputFile

MAX_FILE_BYTES = MAX_BYTES["text"]
MAX_CELLS = 4096
MAX_LABEL = 1000
NUMBER = re.compile(r"[+-]?(\d{1,20}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?", re.ASCII)
_DELIMITERS = {"tsv": "\t", "csv": ",", "txt": " "}

Label = Annotated[str, StringConstraints(max_length=MAX_LABEL)]
Cell = Label | None  # None: a number goes here


class TextShape(Model):
    """One output file as lines of cells; a cell is the twin's own text, or None where a number belongs."""

    # left out when written: shapes were locked, and questions answered, before there were other formats
    format: Annotated[Literal["text"], Field(exclude=True)] = "text"
    file: Annotated[InsidePath, StringConstraints(pattern=r"\.(tsv|csv|txt)$")]
    rows: Annotated[tuple[tuple[Cell, ...], ...], Field(min_length=1, max_length=MAX_CELLS)]

    @model_validator(mode="after")
    def _is_as_locked(self) -> TextShape:
        # a label with a delimiter in it, or one that reads as a number, would stand for another file
        try:
            rows = _cells(self.file, self.write(["0"] * self.numbers))
        except PipelineError as error:
            raise ValueError(str(error)) from None
        if rows != self.rows:
            raise ValueError("the rows are not as a run on the twin locks them; run `dpgate run` again")
        return self

    @property
    def numbers(self) -> int:
        return sum(cell is None for row in self.rows for cell in row)

    @property
    def _places(self) -> tuple[tuple[int, int], ...]:
        """Row and column of each number, from 0."""
        return tuple(
            (line, position)
            for line, row in enumerate(self.rows)
            for position, cell in enumerate(row)
            if cell is None
        )

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(f"r{line + 1}c{position + 1}" for line, position in self._places)

    @property
    def columns(self) -> tuple[str | None, ...]:
        """For each number, the heading of its column; None where the first row is not all labels, or has the
        heading twice."""
        headings = self.rows[0] if None not in self.rows[0] else ()
        named = [heading if headings.count(heading) == 1 else None for heading in headings]
        return tuple(
            named[position] if line and position < len(named) else None for line, position in self._places
        )

    def read(self, content: bytes) -> list[float | None]:
        """The numbers of a file that has this shape; None for a numeric cell that holds none (`n/a`, `nan`).

        Raises PipelineError for any other file.
        """
        rows = _split(self.file, content)
        if [len(row) for row in rows] != [len(row) for row in self.rows]:
            raise PipelineError("the file has other rows or columns than the twin's run")
        return [_find_number(rows[line][position]) for line, position in self._places]

    def write(self, numbers: Sequence[str]) -> bytes:
        """The twin's file with these numbers in place of its own."""
        if len(numbers) != self.numbers:
            raise ValueError(f"{self.file} holds {self.numbers} numbers, got {len(numbers)}")
        left = iter(numbers)
        delimiter = _delimiter(self.file)
        lines = [delimiter.join(next(left) if cell is None else cell for cell in row) for row in self.rows]
        return ("\n".join(lines) + "\n").encode()


def lock(output: OutputFile, content: bytes, _sources: Mapping[str, bytes]) -> TextShape:
    """The shape of a text file that the pipeline wrote on the twin. Raises PipelineError when it has none."""
    rows = _cells(output.file, content)
    try:
        return TextShape(file=output.file, rows=rows)
    except ValueError:
        raise PipelineError(
            f"{output.file} has a label of more than {MAX_LABEL} characters or a stray carriage return"
        ) from None


def _delimiter(file: str) -> str:
    return _DELIMITERS[file.rsplit(".", 1)[-1]]


def _split(file: str, content: bytes) -> list[list[str]]:
    if len(content) > MAX_FILE_BYTES:
        raise PipelineError(f"{file} is larger than {MAX_FILE_BYTES} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise PipelineError(f"{file} is not UTF-8") from None
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    rows = [line.split(_delimiter(file)) for line in lines]
    if sum(map(len, rows)) > MAX_CELLS:
        raise PipelineError(f"{file} has more than {MAX_CELLS} cells")
    return rows


def _cells(file: str, content: bytes) -> tuple[tuple[str | None, ...], ...]:
    rows = _split(file, content)
    return tuple(tuple(None if _find_number(text) is not None else text for text in row) for row in rows)


def _find_number(text: str) -> float | None:
    # a narrow grammar: float() would also take "nan", "1_0", other scripts' digits and megabytes of text
    if len(text) > 80 or not NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None

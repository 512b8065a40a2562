"""The shape lock: the run on the twin fixes every byte of an output file except its numbers.

A run on original data can only fill the numeric cells; labels, headers, order and count come from the twin's
run. A file of another shape is a failed run. Reads hostile bytes: nothing here trusts its input.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from domain.errors import PipelineError
from domain.model import InsidePath, Model
from domain.pipeline import Manifest, OutputFile

MAX_FILE_BYTES = 65_536
MAX_CELLS = 4096
MAX_LABEL = 1000
NUMBER = re.compile(r"[+-]?(\d{1,20}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?", re.ASCII)

Label = Annotated[str, StringConstraints(max_length=MAX_LABEL)]
Cell = Label | None  # None: a number goes here


class FileShape(Model):
    """One output file as lines of cells; a cell is the twin's own text, or None where a number belongs."""

    file: Annotated[InsidePath, StringConstraints(pattern=r"\.(tsv|csv|txt)$")]
    rows: Annotated[tuple[tuple[Cell, ...], ...], Field(min_length=1, max_length=MAX_CELLS)]

    @model_validator(mode="after")
    def _is_as_locked(self) -> FileShape:
        # a label with a delimiter in it, or one that reads as a number, would stand for another file
        try:
            rows = _cells(self.file, self.write(["0"] * self.numbers).encode())
        except PipelineError as error:
            raise ValueError(str(error)) from None
        if rows != self.rows:
            raise ValueError("the rows are not as a run on the twin locks them; run `dpgate run` again")
        return self

    @property
    def numbers(self) -> int:
        return sum(cell is None for row in self.rows for cell in row)

    def read(self, content: bytes) -> list[float | None]:
        """The numbers of a file that has this shape; None for a numeric cell that holds none (`n/a`, `nan`).

        Raises PipelineError for any other file.
        """
        rows = _split(self.file, content)
        if [len(row) for row in rows] != [len(row) for row in self.rows]:
            raise PipelineError("the file has other rows or columns than the twin's run")
        return [
            _find_number(text)
            for locked, row in zip(self.rows, rows, strict=True)
            for cell, text in zip(locked, row, strict=True)
            if cell is None
        ]

    def write(self, numbers: Sequence[str]) -> str:
        """The twin's file with these numbers in place of its own."""
        if len(numbers) != self.numbers:
            raise ValueError(f"{self.file} holds {self.numbers} numbers, got {len(numbers)}")
        left = iter(numbers)
        delimiter = _delimiter(self.file)
        lines = [delimiter.join(next(left) if cell is None else cell for cell in row) for row in self.rows]
        return "\n".join(lines) + "\n"


class Shape(Model):
    """The shapes of all output files of a pipeline, in the manifest's order."""

    files: Annotated[tuple[FileShape, ...], Field(min_length=1)]

    def check_fits(self, manifest: Manifest) -> None:
        """Raises ValueError when this shape was not locked for this manifest."""
        declared = [(output.file, len(output.values)) for output in manifest.outputs]
        locked = [(shape.file, shape.numbers) for shape in self.files]
        if declared != locked:
            raise ValueError("does not fit the manifest's outputs; run the pipeline on the twin again")


def lock(output: OutputFile, content: bytes) -> FileShape:
    """The shape of a file that the pipeline wrote on the twin.

    Cells that read as numbers are numeric, all others are labels. Raises PipelineError when the count of
    numeric cells is not the count of declared values.
    """
    rows = _cells(output.file, content)
    try:
        shape = FileShape(file=output.file, rows=rows)
    except ValueError:
        raise PipelineError(
            f"{output.file} has a label of more than {MAX_LABEL} characters or a stray carriage return"
        ) from None
    if shape.numbers != len(output.values):
        raise PipelineError(
            f"{output.file} holds {shape.numbers} numbers, the manifest declares {len(output.values)}: "
            f"{', '.join(value.name for value in output.values)}"
        )
    return shape


def _delimiter(file: str) -> str:
    return {"tsv": "\t", "csv": ",", "txt": " "}[file.rsplit(".", 1)[-1]]


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

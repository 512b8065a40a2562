"""The result of a group level: which parts of the whitelisted files are numbers and which are labels.

Text files keep every byte but their numbers; all other formats are written anew from their structure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from companions.siesta.labels import tells_number
from companions.siesta.shaped_files import ShapedFile, Volumes, read_shaped
from domain.formats import FORMATS, format_of
from domain.shape import NUMBER
from dpgate.errors import DpgateError

_SEPARATORS = {".tsv": "\t", ".csv": ","}  # a .txt file has white space of any width between its cells
_LONGEST_NUMBER = 80


@dataclass(frozen=True)
class Cell:
    """A cell by line and position, from 1, with the span of its text in the file; `number` or label."""

    line: int
    position: int
    start: int
    end: int
    label: str | None

    @property
    def place(self) -> str:
        return f"{self.line}:{self.position}"


@dataclass(frozen=True)
class GroupText:
    """One whitelisted text file of a result."""

    file: str
    text: str
    cells: tuple[Cell, ...]

    @property
    def numbers(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.label is None)

    @property
    def names(self) -> tuple[str, ...]:
        """`file:line:position` of each number, counted from 1."""
        return tuple(f"{self.file}:{cell.place}" for cell in self.numbers)

    @property
    def values(self) -> tuple[str, ...]:
        """The numbers as they are written."""
        return tuple(self.text[cell.start : cell.end] for cell in self.numbers)

    def filled(self, values: Sequence[str]) -> bytes:
        """The file with these numbers in place of its own; every other byte stays."""
        parts, after = [], 0
        for cell, value in zip(self.numbers, values, strict=True):
            parts += [self.text[after : cell.start], value]
            after = cell.end
        return ("".join(parts) + self.text[after:]).encode()

    def check_fits(self, other: GroupFile, *, where: Path) -> None:
        """Raises DpgateError, naming the first cell, unless the other file differs in numbers only."""
        assert isinstance(other, GroupText)  # by its name, which is the same
        for mine, theirs in zip(self.cells, other.cells, strict=False):
            if (mine.line, mine.position, mine.label) != (theirs.line, theirs.position, theirs.label):
                raise DpgateError(
                    f"{where / self.file}, line {theirs.line}, cell {theirs.position} is not of the "
                    "kind, or not the label, that it is in the first result; only numbers may differ"
                )
        if len(self.cells) != len(other.cells):
            raise DpgateError(f"{where / self.file} has other lines or cells than in the first result")


GroupFile = GroupText | ShapedFile


def read_group_files(
    folder: Path, whitelist: Sequence[str], *, header_lines: int = 0, volumes: Volumes | None = None
) -> tuple[GroupFile, ...]:
    """The whitelisted files of one result. Cells in the first `header_lines` lines of a text file are labels
    even if they read as numbers; `volumes` says which voxels make one number.

    Raises DpgateError for a file that is missing, leaves the folder by a link, is not what its name says,
    holds no number, or holds one that is not written plainly (nan, inf, quoted).
    """
    return tuple(_read(folder, file, header_lines, volumes or Volumes()) for file in whitelist)


def _read(folder: Path, file: str, header_lines: int, volumes: Volumes) -> GroupFile:
    path = folder / file
    if not path.resolve().is_relative_to(folder.resolve()):
        raise DpgateError(f"{path} leads out of {folder} by a link")
    if not path.is_file():
        raise DpgateError(f"{path} is missing; every result must hold every file of the whitelist")
    most = FORMATS[format_of(file)].most_bytes
    if path.stat().st_size > most:
        raise DpgateError(f"{path} is larger than {most} bytes")
    content = path.read_bytes()
    if format_of(file) != "text":
        return read_shaped(path, file, content, volumes)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise DpgateError(f"{path} is not UTF-8") from None
    found = GroupText(file, text, tuple(_cells(path, text, header_lines)))
    if not found.numbers:
        raise DpgateError(f"{path} holds no number that could be noised")
    return found


def _cells(path: Path, text: str, header_lines: int) -> Iterator[Cell]:
    start = 0
    for line, content in enumerate(text.removesuffix("\n").split("\n"), start=1):
        spans = _spans(content.removesuffix("\r"), _SEPARATORS.get(path.suffix))
        for position, (first, last) in enumerate(spans, start=1):
            place = f"{path}, line {line}, cell {position}"
            label = _label(content[first:last], place, is_header=line <= header_lines)
            yield Cell(line, position, start + first, start + last, label)
        start += len(content) + 1


def _spans(line: str, separator: str | None) -> Iterator[tuple[int, int]]:
    if separator is None:
        yield from (match.span() for match in re.finditer(r"[^ \t]+", line))
        return
    at = 0
    for cell in line.split(separator):
        yield at, at + len(cell)
        at += len(cell) + 1


def is_number(text: str) -> bool:
    """Whether a cell is a finite number, plainly written."""
    return len(text) <= _LONGEST_NUMBER and bool(NUMBER.fullmatch(text)) and math.isfinite(float(text))


def _label(text: str, place: str, *, is_header: bool) -> str | None:
    """The label, or None for a number."""
    if is_header:
        return text
    if is_number(text):
        return None
    try:
        float(text.strip().strip("\"'"))
    except ValueError:
        if not tells_number(text) and "\r" not in text:
            return text
    raise DpgateError(f"{place}, is a number that is missing, infinite, quoted or not written plainly")

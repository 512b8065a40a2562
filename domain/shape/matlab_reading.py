"""One reading of a MATLAB file: what it found so far, and how much more it may find."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from domain.errors import PipelineError
from domain.model import Model
from domain.shape.matlab_tree import (
    MOST_ARRAYS,
    MOST_DEPTH,
    MOST_DIMENSIONS,
    MOST_LABELS,
    MOST_NUMBERS,
    NUMBER_CLASSES,
    Cell,
    Flags,
    Node,
    Numbers,
    Struct,
    Text,
    Variable,
    check_tree,
)

Version = Literal["4", "5", "7.3"]
"""Of the file format: MATLAB's -v6 and -v7 are both 5, the latter compressed."""
ArrayT = TypeVar("ArrayT", bound=Model)


@dataclass(frozen=True)
class Parsed:
    version: Version
    compressed: bool
    variables: tuple[Variable, ...]
    numbers: tuple[float | None, ...]  # None: not a finite number


class Reading:
    """Every array is announced with `enter` before anything of its size is made."""

    def __init__(self) -> None:
        self.numbers: list[float | None] = []
        self._arrays = self._held = 0

    def enter(self, dims: Sequence[int], depth: int) -> int:
        """How many elements an array has. Raises PipelineError for one too many, too deep, too large."""
        self._arrays += 1
        if self._arrays > MOST_ARRAYS or depth > MOST_DEPTH:
            raise PipelineError(
                f"it holds more than {MOST_ARRAYS} arrays, "
                f"or more than {MOST_DEPTH} levels of structs and cells"
            )
        if not 2 <= len(dims) <= MOST_DIMENSIONS or min(dims) < 0 or max(dims) >= 2**31:
            raise PipelineError("it holds an array of impossible dimensions")
        count = math.prod(dims)
        self.spend(count)
        return count

    def spend(self, count: int) -> None:
        """So many elements, or names of fields, more. Raises PipelineError when they are too many."""
        self._held += count
        if self._held > MOST_LABELS:
            raise PipelineError(f"it holds more than {MOST_LABELS} elements; write summaries")

    def check_room(self, count: int) -> None:
        """Raises PipelineError when so many more numbers are too many."""
        if len(self.numbers) + count > MOST_NUMBERS:
            raise PipelineError(f"it holds more than {MOST_NUMBERS} numbers; write summaries")

    def add(self, number_class: str, dims: Sequence[int], values: Sequence[float]) -> Node:
        """An array of numbers, column by column."""
        if number_class not in NUMBER_CLASSES:
            raise PipelineError("it holds an array of an unknown class")
        self.check_room(len(values))
        self.numbers += [float(value) if math.isfinite(value) else None for value in values]
        return array(Numbers, dims=dims)

    def finish(self, version: Version, variables: list[Variable], *, compressed: bool = False) -> Parsed:
        try:
            check_tree(variables)
        except ValueError as error:
            raise PipelineError(f"it has a problem: {error}") from None
        return Parsed(version, compressed, tuple(variables), tuple(self.numbers))


def text_of(dims: Sequence[int], codes: Sequence[int | float]) -> Node:
    """An array of characters from its UTF-16 code units."""
    try:
        units = b"".join(int(code).to_bytes(2, "little") for code in codes)
        return array(Text, dims=dims, text=units.decode("utf-16-le"))
    except (UnicodeDecodeError, OverflowError, ValueError):
        raise PipelineError("it holds a text with characters that are none") from None


def flags_of(dims: Sequence[int], values: Sequence[float]) -> Node:
    return array(Flags, dims=dims, flags="".join("1" if value else "0" for value in values))


def array(kind: type[ArrayT], **content: Any) -> ArrayT:
    """A node, or a named array. Raises PipelineError where it would be none."""
    try:
        return kind(**content)
    except ValueError:
        raise PipelineError(
            "it holds an array whose name or content is not as MATLAB writes them: names are a letter and "
            "then letters, digits and underscores, at most 63"
        ) from None


__all__ = ["Cell", "Parsed", "Reading", "Struct", "Variable", "Version", "array", "flags_of", "text_of"]

"""Numbers of a file that are no results: a year, a group's number, a time axis. They are locked like labels.

The run on the twin fixes them. A release holds the twin's, without noise and at no cost, since nothing of the
original data is in them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, Protocol

from pydantic import Field, StringConstraints, model_validator

from domain.model import Model, is_empty

MOST_PLACES = 4096
"""Of the numbers of one file, in every format that has constants."""

_CLOSE = 1e-9

_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
Constant = Annotated[str, StringConstraints(max_length=80, pattern=_NUMBER)]


class HasConstants(Model):
    """`constants`: for each number of the file, in reading order, the twin's own text where it is a constant,
    and None where a result belongs. Empty where the file has no constant."""

    # left out when empty: files were locked, and questions answered, before there were constants
    constants: Annotated[tuple[Constant | None, ...], Field(max_length=MOST_PLACES, exclude_if=is_empty)] = ()

    @model_validator(mode="after")
    def _constants_fit(self) -> Any:
        if not self.constants:
            return self
        if len(self.constants) != self.numbers:
            raise ValueError("the constants are not those of the file's numbers; type `dpgate run FOLDER`")
        if None not in self.constants or set(self.constants) == {None}:
            raise ValueError("the constants are not as a run on the twin locks; type `dpgate run FOLDER`")
        if any(text is not None and not math.isfinite(float(text)) for text in self.constants):
            raise ValueError("a constant is no finite number; type `dpgate run FOLDER`")
        return self

    @property
    @abstractmethod
    def numbers(self) -> int:
        """All numbers of the file, constants among them."""

    @property
    def filled(self) -> list[str]:
        """A text for every number: the constants, and 0 where a result belongs."""
        return [text or "0" for text in self.constants] if self.constants else ["0"] * self.numbers


class File(Protocol):
    """What any locked file tells of its constants and numbers."""

    @property
    def constants(self) -> tuple[str | None, ...]: ...

    @property
    def numbers(self) -> int: ...

    def read(self, content: bytes) -> list[float | None]: ...

    def write(self, numbers: Sequence[str]) -> bytes: ...


def results_in(file: File) -> int:
    """How many numbers of a file are results."""
    return file.constants.count(None) if file.constants else file.numbers


def read_results(file: File, content: bytes) -> list[float | None]:
    """The results of a file in reading order, None where there is none.

    All of them are None where a constant is another number than the twin's: what stands beside it then
    belongs to something else. Raises PipelineError for a file of another shape.
    """
    numbers = file.read(content)
    if not file.constants:
        return numbers
    pairs = list(zip(file.constants, numbers, strict=True))
    results = [number for constant, number in pairs if constant is None]
    return results if all(_agrees(*pair) for pair in pairs) else [None] * len(results)


def write_results(file: File, results: Sequence[str]) -> bytes:
    """The twin's file with these results, and its own constants."""
    left = iter(results)
    return file.write(
        [text if text is not None else next(left) for text in file.constants] if file.constants else results
    )


def same_number(one: float, other: float) -> bool:
    """Whether two constants are one, however many digits were written of them."""
    return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=0)


def _agrees(constant: str | None, number: float | None) -> bool:
    # a constant without a number stands in a row that a run left out
    return constant is None or number is None or same_number(float(constant), number)

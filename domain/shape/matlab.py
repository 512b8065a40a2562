"""The shape of a MATLAB file: names, dimensions, texts and truth values, with a cell for each number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.errors import PipelineError
from domain.formats import FORMATS
from domain.model import InsidePath
from domain.pipeline import OutputFile
from domain.shape import matlab4, matlab5, matlab5_write, matlab73
from domain.shape.constants import HasConstants
from domain.shape.matlab_reading import Parsed, Version
from domain.shape.matlab_tree import (
    MOST_ARRAYS,
    Variable,
    addresses,
    check_tree,
    count_numbers,
    same_structure,
)


class MatlabShape(HasConstants):
    """One .mat file as the twin's run wrote it, without its numbers.

    A file that agrees in names, kinds of arrays, dimensions and nesting has this shape. What its texts and
    truth values say does not matter: a release holds the twin's.
    """

    format: Literal["mat"] = "mat"
    file: Annotated[InsidePath, StringConstraints(pattern=r"\.mat$")]
    version: Version
    compressed: bool = False  # version 5: as -v7 writes it
    variables: Annotated[tuple[Variable, ...], Field(min_length=1, max_length=MOST_ARRAYS)]

    @model_validator(mode="after")
    def _can_be_written(self) -> MatlabShape:
        check_tree(self.variables)
        self.write(self.filled)
        return self

    @property
    def numbers(self) -> int:
        return count_numbers(self.variables)

    @property
    def addresses(self) -> tuple[str, ...]:
        """`stats.beta[1,2]`: variable, fields, and subscripts from 1; each column of an array in turn."""
        return tuple(addresses(self.variables))

    def read(self, content: bytes) -> list[float | None]:
        """The numbers of a file that has this shape; None for NaN and infinities.

        Raises PipelineError for any other file. Any version will do.
        """
        parsed = _parse(self.file, content)
        if not same_structure(parsed.variables, self.variables):
            raise PipelineError(f"{self.file} has other variables, fields or dimensions than the twin's run")
        return list(parsed.numbers)

    def texts(self, content: bytes) -> list[str]:
        """The numbers of the twin's own file, in as many digits as they have."""
        return [repr(number) for number in self.read(content)]

    def write(self, numbers: Sequence[str]) -> bytes:
        """A file of the same version with these numbers, all of class double."""
        if len(numbers) != self.numbers:
            raise ValueError(f"{self.file} holds {self.numbers} numbers, got {len(numbers)}")
        values: Iterator[float] = map(float, numbers)
        if self.version == "4":
            return matlab4.write(self.variables, values)
        if self.version == "5":
            return matlab5_write.write(self.variables, values, compressed=self.compressed)
        return matlab73.write(self.variables, values)


def lock(output: OutputFile, content: bytes, _sources: Mapping[str, bytes]) -> MatlabShape:
    """The shape of a .mat file that the pipeline wrote on the twin. Raises PipelineError when it has none."""
    parsed = _parse(output.file, content)
    if not parsed.variables:
        raise PipelineError(f"{output.file} holds no variable")
    return MatlabShape(
        file=output.file, version=parsed.version, compressed=parsed.compressed, variables=parsed.variables
    )


def _parse(file: str, content: bytes) -> Parsed:
    if len(content) > FORMATS["mat"].most_bytes:
        raise PipelineError(f"{file} is larger than {FORMATS['mat'].most_bytes} bytes")
    try:
        if matlab73.is_version_73(content):
            return matlab73.read(content)
        # the text in front of version 5 is never empty; version 4 starts with a number below 5000
        if len(content) >= matlab5.HEADER_BYTES and 0 not in content[:4]:
            return matlab5.read(content)
        return matlab4.read(content)
    except PipelineError as error:
        raise PipelineError(f"{file}: {error}") from None

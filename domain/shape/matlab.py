"""The shape of a MATLAB file: names, dimensions, texts and truth values, with a cell for each number."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.errors import PipelineError
from domain.formats import FORMATS
from domain.model import InsidePath
from domain.pipeline import OutputFile
from domain.shape import matlab5, matlab5_write, matlab73
from domain.shape.constants import HasConstants
from domain.shape.matlab_reading import Parsed, Reading, Version, array, text_of
from domain.shape.matlab_tree import (
    MOST_ARRAYS,
    Node,
    Numbers,
    Text,
    Variable,
    addresses,
    check_tree,
    count_numbers,
    same_structure,
)
from formats.byte_cursor import ByteCursor, Order


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
            return write(self.variables, values)
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
        return read(content)
    except PipelineError as error:
        raise PipelineError(f"{file}: {error}") from None


# MATLAB's oldest format, -v4: matrices of numbers and texts, one after the other.

_CODES = ("d", "f", "i", "h", "H", "B")
_FULL, _TEXT, _SPARSE = 0, 1, 2
_LONGEST_NAME = 64  # with the NUL behind it


def read(content: bytes) -> Parsed:
    """Raises PipelineError for anything that is not such a file.

    The stored type of a matrix is the smallest that holds its values, and says nothing of its class.
    """
    cursor = ByteCursor(content, order=_order_of(content))
    reading, variables = Reading(), []
    while cursor.left:
        variables.append(_matrix(cursor, reading))
    return reading.finish("4", variables)


def _order_of(content: bytes) -> Order:
    # the first number is 0 to 4052, with a thousand added where bytes are in the other order
    return "little" if len(content) >= 4 and int.from_bytes(content[:4], "little") < 1000 else "big"


def _matrix(cursor: ByteCursor, reading: Reading) -> Variable:
    kind, rows, columns = (cursor.signed(4) for _ in range(3))
    imaginary, named = cursor.signed(4), cursor.signed(4)
    machine, rest = divmod(kind, 1000)
    stored, full = divmod(rest, 10)
    if machine != (0 if cursor.order == "little" else 1) or stored % 10 >= len(_CODES) or stored > 9:
        raise PipelineError("it is no MAT-file")
    if full not in (_FULL, _TEXT):
        raise PipelineError("it holds a sparse array; write full(...)")
    if imaginary:
        raise PipelineError("it holds complex numbers; write real(...) and imag(...) as two arrays")
    if not 0 < named <= _LONGEST_NAME:
        raise PipelineError("it is no MAT-file")
    name = cursor.take(named).rstrip(b"\0").decode("ascii", errors="replace")
    count = reading.enter((rows, columns), depth=1)
    if full == _FULL:
        reading.check_room(count)
    code = _CODES[stored]
    sign = "<" if cursor.order == "little" else ">"
    values = struct.unpack(f"{sign}{count}{code}", cursor.take(count * struct.calcsize(f"<{code}")))
    dims = (rows, columns)
    node = text_of(dims, values) if full == _TEXT else reading.add("double", dims, values)
    return array(Variable, name=name, value=node)


def write(variables: Sequence[Variable], numbers: Iterator[float]) -> bytes:
    """The file with these numbers. Raises ValueError for arrays that the format does not have."""
    return b"".join(_packed(variable.name, variable.value, numbers) for variable in variables)


def _packed(name: str, node: Node, numbers: Iterator[float]) -> bytes:
    rows, columns = node.dims
    if isinstance(node, Numbers):
        kind, count = _FULL, rows * columns
        body = struct.pack(f"<{count}d", *(next(numbers) for _ in range(count)))
    elif isinstance(node, Text):
        units = memoryview(node.text.encode("utf-16-le")).cast("H")
        kind, body = 10 * _CODES.index("H") + _TEXT, units.tobytes()
    else:
        raise ValueError("a MAT-file of version 4 holds matrices of numbers and texts only")
    return struct.pack("<5i", kind, rows, columns, 0, len(name) + 1) + name.encode() + b"\0" + body

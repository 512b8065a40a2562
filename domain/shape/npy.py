"""The shape of a NumPy array file (.npy, versions 1 to 3): its dimensions, and nothing else of it.

Read by hand from a narrow grammar: no pickle, no eval, and nothing is allocated by what the file says.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.errors import PipelineError
from domain.formats import FORMATS
from domain.model import InsidePath, Whole
from domain.pipeline import OutputFile
from domain.shape.constants import HasConstants
from domain.shape.text import MAX_CELLS

MAX_AXES = 8
_MAGIC = b"\x93NUMPY"
_LENGTHS = {(1, 0): "<H", (2, 0): "<I", (3, 0): "<I"}
_LONGEST_HEADER = 4096
_ENTRY = re.compile(
    r" *'([a-z_]{1,16})' *: *"
    r"('[^'\\]{1,8}'|True|False|\((?:[0-9]{1,10} *, *)*+(?:[0-9]{1,10})?+\)) *(,|(?=\}))"
)
_KINDS = {
    **{("i", size): code for size, code in ((1, "b"), (2, "h"), (4, "i"), (8, "q"))},
    **{("u", size): code for size, code in ((1, "B"), (2, "H"), (4, "I"), (8, "Q"))},
    **{("f", size): code for size, code in ((2, "e"), (4, "f"), (8, "d"))},
}
_ALIGNED = 64


@dataclass(frozen=True)
class _Header:
    """`code`: byte order and kind as struct writes them."""

    code: str
    by_columns: bool
    dims: tuple[int, ...]
    start: int


class NpyShape(HasConstants):
    """One array of numbers; the release holds them as 64-bit floats in C order, whatever the twin's kind."""

    format: Literal["npy"] = "npy"
    file: Annotated[InsidePath, StringConstraints(pattern=r"\.npy$")]
    dims: Annotated[tuple[Annotated[Whole, Field(ge=1, le=MAX_CELLS)], ...], Field(max_length=MAX_AXES)]

    @model_validator(mode="after")
    def _is_small(self) -> NpyShape:
        if self.numbers > MAX_CELLS:
            raise ValueError(f"has {self.numbers} numbers; at most {MAX_CELLS} are read of a file")
        return self

    @property
    def numbers(self) -> int:
        return math.prod(self.dims)

    @property
    def addresses(self) -> tuple[str, ...]:
        """As numpy writes an index: [0,2]."""
        return tuple(f"[{','.join(map(str, index))}]" for index in product(*map(range, self.dims)))

    def read(self, content: bytes) -> list[float | None]:
        """The numbers in C order, of whichever kind and order in the file; None for nan and infinity.

        Raises PipelineError for any other file.
        """
        header = _read_header(self.file, content)
        if header.dims != self.dims:
            raise PipelineError("the array has other dimensions than the twin's run")
        return [value if math.isfinite(value) else None for value in _values(self.file, content, header)]

    def texts(self, content: bytes) -> list[str]:
        """The numbers of the twin's own file, in as many digits as they have."""
        return [repr(number) for number in self.read(content)]

    def write(self, numbers: Sequence[str]) -> bytes:
        """An array of the twin's dimensions with these numbers."""
        if len(numbers) != self.numbers:
            raise ValueError(f"{self.file} holds {self.numbers} numbers, got {len(numbers)}")
        dims = f"{', '.join(map(str, self.dims))}{',' if len(self.dims) == 1 else ''}"
        text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({dims}), }}"
        start = len(_MAGIC) + 4
        padded = text.ljust(-(start + len(text) + 1) % _ALIGNED + len(text)) + "\n"
        head = _MAGIC + bytes((1, 0)) + struct.pack("<H", len(padded)) + padded.encode("ascii")
        return head + struct.pack(f"<{len(numbers)}d", *map(float, numbers))


def lock(output: OutputFile, content: bytes, _sources: Mapping[str, bytes]) -> NpyShape:
    """The shape of an array that the pipeline wrote on the twin. Raises PipelineError when it has none."""
    header = _read_header(output.file, content)
    try:
        shape = NpyShape(file=output.file, dims=header.dims)
    except ValueError:
        raise PipelineError(
            f"{output.file} has dimensions {header.dims}; arrays have 1 to {MAX_CELLS} numbers on at most "
            f"{MAX_AXES} axes"
        ) from None
    shape.read(content)
    return shape


def _read_header(file: str, content: bytes) -> _Header:
    if len(content) > FORMATS["npy"].most_bytes:
        raise PipelineError(f"{file} is larger than {FORMATS['npy'].most_bytes} bytes")
    version = tuple(content[6:8])
    if content[:6] != _MAGIC or version not in _LENGTHS:
        raise PipelineError(f"{file} is not a .npy file of version 1, 2 or 3")
    width = struct.calcsize(_LENGTHS[version])
    if len(content) < 8 + width:
        raise PipelineError(f"{file} ends inside its header")
    (length,) = struct.unpack_from(_LENGTHS[version], content, 8)
    start = 8 + width + length
    if length > _LONGEST_HEADER or start > len(content):
        raise PipelineError(f"{file} ends inside its header, or has one that is too long")
    entries = _entries(file, content[8 + width : start].decode("latin-1"))
    dims = tuple(int(part) for part in re.findall("[0-9]+", entries["shape"]))
    if entries["shape"] != "()" and "," not in entries["shape"]:
        raise PipelineError(f"{file} has a header that cannot be read")
    return _Header(_code(file, entries["descr"]), entries["fortran_order"] == "True", dims, start)


def _entries(file: str, text: str) -> dict[str, str]:
    body = text.rstrip(" \n")
    found: dict[str, str] = {}
    at = 1
    while body[:1] == "{" and (entry := _ENTRY.match(body, at)) and entry[1] not in found:
        found[entry[1]], at = entry[2], entry.end()
    is_whole = body[at:].strip(" ") == "}" and set(found) == {"descr", "fortran_order", "shape"}
    if not is_whole or not re.fullmatch("True|False", found["fortran_order"]) or found["shape"][0] != "(":
        raise PipelineError(f"{file} has a header that cannot be read")
    return found


def _code(file: str, descr: str) -> str:
    kind = re.fullmatch(r"'([<>|=]?)([a-zA-Z])(\d{1,3})'", descr)
    code = _KINDS.get((kind[2], int(kind[3]))) if kind else None
    if kind is None or code is None:
        raise PipelineError(
            f"{file} does not hold plain numbers; save integers or floats of up to 64 bits, "
            "and truth values as 0 and 1"
        )
    return (">" if kind[1] == ">" else "<") + code


def _values(file: str, content: bytes, header: _Header) -> list[float]:
    """In C order."""
    count = math.prod(header.dims)
    packed = struct.calcsize(header.code) * count
    # compared before anything is made of it: a header can name more numbers than there are atoms
    if len(content) - header.start != packed:
        raise PipelineError(f"{file} has other bytes than its header says")
    order, kind = header.code[0], header.code[1]
    values = [float(value) for value in struct.unpack_from(f"{order}{count}{kind}", content, header.start)]
    if not header.by_columns:
        return values
    steps = [math.prod(header.dims[:axis]) for axis in range(len(header.dims))]
    return [
        values[sum(place * step for place, step in zip(index, steps, strict=True))]
        for index in product(*map(range, header.dims))
    ]

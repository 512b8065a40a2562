"""The messages of object headers that describe a link, the element type and the extent of an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from domain.errors import PipelineError
from formats.byte_cursor import ByteCursor, Order

MOST_DIMENSIONS = 32
_HARD_LINK = 0
_ENUMERATION = 8
_CLASSES = {2: "a time", 4: "a bit field", 5: "opaque", 6: "compound", 10: "an array type"}


@dataclass(frozen=True)
class ElementType:
    """What one element of an array is. `kind` other: of no use here, but harmless in an attribute."""

    kind: Literal["integer", "float", "string", "reference", "other"]
    size: int
    order: Order = "little"
    signed: bool = False
    name: str = ""


def read_dataspace(content: bytes) -> tuple[int, ...]:
    """The extent of each dimension, slowest first; () for one element."""
    cursor = ByteCursor(content)
    version, rank, _flags = cursor.unsigned(1), cursor.unsigned(1), cursor.unsigned(1)
    if rank > MOST_DIMENSIONS or version not in (1, 2):
        raise PipelineError("it holds an array of too many dimensions or an unknown kind of extent")
    if version == 1:
        cursor.take(5)
    elif cursor.unsigned(1) == 2:
        raise PipelineError("it holds an array without an extent")
    return tuple(cursor.unsigned(8) for _ in range(rank))


def read_datatype(content: bytes) -> ElementType:
    """Raises PipelineError for numbers of unusual widths; what is no number at all is of kind other."""
    cursor = ByteCursor(content)
    kind = cursor.unsigned(1) & 0x0F
    bits, size = cursor.unsigned(3), cursor.unsigned(4)
    if kind == _ENUMERATION:  # which is how some programs write a truth value: read as its numbers
        kind, bits, size = cursor.unsigned(1) & 0x0F, cursor.unsigned(3), cursor.unsigned(4)
    if kind == 0:
        return _integer(cursor, bits, size)
    if kind == 1:
        return _float(cursor, bits, size)
    if kind == 3:
        return ElementType("string", size)
    if kind == 7 and bits & 0x0F == 0 and size == 8:
        return ElementType("reference", size)
    return ElementType("other", size, name=_CLASSES.get(kind, "of variable length"))


def _integer(cursor: ByteCursor, bits: int, size: int) -> ElementType:
    offset, precision = cursor.unsigned(2), cursor.unsigned(2)
    if size not in (1, 2, 4, 8) or offset or precision != 8 * size:
        raise PipelineError("it holds integers of an unusual width")
    return ElementType("integer", size, "big" if bits & 1 else "little", bool(bits & 8))


def _float(cursor: ByteCursor, bits: int, size: int) -> ElementType:
    layout = (cursor.unsigned(2), cursor.unsigned(2), *cursor.take(4), cursor.unsigned(4))
    ieee = {4: (0, 32, 23, 8, 0, 23, 127), 8: (0, 64, 52, 11, 0, 52, 1023)}
    if layout != ieee.get(size) or bits & 0x40:
        raise PipelineError("it holds floating-point numbers that are neither single nor double")
    return ElementType("float", size, "big" if bits & 1 else "little", signed=True)


def read_link(content: bytes) -> tuple[bytes, int]:
    """Name and object address of a link. Raises PipelineError for one that is not a plain (hard) link."""
    cursor = ByteCursor(content)
    version, flags = cursor.unsigned(1), cursor.unsigned(1)
    kind = cursor.unsigned(1) if flags & 0x08 else _HARD_LINK
    cursor.take((8 if flags & 0x04 else 0) + (1 if flags & 0x10 else 0))
    name = cursor.take(cursor.unsigned(1 << (flags & 0x03)))
    if version != 1 or kind != _HARD_LINK:
        raise PipelineError("it holds a link to another place or file; write the content itself")
    return name, cursor.unsigned(8)


def check_no_dense_links(content: bytes) -> None:
    """Groups of many links are kept in another form by writers that ask for HDF5's newest one."""
    cursor = ByteCursor(content)
    _version, flags = cursor.unsigned(1), cursor.unsigned(1)
    cursor.take(8 if flags & 0x01 else 0)
    _check_no_heap(cursor)


def check_no_dense_attributes(content: bytes) -> None:
    cursor = ByteCursor(content)
    _version, flags = cursor.unsigned(1), cursor.unsigned(1)
    cursor.take(2 if flags & 0x01 else 0)
    _check_no_heap(cursor)


def _check_no_heap(cursor: ByteCursor) -> None:
    if cursor.unsigned(8) != 2**64 - 1:
        raise PipelineError("it uses HDF5's newer storage of groups; write it with libver='earliest'")


def read_attribute(content: bytes) -> tuple[bytes, ElementType, tuple[int, ...], bytes]:
    """Name, element type, extent and raw value."""
    cursor = ByteCursor(content)
    version, flags = cursor.unsigned(1), cursor.unsigned(1)
    if version not in (1, 2, 3) or (version > 1 and flags & 0x03):
        raise PipelineError("it holds an attribute of an unknown or shared kind")
    lengths = [cursor.unsigned(2) for _ in range(3)]
    cursor.take(1 if version == 3 else 0)
    parts = []
    for length in lengths:
        parts.append(cursor.take(length))
        if version == 1:
            cursor.take(-length % 8)
    name, datatype, dataspace = parts
    return name.rstrip(b"\0"), read_datatype(datatype), read_dataspace(dataspace), cursor.take(cursor.left)

"""Reads MATLAB's formats -v6 and -v7, which are one: a list of elements, the latter's compressed."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from domain.errors import PipelineError
from domain.shape.matlab_reading import Parsed, Reading, array, flags_of, text_of
from domain.shape.matlab_tree import Cell, Node, Struct, Variable
from formats.byte_cursor import ByteCursor
from formats.matlab5_numbers import (
    CELL,
    CHAR,
    CLASSES,
    COMPLEX,
    COMPRESSED,
    DOUBLE,
    INT8,
    INT16,
    INT32,
    INT64,
    LOGICAL,
    MATRIX,
    OBJECT,
    SINGLE,
    SPARSE,
    STRUCT,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    UTF8,
    UTF16,
    UTF32,
    VERSION,
)

HEADER_BYTES = 128
# as long as the most elements, arrays and names that are read of any file, written as wastefully as can be
MOST_INFLATED = 8 * 1024 * 1024
_CODES = {INT8: "b", UINT8: "B", INT16: "h", UINT16: "H", INT32: "i", UINT32: "I", SINGLE: "f", DOUBLE: "d",
          INT64: "q", UINT64: "Q"}  # fmt: skip
_REFUSED = {
    OBJECT: "an object; write its values as numbers",
    SPARSE: "a sparse array; write full(...)",
    16: "a function handle; leave it out",
    17: "an object, string or table of a newer class; write char(...) or plain numbers",
}


@dataclass(frozen=True)
class _Element:
    kind: int
    content: memoryview


def read(content: bytes) -> Parsed:
    """Raises PipelineError for any other file, and for classes that hold no plain numbers."""
    head = ByteCursor(content[:HEADER_BYTES], order="little" if content[126:128] == b"IM" else "big")
    head.take(124)
    if head.unsigned(2) != VERSION or content[126:128] not in (b"IM", b"MI"):
        raise PipelineError("it is no MAT-file")
    cursor = ByteCursor(memoryview(content)[HEADER_BYTES:], order=head.order)
    reading, variables, packed, inflated = Reading(), [], False, 0
    while cursor.left:
        element = _element(cursor, whole=True)
        if element.kind == COMPRESSED:
            packed = True
            plain = _inflate(element.content, most=MOST_INFLATED - inflated)
            inflated += len(plain)
            inside = ByteCursor(plain, order=cursor.order)
            element = _element(inside, whole=True)
            _check_ends(inside)
        cursor_of = ByteCursor(_of_kind(element, MATRIX), order=cursor.order)
        name, node = _matrix(cursor_of, reading, depth=1)
        variables.append(array(Variable, name=name, value=node))
    return reading.finish("5", variables, compressed=packed)


def _inflate(packed: memoryview, *, most: int) -> bytes:
    unpacking = zlib.decompressobj()
    try:
        content = unpacking.decompress(packed, most + 1)
    except zlib.error:
        raise PipelineError("a compressed part of it is damaged") from None
    if len(content) > most:
        raise PipelineError(f"it unpacks to more than {MOST_INFLATED // 2**20} MiB; write summaries")
    if not unpacking.eof or unpacking.unused_data:
        raise PipelineError("a compressed part of it is damaged")
    return content


def _element(cursor: ByteCursor, *, whole: bool = False) -> _Element:
    """`whole`: a variable, which has no padding behind it, and may lack some at its end.

    Octave counts four bytes too many for a variable of two texts of two characters.
    """
    tag = cursor.unsigned(4)
    if tag >> 16:  # the short form: type, length and up to four bytes in one
        count, kind = tag >> 16, tag & 0xFFFF
        if count > 4:
            raise PipelineError("a length in it is wrong")
        return _Element(kind, cursor.view(4)[:count])
    count = cursor.unsigned(4)
    if whole:
        return _Element(tag, cursor.view(cursor.left if 0 < count - cursor.left < 8 else count))
    element = _Element(tag, cursor.view(count))
    cursor.skip_to_multiple(8)
    return element


def _of_kind(element: _Element, *kinds: int) -> memoryview:
    if element.kind not in kinds:
        raise PipelineError("a part of it is of another type than it must be")
    return element.content


def _check_ends(cursor: ByteCursor) -> None:
    if cursor.left:
        raise PipelineError("it holds bytes that belong to nothing")


def _matrix(cursor: ByteCursor, reading: Reading, depth: int) -> tuple[str, Node]:
    """Name and content of the array that fills the cursor."""
    if not cursor.left:  # how an empty element of a cell or a field that was never set is written
        reading.enter((0, 0), depth)
        return "", reading.add("double", (0, 0), ())
    flags = ByteCursor(_of_kind(_element(cursor), UINT32), order=cursor.order).unsigned(4)
    kind = flags & 0xFF
    if kind in _REFUSED:
        raise PipelineError(f"it holds {_REFUSED[kind]}")
    if flags & COMPLEX:
        raise PipelineError("it holds complex numbers; write real(...) and imag(...) as two arrays")
    dims = _integers(_element(cursor), cursor)
    name = bytes(_of_kind(_element(cursor), INT8, UTF8)).decode("ascii", errors="replace")
    count = reading.enter(dims, depth)
    node: Node
    if kind == CELL:
        node = array(Cell, dims=dims, elements=_inner(cursor, reading, count, depth))
    elif kind == STRUCT:
        node = _struct(cursor, reading, dims, count, depth)
    elif kind == CHAR:
        node = text_of(dims, _codes(_element(cursor), cursor, count))
    elif kind in CLASSES:
        node = _numbers(cursor, reading, dims, count, flags)
    else:
        raise PipelineError("it holds an array of an unknown class")
    _check_ends(cursor)
    return name, node


def _numbers(cursor: ByteCursor, reading: Reading, dims: Sequence[int], count: int, flags: int) -> Node:
    if not flags & LOGICAL:
        reading.check_room(count)
    values = _values(_element(cursor), cursor, count)
    if flags & LOGICAL:
        return flags_of(dims, values)
    return reading.add(CLASSES[flags & 0xFF], dims, values)


def _struct(cursor: ByteCursor, reading: Reading, dims: Sequence[int], count: int, depth: int) -> Node:
    (width, *others), packed = _integers(_element(cursor), cursor), bytes(_of_kind(_element(cursor), INT8))
    if others or not 0 < width <= 64 or len(packed) % width:
        raise PipelineError("the names of a struct's fields are damaged")
    reading.spend(len(packed) // width)
    pieces = [packed[start : start + width] for start in range(0, len(packed), width)]
    fields = [piece.split(b"\0", 1)[0].decode("ascii", errors="replace") for piece in pieces]
    elements = _inner(cursor, reading, count * len(fields), depth)
    return array(Struct, dims=dims, fields=fields, elements=elements)


def _inner(cursor: ByteCursor, reading: Reading, count: int, depth: int) -> tuple[Node, ...]:
    found = []
    for _ in range(count):
        element = _element(cursor)
        inside = ByteCursor(_of_kind(element, MATRIX), order=cursor.order)
        found.append(_matrix(inside, reading, depth + 1)[1])
    return tuple(found)


def _integers(element: _Element, cursor: ByteCursor) -> tuple[int, ...]:
    content = _of_kind(element, INT32)
    sign = "<" if cursor.order == "little" else ">"
    if not content or len(content) % 4 or len(content) > 4 * 64:
        raise PipelineError("a length in it is wrong")
    return struct.unpack(f"{sign}{len(content) // 4}i", content)


def _values(element: _Element, cursor: ByteCursor, count: int) -> tuple[int | float, ...]:
    code = _CODES.get(element.kind)
    if code is None or len(element.content) != count * struct.calcsize(f"<{code}"):
        raise PipelineError("it holds an array with more or fewer elements than its dimensions say")
    return struct.unpack(f"{'<' if cursor.order == 'little' else '>'}{count}{code}", element.content)


def _codes(element: _Element, cursor: ByteCursor, count: int) -> tuple[int | float, ...]:
    """UTF-16 code units, whichever way the text is stored."""
    if element.kind not in (UTF8, UTF16, UTF32):
        return _values(element, cursor, count)
    order = "le" if cursor.order == "little" else "be"
    encoding = {UTF8: "utf-8", UTF16: f"utf-16-{order}", UTF32: f"utf-32-{order}"}[element.kind]
    try:
        units = bytes(element.content).decode(encoding).encode("utf-16-le")
    except UnicodeDecodeError:
        raise PipelineError("it holds a text with characters that are none") from None
    if len(units) != 2 * count:
        raise PipelineError("it holds an array with more or fewer elements than its dimensions say")
    return struct.unpack(f"<{count}H", units)

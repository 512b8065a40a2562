"""Writes MATLAB's formats -v6 and -v7: the twin's arrays with other numbers, all of class double."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator, Sequence

from domain.shape.matlab_tree import Flags, Node, Numbers, Struct, Text, Variable
from formats.matlab5_numbers import (
    CELL,
    CHAR,
    CLASSES,
    COMPRESSED,
    DOUBLE,
    INT8,
    INT32,
    LOGICAL,
    MATRIX,
    STRUCT,
    UINT8,
    UINT32,
    UTF8,
    UTF16,
    VERSION,
)

# no date: the same numbers give the same file
HEADER = b"MATLAB 5.0 MAT-file, written by dpgate".ljust(116) + b"\0" * 8
_FIELD_NAME_BYTES = 64
_NUMBERS = {name: number for number, name in CLASSES.items()}


def write(variables: Sequence[Variable], numbers: Iterator[float], *, compressed: bool) -> bytes:
    parts = [HEADER + struct.pack("<H", VERSION) + b"IM"]
    for variable in variables:
        matrix = _matrix(variable.name, variable.value, numbers)
        if compressed:
            packed = zlib.compress(matrix, 6)
            matrix = struct.pack("<II", COMPRESSED, len(packed)) + packed
        parts.append(matrix)
    return b"".join(parts)


def _matrix(name: str, node: Node, numbers: Iterator[float]) -> bytes:
    if isinstance(node, Numbers):
        count = math.prod(node.dims)
        values = struct.pack(f"<{count}d", *(next(numbers) for _ in range(count)))
        kind, body = _NUMBERS["double"], _element(DOUBLE, values)
    elif isinstance(node, Text):
        kind, body = CHAR, _text(node.text)
    elif isinstance(node, Flags):
        kind, body = _NUMBERS["uint8"] | LOGICAL, _element(UINT8, bytes(map(int, node.flags)))
    elif isinstance(node, Struct):
        # a length in short form, which Octave insists on
        width = struct.pack("<HHi", INT32, 4, _FIELD_NAME_BYTES)
        names = b"".join(field.encode().ljust(_FIELD_NAME_BYTES, b"\0") for field in node.fields)
        elements = b"".join(_matrix("", element, numbers) for element in node.elements)
        kind, body = STRUCT, width + _element(INT8, names) + elements
    else:
        kind, body = CELL, b"".join(_matrix("", element, numbers) for element in node.elements)
    head = _element(UINT32, struct.pack("<II", kind, 0))
    head += _element(INT32, struct.pack(f"<{len(node.dims)}i", *node.dims)) + _element(INT8, name.encode())
    return _element(MATRIX, head + body)


def _text(text: str) -> bytes:
    # Octave takes the dimensions of UTF-8 for bytes
    return _element(UTF8, text.encode()) if text.isascii() else _element(UTF16, text.encode("utf-16-le"))


def _element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content + b"\0" * (-len(content) % 8)

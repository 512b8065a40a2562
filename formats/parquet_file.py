"""A small Parquet file of plain columns, for the twin: one row group, no compression, cells may be missing.

The format's own description is public; what stands here is the least of it that every reader takes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "integer", "number"]

MAGIC = b"PAR1"
_TYPES = {"text": 6, "integer": 2, "number": 5}  # BYTE_ARRAY, INT64, DOUBLE
_OPTIONAL, _UTF8, _PLAIN, _RLE, _UNCOMPRESSED = 1, 0, 0, 3, 0
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12


@dataclass(frozen=True)
class ParquetColumn:
    """A column by name: cells are all text, all whole numbers of 64 bits or all floats; None is missing."""

    name: str
    kind: Kind
    cells: Sequence[str | int | float | None]


def write_parquet(columns: Sequence[ParquetColumn]) -> bytes:
    """The file. Equal columns give equal bytes. Raises ValueError unless all have as many cells."""
    rows = len(columns[0].cells)
    if any(len(column.cells) != rows for column in columns):
        raise ValueError("columns of a table have as many cells as each other")
    content, chunks = MAGIC, []
    for column in columns:
        page = _page(column)
        chunks.append(_chunk(column, offset=len(content), size=len(page)))
        content += page
    root = _struct((4, _binary(b"schema")), (5, _i32(len(columns))))
    schema = _list(_STRUCT, [root, *(_schema(column) for column in columns)])
    group = _struct((1, _list(_STRUCT, chunks)), (2, _i64(len(content))), (3, _i64(rows)))
    footer = _struct(
        (1, _i32(1)), (2, schema), (3, _i64(rows)), (4, _list(_STRUCT, [group])), (6, _binary(b"dpgate"))
    )[1]
    return content + footer + struct.pack("<I", len(footer)) + MAGIC


def _page(column: ParquetColumn) -> bytes:
    """One data page with its header: which cells are there, one bit each, then those that are."""
    present = [cell is not None for cell in column.cells]
    bits = b"".join(_byte(present[start : start + 8]) for start in range(0, len(present), 8))
    levels = _varint(len(bits) << 1 | 1) + bits
    body = struct.pack("<I", len(levels)) + levels + _values(column)
    data = _struct((1, _i32(len(present))), (2, _i32(_PLAIN)), (3, _i32(_RLE)), (4, _i32(_RLE)))
    header = _struct((1, _i32(0)), (2, _i32(len(body))), (3, _i32(len(body))), (5, data))
    return header[1] + body


def _values(column: ParquetColumn) -> bytes:
    cells = [cell for cell in column.cells if cell is not None]
    if column.kind == "text":
        texts = [str(cell).encode() for cell in cells]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return struct.pack(f"<{len(cells)}{'q' if column.kind == 'integer' else 'd'}", *cells)


def _byte(bits: Sequence[bool]) -> bytes:
    return bytes([sum(bit << position for position, bit in enumerate(bits))])


def _chunk(column: ParquetColumn, *, offset: int, size: int) -> _Value:
    about = _struct(
        (1, _i32(_TYPES[column.kind])),
        (2, _list(_I32, [_i32(_PLAIN), _i32(_RLE)])),
        (3, _list(_BINARY, [_binary(column.name.encode())])),
        (4, _i32(_UNCOMPRESSED)),
        (5, _i64(len(column.cells))),
        (6, _i64(size)),
        (7, _i64(size)),
        (9, _i64(offset)),
    )
    return _struct((2, _i64(offset)), (3, about))


def _schema(column: ParquetColumn) -> _Value:
    text = [(6, _i32(_UTF8))] if column.kind == "text" else []
    name = _binary(column.name.encode())
    return _struct((1, _i32(_TYPES[column.kind])), (3, _i32(_OPTIONAL)), (4, name), *text)


# --- values of the compact protocol in which the format keeps its descriptions: type and bytes

_Value = tuple[int, bytes]


def _struct(*fields: tuple[int, _Value]) -> _Value:
    content, before = b"", 0
    for number, (kind, value) in fields:
        content += bytes([(number - before) << 4 | kind]) + value
        before = number
    return _STRUCT, content + b"\0"


def _list(kind: int, items: Sequence[_Value]) -> _Value:
    short = len(items) < 15
    header = bytes([(len(items) if short else 15) << 4 | kind]) + (b"" if short else _varint(len(items)))
    return _LIST, header + b"".join(value for _, value in items)


def _i32(number: int) -> _Value:
    return _I32, _varint(number << 1)


def _i64(number: int) -> _Value:
    return _I64, _varint(number << 1)


def _binary(content: bytes) -> _Value:
    return _BINARY, _varint(len(content)) + content


def _varint(number: int) -> bytes:
    found = []
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])

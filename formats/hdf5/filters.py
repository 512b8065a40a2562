"""What was done to a chunk before it was stored, and undoing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.errors import PipelineError
from formats.byte_cursor import ByteCursor
from formats.hdf5.source import Source

DEFLATE, SHUFFLE, CHECKSUM = 1, 2, 3
_MOST_FILTERS = 3
_FIRST_NAMED = 256  # from here on even the short form names its filters


@dataclass(frozen=True)
class Filter:
    kind: int
    parameters: tuple[int, ...]


def read_filters(content: bytes) -> tuple[Filter, ...]:
    """In the order in which they were applied. Raises PipelineError for any but HDF5's own three."""
    cursor = ByteCursor(content)
    version, count = cursor.unsigned(1), cursor.unsigned(1)
    if count > _MOST_FILTERS:  # each is work on the whole chunk
        raise PipelineError("it is compressed in another way than gzip; write it with gzip or without")
    if version == 1:
        cursor.take(6)
    found = []
    for _ in range(count):
        kind = cursor.unsigned(2)
        named = version == 1 or kind >= _FIRST_NAMED
        name = cursor.unsigned(2) if named else 0
        _flags, parameters = cursor.unsigned(2), cursor.unsigned(2)
        cursor.take(name + -name % 8 if version == 1 else name)
        found.append(Filter(kind, tuple(cursor.unsigned(4) for _ in range(parameters))))
        if version == 1 and parameters % 2:
            cursor.take(4)
        if kind not in (DEFLATE, SHUFFLE, CHECKSUM):
            raise PipelineError("it is compressed in another way than gzip; write it with gzip or without")
    return tuple(found)


def undo(source: Source, filters: Sequence[Filter], skipped: int, stored: bytes, *, size: int) -> bytes:
    """The plain chunk of `size` bytes. Bit k of `skipped` says that filter k was left out."""
    content = stored
    for position, one in reversed(list(enumerate(filters))):
        if skipped >> position & 1:
            continue
        if one.kind == DEFLATE:
            content = source.inflate(content, most=size + 4)
        elif one.kind == SHUFFLE:
            content = _unshuffled(content, one.parameters[0] if one.parameters else 1)
        else:
            content = content[:-4]  # of a checksum: what is damaged gives another number, as any bytes may
    if len(content) != size:
        raise PipelineError("a compressed part of it is not of the size that it should have")
    return content


def _unshuffled(content: bytes, width: int) -> bytes:
    """First bytes of all elements, then second bytes, ...: back to element by element."""
    if not 1 <= width <= 8:
        raise PipelineError("a compressed part of it is damaged")
    count = len(content) // width
    out = bytearray(content)
    for place in range(width):
        out[place : count * width : width] = content[place * count : (place + 1) * count]
    return bytes(out)

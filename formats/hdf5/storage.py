"""Where the bytes of an array lie: beside its description, in one piece, or in chunks."""

from __future__ import annotations

import math

import numpy as np

from domain.errors import PipelineError
from formats.byte_cursor import ByteCursor
from formats.hdf5 import group
from formats.hdf5.filters import Filter, undo
from formats.hdf5.messages import MOST_DIMENSIONS
from formats.hdf5.source import Source

COMPACT, CONTIGUOUS, CHUNKED = 0, 1, 2
MOST_CHUNK_BYTES = 4 * 1024 * 1024
MOST_ARRAY_BYTES = 1024 * 1024
_MOST_COPIES = 32 * 1024 * 1024  # bytes of chunks, those beyond the array's edge with them


def read_array(
    source: Source, layout: bytes, filters: tuple[Filter, ...], dims: tuple[int, ...], width: int
) -> bytes:
    """The elements, `width` bytes each, last dimension fastest."""
    size = math.prod(dims) * width
    if size > MOST_ARRAY_BYTES:
        raise PipelineError("it holds an array that is too large")
    cursor = ByteCursor(layout)
    version, kind = cursor.unsigned(1), cursor.unsigned(1)
    if kind > CHUNKED or version not in (3, 4) or (version, kind) == (4, CHUNKED):
        raise PipelineError("it stores an array in a way that is not read; write it with libver='earliest'")
    if size == 0:
        return b""
    if kind == CHUNKED:
        return _chunked(source, cursor, filters, dims, width)
    if kind == COMPACT:
        content = cursor.take(cursor.unsigned(2))
    else:
        content = source.take(cursor.unsigned(8), min(cursor.unsigned(8), size))
    if len(content) < size:
        raise PipelineError("it ends too early, or a length in it is wrong")
    return content[:size]


def _chunked(
    source: Source,
    cursor: ByteCursor,
    filters: tuple[Filter, ...],
    dims: tuple[int, ...],
    width: int,
) -> bytes:
    rank = cursor.unsigned(1) - 1
    tree = cursor.unsigned(8)
    extent = tuple(cursor.unsigned(4) for _ in range(max(0, rank)))
    if not 1 <= rank <= MOST_DIMENSIONS or rank != len(dims) or cursor.unsigned(4) != width:
        raise PipelineError("the chunks of an array are not those of the array")
    size = _chunk_size(extent, width)
    element = np.dtype((np.void, width))
    array = np.zeros(dims, element)
    missing = math.prod(-(-whole // part) for whole, part in zip(dims, extent, strict=True))
    if missing * size > _MOST_COPIES:
        raise PipelineError("the chunks of an array are much larger than the array")
    met = set()
    for start, skipped, at, stored in _chunks(source, tree, rank):
        if start in met or not _lies_on_grid(start, extent, dims):
            raise PipelineError("the chunks of an array are not those of the array")
        met.add(start)
        content = undo(source, filters, skipped, source.take(at, stored), size=size)
        chunk = np.frombuffer(content, element).reshape(extent)
        kept = tuple(slice(0, whole - first) for whole, first in zip(dims, start, strict=True))
        target = tuple(slice(first, first + part) for first, part in zip(start, extent, strict=True))
        array[target] = chunk[kept]
    if len(met) != missing:
        raise PipelineError("it holds an array or group that was created but never written")
    return array.tobytes()


def _chunk_size(extent: tuple[int, ...], width: int) -> int:
    size = math.prod(extent) * width
    if not 0 < size <= MOST_CHUNK_BYTES:
        raise PipelineError("the chunks of an array are empty or too large")
    return size


def _lies_on_grid(start: tuple[int, ...], extent: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    return all(
        first < whole and first % part == 0 for first, part, whole in zip(start, extent, dims, strict=True)
    )


def _chunks(source: Source, tree: int, rank: int) -> list[tuple[tuple[int, ...], int, int, int]]:
    """Of each chunk: its first element, the filters left out, its address, the bytes stored."""
    found = []
    for key, at in group.leaves(source, tree, group.CHUNKS, key_bytes=8 + 8 * (rank + 1)):
        stored, skipped = key.unsigned(4), key.unsigned(4)
        found.append((tuple(key.unsigned(8) for _ in range(rank)), skipped, at, stored))
    return found

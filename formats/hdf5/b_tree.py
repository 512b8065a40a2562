"""B-trees of version 1: how HDF5 finds the members of a group, and the chunks of an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from domain.errors import PipelineError
from formats.byte_cursor import ByteCursor
from formats.hdf5.source import Source

Kind = Literal[0, 1]
MEMBERS: Kind = 0
CHUNKS: Kind = 1
_HIGHEST = 256
_MOST_ENTRIES = 4096  # of one node


def leaves(source: Source, tree: int, kind: Kind, *, key_bytes: int) -> Iterator[tuple[ByteCursor, int]]:
    """The key and the address of everything that the tree leads to.

    A node leads to lower ones only, so a tree that leads back to itself is refused.
    """
    nodes = [(tree, _HIGHEST)]
    while nodes:
        address, above = nodes.pop()
        start = source.at(address, 24)
        start.expect(b"TREE" + bytes([kind]))
        level, count = start.unsigned(1), start.unsigned(2)
        if level >= above or count > _MOST_ENTRIES:
            raise PipelineError("a group or an array of it is damaged")
        entries = source.at(address + 24, (key_bytes + 8) * count)
        for _ in range(count):
            key, child = entries.take(key_bytes), entries.unsigned(8)
            if level:
                nodes.append((child, level))
            else:
                yield ByteCursor(key), child

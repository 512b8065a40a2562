"""The names in a group and the addresses of what they name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from domain.errors import PipelineError
from formats.byte_cursor import ByteCursor
from formats.hdf5.header import LINK, LINK_INFO, SYMBOL_TABLE, Message
from formats.hdf5.messages import check_no_dense_links, read_link
from formats.hdf5.source import Source

MOST_LINKS = 10_000
_SYMBOLIC = 2


def is_group(messages: list[Message]) -> bool:
    return any(message.kind in (SYMBOL_TABLE, LINK_INFO, LINK) for message in messages)


def read_links(source: Source, messages: list[Message]) -> dict[str, int]:
    """The address of each member by its name, in the order of the names."""
    links: list[tuple[bytes, int]] = []
    for message in messages:
        if message.kind == SYMBOL_TABLE:
            cursor = ByteCursor(message.content)
            links += _by_symbol_table(source, tree=cursor.unsigned(8), heap=cursor.unsigned(8))
        elif message.kind == LINK_INFO:
            check_no_dense_links(message.content)
        elif message.kind == LINK:
            links.append(read_link(message.content))
    try:
        named = {name.decode(): address for name, address in links}
    except UnicodeDecodeError:
        raise PipelineError("it holds a name that is not UTF-8") from None
    if len(named) != len(links):
        raise PipelineError("it holds two members of one name")
    return dict(sorted(named.items()))


def _by_symbol_table(source: Source, *, tree: int, heap: int) -> list[tuple[bytes, int]]:
    names = _heap(source, heap)
    links: list[tuple[bytes, int]] = []
    for _, node in leaves(source, tree, MEMBERS, key_bytes=8):
        links += _leaf(source, node, names)
        if len(links) > MOST_LINKS:
            raise PipelineError("a group of it has too many members")
    return links


def _leaf(source: Source, address: int, names: bytes) -> list[tuple[bytes, int]]:
    start = source.at(address, 8)
    start.expect(b"SNOD\x01\0")
    count = start.unsigned(2)
    cursor, links = source.at(address + 8, 40 * count), []
    for _ in range(count):
        name, header, cached = cursor.unsigned(8), cursor.unsigned(8), cursor.unsigned(4)
        cursor.take(20)
        if cached == _SYMBOLIC:
            raise PipelineError("it holds a link to another place or file; write the content itself")
        end = names.find(b"\0", name)
        if not 0 <= name < end:
            raise PipelineError("a group of it is damaged")
        links.append((names[name:end], header))
    return links


def _heap(source: Source, address: int) -> bytes:
    start = source.at(address, 32)
    start.expect(b"HEAP\0")
    start.take(3)
    size, _free, content = start.unsigned(8), start.unsigned(8), start.unsigned(8)
    return source.take(content, size)


# B-trees of version 1: how HDF5 finds the members of a group, and the chunks of an array.

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

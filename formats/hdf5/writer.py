"""Writes HDF5 files of the oldest form, which every program reads: plain arrays, groups, attributes.

From trusted content only. The same content gives the same bytes: no times are written.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Literal

Element = Literal["float64", "uint8", "uint16", "uint64", "reference"]
Attributes = Mapping[str, bytes | int]
_UNDEFINED = 2**64 - 1
_SUPERBLOCK = 96
_LEAF = 8  # names of one leaf: twice the K of the superblock
_INTEGER, _FLOAT, _STRING, _REFERENCE = 0x10, 0x11, 0x13, 0x17  # class, of the first version
_IEEE_DOUBLE = (0x20, 63, struct.pack("<HHBBBBI", 0, 64, 52, 11, 0, 52, 1023))
_SIGNED = 0x08


class Writer:
    """Members first: a group is added when the addresses of all its members are known."""

    def __init__(self, *, largest_group: int) -> None:
        self._parts: list[bytes] = []
        self._end = _SUPERBLOCK
        # children of one node, twice the K of the superblock: one node is enough for any group
        self._children = 2 * math.ceil(max(1, largest_group) / _LEAF / 2)

    def dataset(self, dims: tuple[int, ...], element: Element, content: bytes, attributes: Attributes) -> int:
        """Add an array, last dimension fastest and not empty; its address."""
        at = self._add(content)
        layout = struct.pack("<BBQQ", 3, 1, at, len(content))
        messages = [(0x01, _dataspace(dims)), (0x03, _datatype(element)), (0x08, layout)]
        return self._header([*messages, *_attributes(attributes)])

    def group(self, members: Mapping[str, int], attributes: Attributes) -> int:
        """Add a group of what was added before; its address."""
        names = sorted(name.encode() for name in members)
        addresses = {name.encode(): address for name, address in members.items()}
        heap, places = b"\0" * 8, {}
        for name in names:
            places[name] = len(heap)
            heap += name + b"\0" * (8 - len(name) % 8)
        segment = self._add(heap)
        # no free space: 1 stands for none
        heap_at = self._add(b"HEAP" + struct.pack("<B3xQQQ", 0, len(heap), 1, segment))
        tree, keys = [], [0]
        for start in range(0, len(names), _LEAF):
            leaf = names[start : start + _LEAF]
            tree.append(self._leaf([(places[name], addresses[name]) for name in leaf]))
            keys.append(places[leaf[-1]])
        tree_at = self._tree(tree, keys)
        return self._header([(0x11, struct.pack("<QQ", tree_at, heap_at)), *_attributes(attributes)])

    def finish(self, root: int, *, base: int) -> bytes:
        """The whole file but what stands before `base`, the place where the superblock will lie."""
        head = b"\x89HDF\r\n\x1a\n" + struct.pack("<8B", 0, 0, 0, 0, 0, 8, 8, 0)
        head += struct.pack("<HHI", _LEAF // 2, self._children // 2, 0)
        head += struct.pack("<QQQQ", base, _UNDEFINED, base + self._end, _UNDEFINED)
        head += struct.pack("<QQII16x", 0, root, 0, 0)
        return head + b"".join(self._parts)

    def _leaf(self, entries: list[tuple[int, int]]) -> int:
        packed = b"".join(struct.pack("<QQII16x", name, address, 0, 0) for name, address in entries)
        return self._add(b"SNOD" + struct.pack("<BxH", 1, len(entries)) + packed.ljust(_LEAF * 40, b"\0"))

    def _tree(self, children: list[int], keys: list[int]) -> int:
        node = b"TREE" + struct.pack("<BBHQQ", 0, 0, len(children), _UNDEFINED, _UNDEFINED)
        for key, child in zip(keys, children, strict=False):
            node += struct.pack("<QQ", key, child)
        node += struct.pack("<Q", keys[-1])
        return self._add(node.ljust(24 + 8 * (2 * self._children + 1), b"\0"))

    def _header(self, messages: list[tuple[int, bytes]]) -> int:
        body = b""
        for kind, content in messages:
            padded = _padded(content)
            body += struct.pack("<HHB3x", kind, len(padded), 0) + padded
        return self._add(struct.pack("<BxHII4x", 1, len(messages), 1, len(body)) + body)

    def _add(self, content: bytes) -> int:
        at, padded = self._end, _padded(content)
        self._parts.append(padded)
        self._end += len(padded)
        return at


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 8)


def _dataspace(dims: tuple[int, ...]) -> bytes:
    return struct.pack(f"<BBB5x{len(dims)}Q", 1, len(dims), 0, *dims)


def _datatype(element: Element) -> bytes:
    if element == "float64":
        low, sign, properties = _IEEE_DOUBLE
        return struct.pack("<BBBBI", _FLOAT, low, sign, 0, 8) + properties
    if element == "reference":
        return struct.pack("<BBBBI", _REFERENCE, 0, 0, 0, 8)
    return _integer(int(element.removeprefix("uint")), signed=False)


def _integer(bits: int, *, signed: bool) -> bytes:
    return struct.pack("<BBBBIHH", _INTEGER, _SIGNED if signed else 0, 0, 0, bits // 8, 0, bits)


def _attributes(attributes: Attributes) -> list[tuple[int, bytes]]:
    return [(0x0C, _attribute(name.encode() + b"\0", value)) for name, value in attributes.items()]


def _attribute(name: bytes, value: bytes | int) -> bytes:
    if isinstance(value, bytes):
        datatype, content = struct.pack("<BBBBI", _STRING, 0, 0, 0, len(value)), value
    else:
        datatype, content = _integer(32, signed=True), struct.pack("<i", value)
    space = _dataspace(())
    head = struct.pack("<BxHHH", 1, len(name), len(datatype), len(space))
    return head + _padded(name) + _padded(datatype) + _padded(space) + content

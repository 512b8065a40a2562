"""MATLAB's format -v7.3: HDF5 behind a block of 512 bytes, with MATLAB's own names for what an array is.

Arrays lie there with their dimensions reversed, so their elements still come column by column. The elements
of cells and of arrays of structs are references to arrays in a group `#refs#`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence

from domain.errors import PipelineError
from domain.shape.matlab_reading import Parsed, Reading, array, flags_of, text_of
from domain.shape.matlab_tree import (
    Cell,
    Flags,
    Node,
    Numbers,
    Struct,
    Text,
    Variable,
    children,
)
from formats.hdf5 import SIGNATURE, Attributes, Dataset, Group, Writer, open_file

USER_BLOCK_BYTES = 512
VERSION = 0x0200
CLASS, EMPTY, DECODE = "MATLAB_class", "MATLAB_empty", "MATLAB_int_decode"
_REFS, _SUBSYSTEM = "#refs#", "#subsystem#"
_MOST_EXTENTS = 32
_HEADER = (
    b"MATLAB 7.3 MAT-file, written by dpgate".ljust(116) + b"\0" * 8 + struct.pack("<H", VERSION) + b"IM"
)


def is_version_73(content: bytes) -> bool:
    return content[USER_BLOCK_BYTES : USER_BLOCK_BYTES + len(SIGNATURE)] == SIGNATURE


def read(content: bytes) -> Parsed:
    """Raises PipelineError for any other file, and for classes that hold no plain numbers."""
    root, reading = open_file(content[USER_BLOCK_BYTES:]), Reading()
    if _SUBSYSTEM in root.links:
        raise PipelineError("it holds an object, string or table of a newer class; write plain numbers")
    variables: list[Variable] = [
        array(Variable, name=name, value=_node(root.member(name), reading, depth=1))
        for name in root.links
        if name != _REFS
    ]
    return reading.finish("7.3", variables)


def _node(found: Group | Dataset, reading: Reading, depth: int) -> Node:
    attributes = found.attributes
    if "MATLAB_sparse" in attributes:
        raise PipelineError("it holds a sparse array; write full(...)")
    if "MATLAB_object_decode" in attributes or "MATLAB_function_handle" in attributes:
        raise PipelineError("it holds an object or a function handle; write its values as numbers")
    kind = attributes.get(CLASS)
    if not isinstance(kind, bytes):
        raise PipelineError("it holds an array without the attribute MATLAB_class; write it as MATLAB does")
    name = kind.decode("ascii", errors="replace")
    if isinstance(found, Group):
        return _struct(found, name, reading, depth)
    if attributes.get(EMPTY):
        return _empty(found, name, reading, depth)
    return _array(found, name, reading, depth)


def _array(found: Dataset, name: str, reading: Reading, depth: int) -> Node:
    dims = found.dims[::-1]
    count = reading.enter(dims, depth)
    if found.element.kind == "other":
        raise PipelineError(
            "it holds complex numbers, or records; write real(...) and imag(...) as two arrays"
        )
    if name == "cell":
        elements = tuple(_node(found.target(at), reading, depth + 1) for at in _references(found))
        return array(Cell, dims=dims, elements=elements)
    if found.element.kind not in ("integer", "float"):
        raise PipelineError("it holds an array of an unknown class")
    if name == "char":
        return text_of(dims, found.elements())
    if name == "logical":
        return flags_of(dims, found.elements())
    reading.check_room(count)
    return reading.add(name, dims, found.elements())


def _empty(found: Dataset, name: str, reading: Reading, depth: int) -> Node:
    """An array without elements is written as its dimensions."""
    if found.element.kind != "integer" or not 2 <= math.prod(found.dims) <= _MOST_EXTENTS:
        raise PipelineError("it holds an array of impossible dimensions")
    dims = [int(extent) for extent in found.elements()]
    if reading.enter(dims, depth):
        raise PipelineError("it holds an array with more or fewer elements than its dimensions say")
    if name == "char":
        return text_of(dims, ())
    if name == "logical":
        return flags_of(dims, ())
    if name == "cell":
        return array(Cell, dims=dims, elements=())
    if name == "struct":
        return array(Struct, dims=dims, fields=(), elements=())
    return reading.add("double" if name == "canonical empty" else name, dims, ())


def _struct(group: Group, name: str, reading: Reading, depth: int) -> Node:
    if name != "struct":
        raise PipelineError("it holds an object or an array of an unknown class; write its values as numbers")
    reading.spend(len(group.links))
    members = {field: group.member(field) for field in group.links}
    if any(_holds_references(member) for member in members.values()):
        return _structs(members, reading, depth)
    reading.enter((1, 1), depth)
    elements = tuple(_node(member, reading, depth + 1) for member in members.values())
    return array(Struct, dims=(1, 1), fields=tuple(members), elements=elements)


def _structs(members: Mapping[str, Group | Dataset], reading: Reading, depth: int) -> Node:
    """An array of structs: each field is an array of references, one for each element."""
    columns, dims = [], set()
    for member in members.values():
        if not isinstance(member, Dataset) or not _holds_references(member):
            raise PipelineError("it holds an array of structs whose fields do not belong together")
        dims.add(member.dims[::-1])
        columns.append(member)
    if len(dims) != 1:
        raise PipelineError("it holds an array of structs whose fields do not belong together")
    own = dims.pop()
    count = reading.enter(own, depth)
    targets = [_references(column) for column in columns]
    elements = tuple(
        _node(column.target(addresses[position]), reading, depth + 1)
        for position in range(count)
        for column, addresses in zip(columns, targets, strict=True)
    )
    return array(Struct, dims=own, fields=tuple(members), elements=elements)


def _holds_references(member: Group | Dataset) -> bool:
    return (
        isinstance(member, Dataset) and member.element.kind == "reference" and CLASS not in member.attributes
    )


def _references(found: Dataset) -> list[int]:
    if found.element.kind != "reference":
        raise PipelineError("it holds a cell whose elements are no arrays")
    return [int(address) for address in found.elements()]


def write(variables: Sequence[Variable], numbers: Iterator[float]) -> bytes:
    """The same arrays with these numbers, all of class double."""
    writing = _Writing(variables, numbers)
    return _HEADER.ljust(USER_BLOCK_BYTES, b"\0") + writing.finish()


class _Writing:
    """Members come before what holds them, and what a reference names lies in one group."""

    def __init__(self, variables: Sequence[Variable], numbers: Iterator[float]) -> None:
        self._writer = Writer(largest_group=_largest_group(variables))
        self._numbers = numbers
        self._named: dict[str, int] = {}
        self._root = {variable.name: self._add(variable.value) for variable in variables}

    def finish(self) -> bytes:
        members = dict(self._root)
        if self._named:
            members[_REFS] = self._writer.group(self._named, {})
        return self._writer.finish(self._writer.group(members, {}), base=USER_BLOCK_BYTES)

    def _add(self, node: Node) -> int:
        if math.prod(node.dims) == 0:
            extents = struct.pack(f"<{len(node.dims)}Q", *node.dims)
            return self._writer.dataset((len(node.dims),), "uint64", extents, {**_class_of(node), EMPTY: 1})
        dims, attributes = node.dims[::-1], _class_of(node)
        if isinstance(node, Numbers):
            count = math.prod(dims)
            content = struct.pack(f"<{count}d", *(next(self._numbers) for _ in range(count)))
            return self._writer.dataset(dims, "float64", content, attributes)
        if isinstance(node, Text):
            return self._writer.dataset(dims, "uint16", node.text.encode("utf-16-le"), attributes)
        if isinstance(node, Flags):
            return self._writer.dataset(dims, "uint8", bytes(map(int, node.flags)), attributes)
        added = [self._add(element) for element in node.elements]
        if isinstance(node, Cell):
            return self._refer(dims, added, attributes)
        if math.prod(dims) == 1:
            return self._writer.group(dict(zip(node.fields, added, strict=True)), attributes)
        width = len(node.fields)
        members = {
            field: self._refer(dims, added[place::width], {}) for place, field in enumerate(node.fields)
        }
        return self._writer.group(members, attributes)

    def _refer(self, dims: tuple[int, ...], addresses: list[int], attributes: Attributes) -> int:
        for address in addresses:
            self._named[f"r{len(self._named) + 1}"] = address
        content = struct.pack(f"<{len(addresses)}Q", *addresses)
        return self._writer.dataset(dims, "reference", content, attributes)


def _class_of(node: Node) -> Attributes:
    if isinstance(node, Numbers):
        return {CLASS: b"double"}
    if isinstance(node, Text):
        return {CLASS: b"char", DECODE: 2}
    if isinstance(node, Flags):
        return {CLASS: b"logical", DECODE: 1}
    return {CLASS: node.kind.encode()}


def _largest_group(variables: Sequence[Variable]) -> int:
    def arrays(node: Node) -> int:
        return 1 + sum(map(arrays, children(node)))

    return len(variables) + sum(arrays(variable.value) for variable in variables)

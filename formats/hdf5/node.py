"""Groups and arrays of an HDF5 file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from domain.errors import PipelineError
from formats.hdf5 import header
from formats.hdf5.filters import read_filters
from formats.hdf5.group import is_group, read_links
from formats.hdf5.header import Message, read_header
from formats.hdf5.messages import (
    ElementType,
    check_no_dense_attributes,
    read_attribute,
    read_dataspace,
    read_datatype,
)
from formats.hdf5.source import Source
from formats.hdf5.storage import read_array

SIGNATURE = b"\x89HDF\r\n\x1a\n"
Attribute = bytes | int | None
"""Text, a whole number, or something else, of which nothing is read."""
_CODES = {"integer": "u", "float": "f", "reference": "u"}


@dataclass(frozen=True)
class Group:
    source: Source
    attributes: dict[str, Attribute]
    links: dict[str, int]  # addresses by name, in the names' order

    def member(self, name: str) -> Group | Dataset:
        return read_node(self.source, self.links[name])


@dataclass(frozen=True)
class Dataset:
    """An array; its elements are read when asked for."""

    source: Source
    attributes: dict[str, Attribute]
    dims: tuple[int, ...]  # last dimension fastest
    element: ElementType
    messages: tuple[Message, ...]

    def elements(self) -> list[int | float]:
        """Of integers, floating-point numbers, or references, which are object addresses."""
        code = (
            "i" if self.element.kind == "integer" and self.element.signed else _CODES.get(self.element.kind)
        )
        if code is None:
            raise PipelineError(f"it holds an array whose elements are {self.element.name or 'text'}")
        order = "<" if self.element.order == "little" else ">"
        found: list[int | float] = np.frombuffer(
            _content(self.source, self.messages, self.dims, self.element.size),
            f"{order}{code}{self.element.size}",
        ).tolist()
        return found

    def target(self, address: int) -> Group | Dataset:
        """What a reference refers to."""
        return read_node(self.source, address)


def open_file(content: bytes) -> Group:
    """The root group; `content` starts with the superblock. Raises PipelineError for what is not read."""
    source = Source(content)
    cursor = source.from_here(0, 96)
    cursor.expect(SIGNATURE)
    version = cursor.unsigned(1)
    if version in (0, 1):
        cursor.take(4)
        widths = (cursor.unsigned(1), cursor.unsigned(1))
        cursor.take(9 if version == 0 else 13)
        cursor.take(4 * 8 + 8)  # four addresses of the file, then the name of the root's entry
    elif version in (2, 3):
        widths = (cursor.unsigned(1), cursor.unsigned(1))
        cursor.take(1 + 3 * 8)
    else:
        raise PipelineError("it is of a version of HDF5 that is not read")
    if widths != (8, 8):
        raise PipelineError("it uses addresses of another width than 8 bytes")
    root = read_node(source, cursor.unsigned(8))
    if not isinstance(root, Group):
        raise PipelineError("it is damaged: its root is no group")
    return root


def read_node(source: Source, address: int) -> Group | Dataset:
    messages = read_header(source, address)
    by_kind = {message.kind: message.content for message in messages}
    attributes = _attributes(messages)
    if is_group(messages):
        return Group(source, attributes, read_links(source, messages))
    if header.EXTERNAL_FILES in by_kind:
        raise PipelineError("it keeps an array in another file; write the content itself")
    try:
        dims, element = read_dataspace(by_kind[header.DATASPACE]), read_datatype(by_kind[header.DATATYPE])
    except KeyError:
        raise PipelineError("it holds something that is neither a group nor an array") from None
    return Dataset(source, attributes, dims, element, tuple(messages))


def _attributes(messages: list[Message]) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    for message in messages:
        if message.kind == header.ATTRIBUTE_INFO:
            check_no_dense_attributes(message.content)
        elif message.kind == header.ATTRIBUTE:
            name, element, dims, raw = read_attribute(message.content)
            found[name.decode(errors="replace")] = _value(element, dims, raw)
    return found


def _value(element: ElementType, dims: tuple[int, ...], raw: bytes) -> Attribute:
    if any(extent != 1 for extent in dims):
        return None
    if element.kind == "string":
        return raw[: element.size].rstrip(b"\0 ")
    if element.kind == "integer":
        return int.from_bytes(raw[: element.size], element.order, signed=element.signed)
    return None


def _content(source: Source, messages: tuple[Message, ...], dims: tuple[int, ...], width: int) -> bytes:
    by_kind = {message.kind: message.content for message in messages}
    if header.LAYOUT not in by_kind:
        raise PipelineError("it holds something that is neither a group nor an array")
    filters = read_filters(by_kind[header.FILTERS]) if header.FILTERS in by_kind else ()
    return read_array(source, by_kind[header.LAYOUT], filters, dims, width)


__all__ = ["SIGNATURE", "Attribute", "Dataset", "Group", "open_file", "read_node"]

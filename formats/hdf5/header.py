"""Object headers, both forms: the list of messages that describe one group or array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from domain.errors import PipelineError
from formats.byte_cursor import ByteCursor
from formats.hdf5.source import Source

NIL, DATASPACE, LINK_INFO, DATATYPE, LINK = 0x00, 0x01, 0x02, 0x03, 0x06
EXTERNAL_FILES, LAYOUT, FILTERS, ATTRIBUTE = 0x07, 0x08, 0x0B, 0x0C
CONTINUATION, SYMBOL_TABLE, ATTRIBUTE_INFO = 0x10, 0x11, 0x15
_READ = (DATASPACE, LINK_INFO, DATATYPE, LINK, EXTERNAL_FILES, LAYOUT, FILTERS, ATTRIBUTE, SYMBOL_TABLE)
_SHARED = 0x02
MOST_MESSAGES = 10_000
_CHECKSUM = 4


@dataclass(frozen=True)
class Message:
    kind: int
    content: bytes


def read_header(source: Source, address: int) -> list[Message]:
    """All messages of the object at this address that say anything to a reader."""
    if source.take(address, 4) == b"OHDR":
        found = _second_form(source, address)
    else:
        found = _first_form(source, address)
    messages: list[Message] = []
    for flags, message in found:
        if message.kind == NIL:
            continue
        if flags & _SHARED and message.kind in _READ:
            raise PipelineError("it shares descriptions between arrays; write each array on its own")
        messages.append(message)
        if len(messages) > MOST_MESSAGES:
            raise PipelineError("it holds an object with too many attributes or links")
    return messages


def _first_form(source: Source, address: int) -> Iterator[tuple[int, Message]]:
    start = source.at(address, 16)
    version, _, _count = start.unsigned(1), start.take(1), start.unsigned(2)
    if version != 1:
        raise PipelineError("it holds an object of an unknown kind")
    _references, size = start.unsigned(4), start.unsigned(4)
    blocks = [(address + 16, size)]
    while blocks:
        cursor = source.at(*blocks.pop())
        while cursor.left >= 8:
            source.meet_message()
            kind, size, flags = cursor.unsigned(2), cursor.unsigned(2), cursor.unsigned(1)
            cursor.take(3)
            message = Message(kind, cursor.take(size))
            if kind == CONTINUATION:
                blocks.append(_continuation(message))
            yield flags, message


def _second_form(source: Source, address: int) -> Iterator[tuple[int, Message]]:
    start = source.from_here(address, 64)
    start.expect(b"OHDR\x02")
    flags = start.unsigned(1)
    start.take((16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0))
    size = start.unsigned(1 << (flags & 0x03))
    blocks = [source.at(address + start.position, size)]
    while blocks:
        cursor = blocks.pop()
        yield from _messages_of_second_form(source, cursor, blocks, ordered=bool(flags & 0x04))


def _messages_of_second_form(
    source: Source, cursor: ByteCursor, blocks: list[ByteCursor], *, ordered: bool
) -> Iterator[tuple[int, Message]]:
    while cursor.left >= (6 if ordered else 4):  # fewer are a gap
        source.meet_message()
        kind, size, flags = cursor.unsigned(1), cursor.unsigned(2), cursor.unsigned(1)
        cursor.take(2 if ordered else 0)
        message = Message(kind, cursor.take(size))
        if kind == CONTINUATION:
            at, length = _continuation(message)
            block = source.at(at, max(0, length - _CHECKSUM))
            block.expect(b"OCHK")
            blocks.append(block)
        yield flags, message


def _continuation(message: Message) -> tuple[int, int]:
    cursor = ByteCursor(message.content)
    return cursor.unsigned(8), cursor.unsigned(8)

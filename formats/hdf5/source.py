"""The bytes of one HDF5 file, and how much work they may still cause."""

from __future__ import annotations

import zlib

from domain.errors import PipelineError
from formats.byte_cursor import ByteCursor

UNDEFINED = 2**64 - 1
"""The address of what does not exist."""
MOST_READS = 40_000
MOST_BYTES = 64 * 1024 * 1024
MOST_DESCRIPTION_BYTES = 4 * 1024 * 1024
"""Of headers and tables, which are read entry by entry."""
MOST_MESSAGES = 100_000
"""Of all headers together: even one that says nothing takes its time."""


class Source:
    """Addresses count from the first byte of `content`, which is the superblock's.

    Structures may point at each other in circles: the limits over all reads end that.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._reads, self._bytes, self._described = MOST_READS, MOST_BYTES, MOST_DESCRIPTION_BYTES
        self._messages = MOST_MESSAGES

    def take(self, address: int, count: int) -> bytes:
        if address == UNDEFINED:
            raise PipelineError("it holds an array or group that was created but never written")
        if not 0 <= address <= len(self._content) or not 0 <= count <= len(self._content) - address:
            raise PipelineError("it ends too early, or an address in it is wrong")
        self._spend(count)
        return self._content[address : address + count]

    def at(self, address: int, count: int) -> ByteCursor:
        self._described -= count
        return ByteCursor(self.take(address, count))

    def from_here(self, address: int, most: int) -> ByteCursor:
        """Up to `most` bytes: fewer where the file ends before."""
        return self.at(address, max(0, min(most, len(self._content) - address)))

    def meet_message(self) -> None:
        """Called for each, before it is read."""
        self._messages -= 1
        if self._messages < 0:
            raise PipelineError("its parts point at each other too often to be read")

    def inflate(self, packed: bytes, *, most: int) -> bytes:
        """What zlib packed; at most `most` bytes come out, or it is refused."""
        unpacking = zlib.decompressobj()
        try:
            content = unpacking.decompress(packed, most + 1)
        except zlib.error:
            raise PipelineError("a compressed part of it is damaged") from None
        if len(content) > most or not unpacking.eof:
            raise PipelineError("a compressed part of it is not of the size that it should have")
        self._spend(len(content))
        return content

    def _spend(self, count: int) -> None:
        self._reads -= 1
        self._bytes -= count
        if self._reads < 0 or self._bytes < 0 or self._described < 0:
            raise PipelineError("its parts point at each other too often to be read")

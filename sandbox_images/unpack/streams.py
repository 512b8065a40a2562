"""Bytes in order: a stretch of a file, its inflated form, its hash. Nothing holds more than a piece of it."""

import hashlib
import os
import zlib
from typing import Protocol

from .refusal import Refused

PIECE = 256 * 1024


class Source(Protocol):
    def read(self, most: int) -> bytes:
        """At least one byte and at most so many; empty only at the end."""
        ...


class Budget:
    """An amount that may be spent once, by however many readers."""

    def __init__(self, amount: int, what: str) -> None:
        self._amount, self._left, self._what = amount, amount, what

    def spend(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise Refused(f"the archive holds more than {self._amount} {self._what}")


class Stretch:
    """Part of a file that others read too: by offset, so that no position is shared."""

    def __init__(self, fd: int, offset: int, size: int) -> None:
        self._fd, self._position, self._end = fd, offset, offset + size

    def read(self, most: int) -> bytes:
        piece = os.pread(self._fd, min(most, self._end - self._position), self._position)
        self._position += len(piece)
        return piece

    @property
    def position(self) -> int:
        return self._position

    def skip(self, amount: int) -> None:
        if amount > self._end - self._position:
            raise Refused("the archive is cut short")
        self._position += amount


class Gunzipped:
    """All members of a gzip stream, one after the other, as the container tools read it."""

    def __init__(self, source: Source) -> None:
        self._source, self._held = source, b""
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def read(self, most: int) -> bytes:
        while True:
            if not self._held:
                self._held = self._source.read(PIECE)
            if self._member.eof:
                if not self._held:
                    return b""
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                piece = self._member.decompress(self._held, most)
            except zlib.error as error:
                raise Refused(f"compressed data are broken: {error}") from error
            ended = not self._held
            self._held = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            if piece:
                return piece
            if ended and not self._member.eof:
                raise Refused("compressed data are cut short")


class Hashed:
    """Knows the SHA-256 of what it has handed on, and makes everybody's budget pay for it."""

    def __init__(self, source: Source, budget: Budget | None = None) -> None:
        self._source, self._budget, self._total = source, budget, hashlib.sha256()

    def read(self, most: int) -> bytes:
        piece = self._source.read(most)
        if self._budget is not None:
            self._budget.spend(len(piece))
        self._total.update(piece)
        return piece

    def digest(self) -> str:
        """Of everything: reads what is left."""
        while self.read(PIECE):
            pass
        return f"sha256:{self._total.hexdigest()}"


def read_exactly(source: Source, size: int) -> bytes:
    pieces = []
    while size:
        piece = source.read(min(size, PIECE))
        if not piece:
            raise Refused("the archive is cut short")
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def discard(source: Source, size: int) -> None:
    if isinstance(source, Stretch):
        source.skip(size)
        return
    while size:
        size -= len(read_exactly(source, min(size, PIECE)))

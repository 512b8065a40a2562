"""A sealed file, read as if it were plain: chunks are opened in memory, and nothing plain touches a disk."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import BinaryIO

from store.sealing import CHUNK, OpenedChunks


class _Plain(io.RawIOBase):
    """Seekable and read-only, of a known size."""

    size: int

    def __init__(self) -> None:
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        self._position = max(0, start + offset)
        return self._position


class SealedFile(_Plain):
    """Holds one plain chunk at a time. A chunk opens after those before it."""

    def __init__(self, sealed: BinaryIO, *, key: bytes, context: str) -> None:
        super().__init__()
        self._sealed = sealed
        size = sealed.seek(0, io.SEEK_END)
        self._chunks = OpenedChunks(sealed, size=size, key=key, context=context)
        self._held: tuple[int, bytes] = (-1, b"")
        self.size = self._chunks.plain_size

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Up to the end of a chunk."""
        if self._position >= self.size:
            return 0
        number, start = divmod(self._position, CHUNK)
        if self._held[0] != number:
            self._held = (number, self._chunks[number])
        part = self._held[1][start : start + len(buffer)]
        buffer[: len(part)] = part
        self._position += len(part)
        return len(part)

    def close(self) -> None:
        self._held = (-1, b"")
        self._sealed.close()
        super().close()


class JoinedFile(_Plain):
    """Several sealed files one after the other, of which one is open at a time: each opens by itself."""

    def __init__(self, openers: Sequence[Callable[[], SealedFile]], sizes: Sequence[int]) -> None:
        super().__init__()
        self._openers = openers
        self._starts = [0, *accumulate(sizes)]
        self._held: tuple[int, SealedFile] | None = None
        self.size = self._starts[-1]

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Up to the end of a piece."""
        if self._position >= self.size:
            return 0
        number = bisect_right(self._starts, self._position) - 1
        if self._held is None or self._held[0] != number:
            self._let_go()
            self._held = (number, self._openers[number]())
        piece = self._held[1]
        piece.seek(self._position - self._starts[number])
        size = piece.readinto(buffer)
        self._position += size
        return size

    def _let_go(self) -> None:
        if self._held is not None:
            self._held[1].close()
        self._held = None

    def close(self) -> None:
        self._let_go()
        super().close()

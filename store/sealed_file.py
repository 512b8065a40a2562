"""A sealed file, read as if it were plain: chunks are opened in memory, and nothing plain touches a disk."""

from __future__ import annotations

import io
from typing import BinaryIO

from store.sealing import CHUNK, OpenedChunks


class SealedFile(io.RawIOBase):
    """Seekable, read-only; holds one plain chunk at a time."""

    def __init__(self, sealed: BinaryIO, *, key: bytes, context: str) -> None:
        self._sealed = sealed
        size = sealed.seek(0, io.SEEK_END)
        self._chunks = OpenedChunks(sealed, size=size, key=key, context=context)
        self._held: tuple[int, bytes] = (-1, b"")
        self._position = 0

    @property
    def size(self) -> int:
        """Plain bytes."""
        return self._chunks.plain_size

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

"""Bytes handed to a sandbox by descriptor: no name, no file system, gone with the last who holds them."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from worker.sandbox.protocol import SandboxUnavailable


class memory_file:  # noqa: N801 - reads as a function
    """Bytes as a descriptor, closed at the end."""

    def __init__(self, *pieces: bytes) -> None:
        self._descriptor = -1
        try:
            self._descriptor = os.memfd_create("dpgate", os.MFD_CLOEXEC)
            for piece in pieces:
                view = memoryview(piece)
                while view:
                    view = view[os.write(self._descriptor, view[: 1 << 30]) :]
        except OSError as error:
            if self._descriptor >= 0:
                os.close(self._descriptor)
            raise SandboxUnavailable(f"a block could not be held in memory: {error.strerror}") from error

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


@contextmanager
def packed(files: Mapping[str, bytes]) -> Iterator[int]:
    """Eight bytes of length, JSON [[path, size], ...], the contents without gaps."""
    sizes = json.dumps([[name, len(content)] for name, content in files.items()]).encode()
    with memory_file(len(sizes).to_bytes(8, "big"), sizes, *files.values()) as descriptor:
        yield descriptor

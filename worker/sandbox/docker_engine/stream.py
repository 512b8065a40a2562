"""A container's standard streams, as the daemon sends them: pieces, each behind a header of eight bytes."""

import select
import socket
import time

from worker.sandbox.protocol import KIB, SandboxUnavailable

_HEADER = 8
_STDOUT = 1
_PIECE = 64 * KIB


class Stream:
    """What is written goes to standard input. Use it from one thread; close it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection  # its timeout bounds each wait
        self._pending = b""  # of standard output, read but not asked for yet
        self.complaint = b""  # the end of standard error, where `receive` reads past it
        self._unparsed = bytearray()

    def send(self, message: bytes) -> None:
        try:
            self._connection.sendall(message)
        except OSError as error:
            raise SandboxUnavailable(f"a container's input was closed: {error}") from error

    def receive(self, count: int) -> bytes:
        """Exactly so many bytes of standard output."""
        parts = bytearray()
        while len(parts) < count:
            if not self._pending:
                self._pending = self._next_output()
            taken, self._pending = self._pending[: count - len(parts)], self._pending[count - len(parts) :]
            parts += taken
        return bytes(parts)

    def drain(self, *, until: float, keep: int) -> bytes:
        """Read on until the container ends or the (monotonic) clock says `until`; the last `keep` bytes."""
        tail, poller = bytearray(), select.poll()
        poller.register(self._connection.fileno(), select.POLLIN)
        while (left_s := until - time.monotonic()) > 0 and poller.poll(left_s * 1000):
            piece = self._read(_PIECE)
            if not piece:
                break
            self._unparsed += piece
            tail += self._parsed()
            del tail[:-keep]
        return bytes(tail)

    def close(self) -> None:
        self._connection.close()

    def _next_output(self) -> bytes:
        header = self._read_exactly(_HEADER)
        content = self._read_exactly(int.from_bytes(header[4:], "big"))
        if header[0] == _STDOUT:
            return content
        self.complaint = (self.complaint + content)[-_PIECE:]
        return b""

    def _parsed(self) -> bytes:
        """Content of the pieces that are complete, and of the one that is not; headers are dropped."""
        content = bytearray()
        while len(self._unparsed) >= _HEADER:
            end = _HEADER + int.from_bytes(self._unparsed[4:_HEADER], "big")
            if len(self._unparsed) < end:
                break
            content += self._unparsed[_HEADER:end]
            del self._unparsed[:end]
        return bytes(content)

    def _read_exactly(self, count: int) -> bytes:
        content = bytearray()
        while len(content) < count:
            piece = self._read(count - len(content))
            if not piece:
                raise SandboxUnavailable(
                    f"a container ended too early: {self.complaint.decode(errors='replace')}"
                )
            content += piece
        return bytes(content)

    def _read(self, count: int) -> bytes:
        try:
            return self._connection.recv(count)
        except OSError as error:
            raise SandboxUnavailable(f"a container's output was cut off: {error}") from error

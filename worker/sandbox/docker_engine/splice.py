"""A container's standard streams through the proxy: bytes both ways, until either end is gone."""

import selectors
import socket

_LONGEST_HEAD = 16 * 1024
_PIECE = 64 * 1024


def upgrade(daemon: socket.socket, target: str) -> bytes:
    """Ask for raw streams; what has come of them already. Raises OSError if the daemon does not agree."""
    headers = ("Host: docker", "Connection: Upgrade", "Upgrade: tcp", "Content-Length: 0", "", "")
    daemon.sendall("\r\n".join((f"POST {target} HTTP/1.1", *headers)).encode("ascii"))
    head = b""
    while b"\r\n\r\n" not in head:
        piece = daemon.recv(_PIECE)
        if not piece or len(head) > _LONGEST_HEAD:
            raise OSError("no answer")
        head += piece
    status, _, rest = head.partition(b"\r\n\r\n")
    if not status.startswith(b"HTTP/1.1 101 "):
        raise OSError(status.partition(b"\r\n")[0].decode(errors="replace"))
    return rest


def splice(worker: socket.socket, daemon: socket.socket) -> None:
    """Blocking on purpose: whoever does not read slows the other down."""
    ends = {worker: daemon, daemon: worker}
    with selectors.DefaultSelector() as selector:
        for end in ends:
            selector.register(end, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                source = key.fileobj
                assert isinstance(source, socket.socket)
                try:
                    piece = source.recv(_PIECE)
                    ends[source].sendall(piece)
                except OSError:
                    return
                if not piece:  # either end: a worker that is gone must not keep a container's input open
                    return

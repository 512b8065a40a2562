"""What attacks go for: listeners, a canary file and a socket on this host, and the addresses to find them by.

All of it is open to every user of the host, so that only the sandbox stands between. Used as a context.
"""

import os
import secrets
import socket
import tempfile
from pathlib import Path
from typing import Any, Self

from worker.sandbox.core.scratch import Scratch, remove_tree
from worker.sandbox.core.slot_user import slot_user

OTHER_SLOT = 9_997  # whose block lies around, as that of another slot's run does

_MEMORY = "/dev/shm"  # noqa: S108 - mkdtemp makes a folder of its own


class Targets:
    """Listeners accept by themselves: the kernel completes a connection without our help."""

    def __init__(self, root: Path | None = None) -> None:
        """Below `root`, by default memory that every Linux has."""
        self.folder = Path(tempfile.mkdtemp(prefix="dpgate-battery-", dir=root or _MEMORY))
        self.folder.chmod(0o777)
        self.secret = secrets.token_hex(16)
        self.canary = self.folder / "canary"
        self.canary.write_text(self.secret)
        self.canary.chmod(0o666)
        self._sockets: dict[str, socket.socket] = {}
        self._listen()
        self._scratch = Scratch(self.folder / "scratch", allow_disk_scratch=True)
        self._other = self._scratch.stage({"data.csv": self.secret.encode()}, owner=slot_user(OTHER_SLOT))

    def _listen(self) -> None:
        stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
        self._add("tcp4", socket.AF_INET, stream, ("127.0.0.1", 0))
        self._add("udp4", socket.AF_INET, datagram, ("127.0.0.1", 0))
        if _has_ipv6():
            self._add("tcp6", socket.AF_INET6, stream, ("::1", 0))
        self._add("unix_path", socket.AF_UNIX, stream, str(self.folder / "socket"))
        self._add("unix_abstract", socket.AF_UNIX, stream, f"\0{self.folder.name}")
        (self.folder / "socket").chmod(0o777)

    def _add(self, name: str, family: int, kind: int, address: Any) -> None:
        listener = socket.socket(family, kind)
        listener.bind(address)
        listener.setblocking(False)
        if kind == socket.SOCK_STREAM:
            listener.listen()
        self._sockets[name] = listener

    def facts(self) -> dict[str, Any]:
        """The part of target.json that says where things are."""
        ports = {name: self._sockets[name].getsockname()[1] for name in ("tcp4", "udp4")}
        tcp6 = self._sockets["tcp6"].getsockname()[1] if "tcp6" in self._sockets else 1
        return {
            **ports,
            "tcp6": tcp6,
            "unix_path": str(self.folder / "socket"),
            "unix_abstract": self.folder.name,
            "canary": str(self.canary),
            "folder": str(self.folder),
            "other_block": str(self._other / "data.csv"),
            "secret": self.secret,
        }

    def touched(self) -> str:
        """What the host noticed since the last look; empty: nothing."""
        heard = [name for name, listener in self._sockets.items() if _heard(listener)]
        if heard:
            return f"the host's listener heard something: {', '.join(heard)}"
        if self.canary.read_text() != self.secret:
            self.canary.write_text(self.secret)
            return "the canary file was changed"
        planted = set(os.listdir(self.folder)) - {"canary", "socket", "scratch"}
        for name in planted:
            (self.folder / name).unlink()
        return f"files were planted on the host: {', '.join(sorted(planted))}" if planted else ""

    def close(self) -> None:
        for listener in self._sockets.values():
            listener.close()
        self._scratch.close()
        remove_tree(self.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _heard(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_DGRAM:
            return bool(listener.recv(100))
        caller, _ = listener.accept()
    except BlockingIOError:
        return False
    caller.close()
    return True


def _has_ipv6() -> bool:
    if not socket.has_ipv6:
        return False
    with socket.socket(socket.AF_INET6) as trial:
        try:
            trial.bind(("::1", 0))
        except OSError:
            return False
    return True

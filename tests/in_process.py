"""A case of the quick ring stays in this process: starting another or opening a connection raises.

What raises may be caught by the code that is tested, so each attempt is also kept, and the case fails at its
end. Code in C that calls the system itself is not seen.
"""

from __future__ import annotations

import _posixsubprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_LEAVING = frozenset(
    {
        *("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "pty.spawn"),
        *("socket.connect", "socket.sendto"),
        *("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"),
    }
)
_WITH_ADDRESS = frozenset({"socket.bind", "socket.sendmsg"})
_START = "_posixsubprocess.fork_exec"
_OF_LIBRARIES = (["lscpu", "--parse=core"],)
"""joblib asks once in each process how many processors there are."""


class LeftTheProcess(Exception):
    """What a quick case must not do."""


class _Watch:
    """What is asked of the process while a quick case runs.

    Threads that were there before it are not its own: a server of another test may go on beside it.
    """

    def __init__(self) -> None:
        self.attempts: list[str] = []
        self._others = {thread.ident for thread in threading.enumerate()} - {threading.get_ident()}

    def refuse(self, event: str) -> None:
        if threading.get_ident() not in self._others:
            self.attempts.append(event)
            raise LeftTheProcess(_sentence(event))


_watch: _Watch | None = None


@contextmanager
def staying_in_process() -> Iterator[None]:
    """An audit hook cannot be taken away again, so there is one for all, which listens in here only."""
    global _watch
    _install()
    before, watch = _watch, _Watch()
    _watch = watch
    try:
        yield
    finally:
        _watch = before
        if watch.attempts:
            raise LeftTheProcess(_sentence(", ".join(sorted(set(watch.attempts)))))


def _sentence(event: str) -> str:
    return f"{event} in a case of the quick ring: mark it with pytest.mark.needs(process=True)"


_installed = False


def _install() -> None:
    global _installed
    if not _installed:
        sys.addaudithook(_look)
        _posixsubprocess.fork_exec = _seen(_posixsubprocess.fork_exec)
        _installed = True


def _look(event: str, arguments: tuple[Any, ...]) -> None:
    if _watch is not None and _leaves(event, arguments):
        _watch.refuse(event)


def _leaves(event: str, arguments: tuple[Any, ...]) -> bool:
    if event in _WITH_ADDRESS:
        # without an address it goes over a connection that is open, and a socket bound to a path is a file
        return isinstance(arguments[1], tuple)
    return event in _LEAVING and not (event == "subprocess.Popen" and arguments[1] in _OF_LIBRARIES)


def _seen(start: Any) -> Any:
    """multiprocessing starts its processes by this function, of which the interpreter raises no event."""

    def fork_exec(*arguments: Any) -> Any:
        if _watch is not None:
            _watch.refuse(_START)
        return start(*arguments)

    return fork_exec

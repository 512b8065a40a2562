"""Open names below a folder as if that folder were the root: no link and no `..` leads out of it.

The kernel does it where it has openat2 (Linux 5.6), also against whoever changes the tree meanwhile; else
the same is done step by step with descriptors.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

_SYS_OPENAT2 = 437  # on every architecture
_RESOLVE_NO_MAGICLINKS, _RESOLVE_IN_ROOT = 0x02, 0x10
_MOST_LINKS = 40  # as the kernel has it
_TRIES = 64  # the kernel gives up with EAGAIN when something is renamed while it resolves `..`
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC

Opener = Callable[[int, bytes, int], int]


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_by_kernel(root: int, path: bytes, flags: int) -> int:
    how = _OpenHow(flags | os.O_CLOEXEC, 0, _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS)
    for _ in range(_TRIES):
        size = ctypes.c_size_t(ctypes.sizeof(how))
        found = _libc().syscall(
            ctypes.c_long(_SYS_OPENAT2), ctypes.c_int(root), ctypes.c_char_p(path), ctypes.byref(how), size
        )
        if found >= 0:
            return int(found)
        if ctypes.get_errno() != errno.EAGAIN:
            break
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), path)


def open_by_steps(root: int, path: bytes, flags: int) -> int:
    """The folders on the way are kept open, so that `..` is one of them and never asked of the kernel."""
    way, name, links = [os.dup(root)], b".", 0
    pending = path.split(b"/")[::-1]
    try:
        while pending:
            part = pending.pop()
            if part == b"..":
                _step_back(way)
                name = b"."
            if part in (b"", b".", b".."):
                continue
            found = os.open(part, _LOOK, dir_fd=way[-1])
            kind = os.fstat(found).st_mode
            if stat.S_ISLNK(kind) and (pending or not flags & os.O_NOFOLLOW):
                target = os.readlink(b"", dir_fd=found)
                os.close(found)
                links += 1
                if links > _MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                while target.startswith(b"/") and len(way) > 1:
                    _step_back(way)
                name = b"."
                pending += target.split(b"/")[::-1]
            elif stat.S_ISDIR(kind):
                way.append(found)
                name = b"."
            elif not pending:
                os.close(found)
                name = part
            else:
                os.close(found)
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=way[-1])
    finally:
        for folder in way:
            os.close(folder)


def _step_back(way: list[int]) -> None:
    if len(way) > 1:
        os.close(way.pop())


class Root:
    """A folder as a root. Close it."""

    def __init__(self, folder: Path, opener: Opener | None = None) -> None:
        self._fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._open = opener or _best_opener(self._fd)

    def open(self, path: bytes, flags: int) -> int:
        """A descriptor; raises OSError. Links are followed, also the last unless O_NOFOLLOW is given."""
        return self._open(self._fd, path or b".", flags)

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> "Root":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _best_opener(root: int) -> Opener:
    """Old kernels say ENOSYS, filters of system calls often EPERM."""
    try:
        os.close(open_by_kernel(root, b".", os.O_PATH))
    except OSError:
        return open_by_steps
    return open_by_kernel


_loaded: list[ctypes.CDLL] = []


def _libc() -> ctypes.CDLL:
    if not _loaded:
        _loaded.append(ctypes.CDLL(None, use_errno=True))
    return _loaded[0]

"""What a run uses, seen from outside: resident memory of its processes, and inodes of its writable mounts.

For hosts without a cgroup to put a run in. It looks every 50 ms, so a run can exceed its limit for that
long; the address-space limit of each process bounds by how much. Memory that no process's size would show
(memfd, anonymous shared mappings, System V segments) is denied by the strict system-call filter; the standard
one allows some of it, so it needs a control group beside the watchdog.
"""

import os
from typing import Self

from sandbox_images.supervisor.memory import resident_of

LOOK_EVERY_S = 0.05
_WATCHED_MOUNTS = ("tmp", "out", "dev/shm")


def resident_bytes(init: int) -> int:
    """Of the process and all its descendants; in a PID namespace, those of PID 1 are everybody."""
    total, pending = 0, [init]
    while pending:
        pid = pending.pop()
        total += resident_of(pid)
        pending += _children_of(pid)
    return total


def can_list_children() -> bool:
    """Whether this kernel tells (CONFIG_PROC_CHILDREN)."""
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


class Inodes:
    """Holds the writable mounts of a run, by path-only descriptors, to count what was created on them."""

    def __init__(self, init: int) -> None:
        self._mounts: list[int] = []
        try:
            for path in _WATCHED_MOUNTS:
                # The sandbox's root is read-only and these are mount points: a payload cannot redirect them.
                flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                self._mounts.append(os.open(f"/proc/{init}/root/{path}", flags))
        except BaseException:
            self.close()
            raise

    def most_used(self) -> int:
        counts = [os.fstatvfs(mount) for mount in self._mounts]
        return max((count.f_files - count.f_ffree for count in counts), default=0)

    def close(self) -> None:
        while self._mounts:
            os.close(self._mounts.pop())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _children_of(pid: int) -> list[int]:
    """A child belongs to the thread that forked it."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    lists = (_read(f"/proc/{pid}/task/{thread}/children") for thread in threads)
    return [int(child) for children in lists for child in children.split()]


def _read(path: str) -> str:
    """Empty if the process has ended meanwhile."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""

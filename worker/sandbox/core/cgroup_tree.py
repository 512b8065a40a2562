"""Trees of control groups: where this process is in them, who is in a group, how everybody in it ends."""

import errno
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox.protocol import SandboxUnavailable

_DEATH_S = 30.0  # freeing a large process's memory takes its time


@dataclass(frozen=True)
class Mount:
    """One mounted group tree: its kind, its controllers or options, and this process's folder in it."""

    version: int
    options: frozenset[str]
    own: Path
    top: bool  # `own` is where the tree is mounted


def write(file: Path, text: str) -> None:
    """To an interface file, which the kernel made: raises FileNotFoundError where this kernel has none."""
    target = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(target, text.encode())
    finally:
        os.close(target)


def writable(folder: Path) -> bool:
    """Whether this user may make folders in it; not on a read-only mount, as most containers have it."""
    return os.access(folder, os.W_OK | os.X_OK)


def processes_of(folder: Path) -> tuple[int, ...]:
    """Empty if the folder is gone."""
    try:
        return tuple(int(pid) for pid in (folder / "cgroup.procs").read_text().split())
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENODEV):
            return ()
        raise


def end_processes(folder: Path) -> None:
    """SIGKILL whoever is in it, again until nobody is: a process may fork while the list is read.

    Raises SandboxUnavailable if somebody does not end.
    """
    deadline = time.monotonic() + _DEATH_S
    while pids := processes_of(folder):
        for pid in pids:
            _kill_member(pid, folder)
        if time.monotonic() > deadline:
            raise SandboxUnavailable(
                "processes of a slot could not be ended: the kernel does not let them go"
            )
        time.sleep(0.001)


def _kill_member(pid: int, folder: Path) -> None:
    """By a handle, and only if it is still in the group: its number could be somebody else's by now."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        try:
            if pid in processes_of(folder):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def mounts() -> Iterator[Mount]:
    """Of this process. Trees in which its own folder cannot be reached are left out."""
    own = _own_paths()
    for line in Path("/proc/self/mountinfo").read_text(errors="replace").splitlines():
        fields, _, source = line.partition(" - ")
        root, place = fields.split()[3:5]
        kind, _, options = source.split()[:3]
        if kind not in ("cgroup", "cgroup2"):
            continue
        named = frozenset(options.split(","))
        path = own.get("") if kind == "cgroup2" else next((own[name] for name in named if name in own), None)
        if path is None or not (path == root or path.startswith(root.rstrip("/") + "/")):
            continue
        below = path[len(root.rstrip("/")) :].strip("/")
        yield Mount(2 if kind == "cgroup2" else 1, named, Path(place) / below, below == "")


def _own_paths() -> dict[str, str]:
    """By controller; the newer version's has no name."""
    paths = {}
    for line in Path("/proc/self/cgroup").read_text(errors="replace").splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            if not path.startswith("/.."):  # above what this namespace shows
                paths[name] = path
    return paths

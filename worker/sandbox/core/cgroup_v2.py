"""Control groups, version 2: one tree, of which the worker needs a part that was delegated to it.

In this version a folder holds either processes or limited folders. So before its first slot the worker
moves whoever is in its own folder one level down, into `dpgate-worker`. It does so only where the folder is
its own: delegated by systemd (Delegate=yes), by ownership, or the top of a container's tree.
"""

import errno
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox.protocol import SandboxUnavailable

from . import cgroup_tree
from .cgroup_tree import Mount, end_processes, processes_of, writable, write

_CONTROLLERS = ("memory", "pids", "cpu")
_PERIOD_US = 100_000
_SHORTEST_US = 1_000
_LEAF = "dpgate-worker"
_MOVE_S = 5.0
_DEATH_S = 30.0


def find() -> "Hierarchy | str":
    """The folder below which slots can be made; else why there is none."""
    mount = next((mount for mount in cgroup_tree.mounts() if mount.version == 2), None)
    if mount is None:
        return "control groups of version 2 are not mounted"
    return _delegated_part(mount)


def _delegated_part(mount: Mount) -> "Hierarchy | str":
    """A worker that was moved already, or that systemd put one level down (DelegateSubgroup), looks above."""
    candidates = [mount.own] if mount.top else [mount.own, mount.own.parent]
    if mount.own.name == _LEAF:
        candidates.reverse()
    for folder in candidates:
        if _is_delegated(folder, mount) and set(_CONTROLLERS) <= _words(folder / "cgroup.controllers"):
            return Hierarchy(folder)
    if not any(_is_delegated(folder, mount) for folder in candidates):
        return f"{mount.own} is not delegated to this worker: start it by systemd with Delegate=yes"
    return f"version 2 does not have the controllers {', '.join(_CONTROLLERS)} in {mount.own}"


def _is_delegated(folder: Path, mount: Mount) -> bool:
    if not writable(folder) or not os.access(folder / "cgroup.subtree_control", os.W_OK):
        return False
    if folder == mount.own and (mount.top or (os.getuid() != 0 and folder.stat().st_uid == os.getuid())):
        return True
    if folder != mount.own and mount.own.name == _LEAF:
        return True  # this worker, or an earlier one, found it so
    return any(_attribute(folder, name) == b"1" for name in ("trusted.delegate", "user.delegate"))


@dataclass(frozen=True)
class Hierarchy:
    """The delegated folder."""

    folder: Path

    MEMORY_USED = "memory.current"

    def parents(self) -> tuple[Path, ...]:
        return (self.folder,)

    def prepare(self) -> None:
        """Empty the folder of processes, and give its folders the controllers. Once; later nothing."""
        control = self.folder / "cgroup.subtree_control"
        if set(_CONTROLLERS) <= _words(control):
            return
        deadline = time.monotonic() + _MOVE_S
        while True:
            self._move_down()
            try:
                write(control, " ".join(f"+{name}" for name in _CONTROLLERS))
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:  # somebody forked meanwhile
                    raise
            else:
                return

    def limit(self, folders: Sequence[Path], *, memory_bytes: int, processes: int, cpus: float) -> None:
        (folder,) = folders
        write(folder / "memory.max", str(memory_bytes))
        for swap in ("memory.swap.max", "memory.zswap.max"):
            if (folder / swap).exists():  # not on a kernel without swap
                write(folder / swap, "0")
        write(folder / "pids.max", str(processes))
        quota_us = max(round(cpus * _PERIOD_US), _SHORTEST_US)
        write(folder / "cpu.max", f"{quota_us} {_PERIOD_US}")

    def kill(self, folders: Sequence[Path]) -> None:
        (folder,) = folders
        try:
            write(folder / "cgroup.kill", "1")
        except FileNotFoundError:  # before Linux 5.14
            end_processes(folder)
        deadline = time.monotonic() + _DEATH_S
        while "populated 1" in (folder / "cgroup.events").read_text():
            if time.monotonic() > deadline:
                raise SandboxUnavailable("processes of a slot could not be ended: the kernel keeps them")
            time.sleep(0.001)

    def _move_down(self) -> None:
        leaf = self.folder / _LEAF
        if processes_of(self.folder):
            with suppress(FileExistsError):
                os.mkdir(leaf, 0o755)
        for pid in processes_of(self.folder):
            with suppress(ProcessLookupError):  # it ended meanwhile
                write(leaf / "cgroup.procs", str(pid))


def _words(file: Path) -> set[str]:
    try:
        return set(file.read_text().split())
    except OSError:
        return set()


def _attribute(folder: Path, name: str) -> bytes:
    try:
        return os.getxattr(folder, name)
    except OSError:
        return b""

"""Limits of one seat of a slot, held by the kernel: a control group for everything that its runs use.

Memory of a group is all of it: resident pages, tmpfs pages, memory files that nobody maps, kernel memory.
Where the worker may not make groups, there are none, and a supervisor watches the memory that it can see.
Both versions of the kernel's interface are in `cgroup_tree`.

A group's folder is named after the worker that made it (process number, its start time, and the PID
namespace in which that number means something), so that leftovers.py can tell the dead from the living.
"""

import errno
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from worker.sandbox.protocol import SandboxUnavailable

from .bwrap_process import STARTED, facts_of
from .cgroup_tree import Hierarchy, end_processes, find, write

_GONE_S = 10.0  # the kernel lets a folder go some milliseconds after its last process
_NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
FOLDER = re.compile(r"dpgate-(\d+)-(\d+)-(\d+)-[a-z0-9][a-z0-9-]{0,31}")


def why_no_groups() -> str | None:
    """What keeps this worker from making groups, for an operator; None: nothing. Changes nothing."""
    found = find()
    return found if isinstance(found, str) else None


class SlotGroup:
    """One slot's group. Used by one thread."""

    def __init__(self, hierarchy: Hierarchy, folders: Sequence[Path]) -> None:
        self._hierarchy, self._folders = hierarchy, tuple(folders)

    @classmethod
    def create(
        cls,
        name: str,
        *,
        memory_bytes: int,
        processes: int,
        cpus: float,
        hierarchy: Hierarchy | None = None,
    ) -> "SlotGroup | None":
        """A new, empty group; None where this worker may not make one.

        `memory_bytes`: of everything, the pages of the slot's tmpfs mounts too; swap is off. `processes`:
        threads count. `cpus`: processors' time per time, 0.5 is half of one. `hierarchy`: by default the
        one that this process is in. Raises SandboxUnavailable if the kernel refuses a limit.
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"not a name for a group: {name!r}")
        found = hierarchy or find()
        if isinstance(found, str):
            return None
        try:
            found.prepare()
            folders = _make_folders(found, f"dpgate-{_identity(os.getpid())}-{name}")
        except OSError as error:
            if error.errno in _NOT_ALLOWED:
                return None
            raise SandboxUnavailable(f"no control group could be made: {error}") from error
        group = cls(found, folders)
        try:
            found.limit(folders, memory_bytes=memory_bytes, processes=processes, cpus=cpus)
        except OSError as error:
            group.close()
            raise SandboxUnavailable(
                f"a limit of a slot was refused: {error}; is it above the worker's own limit?"
            ) from error
        return group

    def add(self, pid: int) -> None:
        """Move a process, with all its threads. Its children are born here; those it has already are not.

        Raises ProcessLookupError if it has ended.
        """
        for folder in self._folders:
            write(folder / "cgroup.procs", str(pid))

    def kill(self) -> None:
        """When this returns, the group is empty, and can be used again.

        What has ended counts against the number of processes until its parent has waited for it; so end a
        PID namespace by its PID 1, which waits for everybody.

        Raises SandboxUnavailable if the kernel does not let a process go.
        """
        self._hierarchy.kill(self._folders)

    def close(self) -> None:
        """End what is left in it, and remove it."""
        for folder in self._folders:
            if folder.exists():
                end_processes(folder)
                remove_group(folder)


def _make_folders(hierarchy: Hierarchy, name: str) -> list[Path]:
    made: list[Path] = []
    try:
        for parent in hierarchy.folders:
            os.mkdir(parent / name, 0o755)
            made.append(parent / name)
    except OSError:
        for folder in made:
            os.rmdir(folder)
        raise
    return made


def remove_group(folder: Path) -> None:
    deadline = time.monotonic() + _GONE_S
    while True:
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise SandboxUnavailable(f"a control group could not be removed: {error}") from error
            time.sleep(0.001)
        else:
            return


def _identity(pid: int) -> str:
    return f"{pid}-{facts_of(pid)[STARTED]}-{pid_namespace()}"


def pid_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino

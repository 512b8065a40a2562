"""What workers that no longer live have left on this host: blocks in memory, control groups, processes.

A living worker's is never touched. No run of a living worker can reach what is removed here, so what isolates
runs does not rest on it.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

from .core.bwrap_process import STARTED, facts_of
from .core.cgroup import FOLDER, pid_namespace, remove_group
from .core.cgroup_tree import Hierarchy, end_processes, find
from .core.scratch import default_scratch_root, remove_tree, try_lock


def reap_scratch(root: Path | None = None) -> int:
    """Remove what workers that no longer live have left; returns how many. Never touches a living one's."""
    root = root or default_scratch_root()
    reaped = 0
    for lock_path in sorted(root.glob("*.lock")) if root.is_dir() else ():
        lock = _lock_of_the_dead(lock_path)
        if lock is None:
            continue
        _end_processes_of(lock_path.with_suffix(""))
        remove_tree(lock_path.with_suffix(""))
        lock_path.unlink(missing_ok=True)
        os.close(lock)
        reaped += 1
    return reaped


def reap_groups(hierarchy: Hierarchy | None = None) -> int:
    """Remove the groups of workers that no longer live, with all processes in them; how many they were.

    Looks where this worker would make its own. Never touches a living worker's groups, nor those of another
    PID namespace, of which it cannot tell.
    """
    found = hierarchy or find()
    if isinstance(found, str):
        return 0
    reaped = set()
    for parent in found.folders:
        for folder in sorted(parent.glob("dpgate-*")):
            match = FOLDER.fullmatch(folder.name)
            if match and not _may_live(*(int(number) for number in match.groups())):
                end_processes(folder)
                remove_group(folder)
                reaped.add(folder.name)
    return len(reaped)


def _end_processes_of(folder: Path) -> None:
    """A bwrap that was killed with its worker in its first milliseconds leaves a child that waits for ever.

    Its command line still names the dead worker's folder, which is a random name and so nobody else's.
    """
    wanted = os.fsencode(folder) + b"/"
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            pidfd = os.pidfd_open(int(name))
        except OSError:
            continue
        try:
            command = Path(f"/proc/{name}/cmdline").read_bytes()
            if wanted in command and Path(os.fsdecode(command.split(b"\0")[0])).name == "bwrap":
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        except (OSError, ValueError):  # ended meanwhile, or not ours to see
            continue
        finally:
            os.close(pidfd)


def _lock_of_the_dead(path: Path) -> int | None:
    try:
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    if try_lock(lock):
        return lock
    os.close(lock)
    return None


def _may_live(pid: int, start: int, namespace: int) -> bool:
    if namespace != pid_namespace():
        return True
    try:
        with suppress(PermissionError):  # somebody else's process, but there is one
            os.kill(pid, 0)
        facts = facts_of(pid)
    except ProcessLookupError:
        return False
    except OSError:  # /proc hides it from us
        return True
    return int(facts[STARTED]) == start and facts[0] not in "ZX"

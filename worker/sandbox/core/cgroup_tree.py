"""Trees of control groups, in both versions of the kernel's interface: below which folders slots get theirs,
which file takes which limit, who is in a group, how everybody in it ends.

Version 1 has one tree per controller, so a slot has a folder in each. Version 2 has one tree, of which the
worker needs a part that was delegated to it, and a folder holds either processes or limited folders. So
before its first slot the worker moves whoever is in its own folder one level down, into `dpgate-worker`. It
does so only where the folder is its own: delegated by systemd (Delegate=yes), by ownership, or the top of a
container's tree.
"""

import errno
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox.protocol import SandboxUnavailable

_CONTROLLERS = ("memory", "pids", "cpu")  # of version 1, in the order of a slot's folders
_PERIOD_US, _SHORTEST_US = 100_000, 1_000
_LEAF = "dpgate-worker"
_MOVE_S = 5.0
_DEATH_S = 30.0  # freeing a large process's memory takes its time


@dataclass(frozen=True)
class Mount:
    """One mounted group tree: its kind, its controllers or options, and this process's folder in it."""

    version: int
    options: frozenset[str]
    own: Path
    top: bool  # `own` is where the tree is mounted


@dataclass(frozen=True)
class Hierarchy:
    """The folders below which slots get theirs: of version 1 one for each controller, of version 2 one."""

    folders: tuple[Path, ...]
    version: int

    def prepare(self) -> None:
        """Of version 2: empty the folder of processes, and give its folders the controllers, once."""
        if self.version == 1:
            return
        (folder,) = self.folders
        control = folder / "cgroup.subtree_control"
        if set(_CONTROLLERS) <= _words(control):
            return
        deadline = time.monotonic() + _MOVE_S
        while True:
            _move_down(folder)
            try:
                write(control, " ".join(f"+{name}" for name in _CONTROLLERS))
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:  # somebody forked meanwhile
                    raise
            else:
                return

    def limit(self, folders: Sequence[Path], *, memory_bytes: int, processes: int, cpus: float) -> None:
        """`folders` are a slot's own. Swap is off."""
        memory, pids, cpu = folders if self.version == 1 else (*folders, *folders, *folders)
        quota_us = max(round(cpus * _PERIOD_US), _SHORTEST_US)
        if self.version == 1:
            write(memory / "memory.limit_in_bytes", str(memory_bytes))
            with_swap = memory / "memory.memsw.limit_in_bytes"
            if with_swap.exists():
                write(with_swap, str(memory_bytes))  # memory and swap together: so no swap
            else:
                write(memory / "memory.swappiness", "0")  # a kernel that does not count swap
            write(cpu / "cpu.cfs_period_us", str(_PERIOD_US))
            write(cpu / "cpu.cfs_quota_us", str(quota_us))
        else:
            write(memory / "memory.max", str(memory_bytes))
            for swap in ("memory.swap.max", "memory.zswap.max"):
                if (memory / swap).exists():  # not on a kernel without swap
                    write(memory / swap, "0")
            write(cpu / "cpu.max", f"{quota_us} {_PERIOD_US}")
        write(pids / "pids.max", str(processes))

    def kill(self, folders: Sequence[Path]) -> None:
        """Everybody in a slot's folders."""
        if self.version == 1:
            _kill_while_nobody_forks(*folders)
        else:
            _kill_at_once(*folders)


def find() -> Hierarchy | str:
    """The newer interface if it has the controllers, else the older, else why neither."""
    newer = _newer()
    if not isinstance(newer, str):
        return newer
    older = _older()
    return f"{newer}; {older}" if isinstance(older, str) else older


def _older() -> Hierarchy | str:
    own = {name: mount.own for mount in mounts() for name in mount.options if mount.version == 1}
    missing = [name for name in _CONTROLLERS if name not in own]
    if missing:
        return f"version 1 has no {' and no '.join(missing)} controller here"
    folders = tuple(own[name] for name in _CONTROLLERS)
    for folder in folders:
        if not writable(folder):
            return f"{folder} cannot be written by this user: delegate it, or run the worker as root"
    return Hierarchy(folders, 1)


def _newer() -> Hierarchy | str:
    mount = next((mount for mount in mounts() if mount.version == 2), None)
    if mount is None:
        return "control groups of version 2 are not mounted"
    return _delegated_part(mount)


def _delegated_part(mount: Mount) -> Hierarchy | str:
    """A worker that was moved already, or that systemd put one level down (DelegateSubgroup), looks above."""
    candidates = [mount.own] if mount.top else [mount.own, mount.own.parent]
    if mount.own.name == _LEAF:
        candidates.reverse()
    for folder in candidates:
        if _is_delegated(folder, mount) and set(_CONTROLLERS) <= _words(folder / "cgroup.controllers"):
            return Hierarchy((folder,), 2)
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


def _move_down(folder: Path) -> None:
    if processes_of(folder):
        with suppress(FileExistsError):
            os.mkdir(folder / _LEAF, 0o755)
    for pid in processes_of(folder):
        with suppress(ProcessLookupError):  # it ended meanwhile
            write(folder / _LEAF / "cgroup.procs", str(pid))


def _kill_while_nobody_forks(memory: Path, pids: Path, _: Path) -> None:
    """So nobody can outrun the loop."""
    ceiling = pids / "pids.max"
    before = ceiling.read_text()
    write(ceiling, "0")
    try:
        end_processes(memory)
    finally:
        write(ceiling, before)


def _kill_at_once(folder: Path) -> None:
    try:
        write(folder / "cgroup.kill", "1")
    except FileNotFoundError:  # before Linux 5.14
        end_processes(folder)
    deadline = time.monotonic() + _DEATH_S
    while "populated 1" in (folder / "cgroup.events").read_text():
        if time.monotonic() > deadline:
            raise SandboxUnavailable("processes of a slot could not be ended: the kernel keeps them")
        time.sleep(0.001)


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
    paths, file = {}, Path("/proc/self/cgroup")
    for line in (
        file.read_text(errors="replace").splitlines() if file.exists() else ()
    ):  # else a kernel without
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            if not path.startswith("/.."):  # above what this namespace shows
                paths[name] = path
    return paths


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

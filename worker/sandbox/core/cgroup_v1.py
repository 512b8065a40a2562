"""Control groups, version 1: one tree per controller, so a slot has a folder in each."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import cgroup_tree
from .cgroup_tree import end_processes, writable, write

_CONTROLLERS = ("memory", "pids", "cpu")  # in this order below
_PERIOD_US = 100_000
_SHORTEST_US = 1_000


def find() -> "Hierarchy | str":
    """The folders of this process, if it may make others below them; else why not."""
    own = {name: mount.own for mount in cgroup_tree.mounts() for name in mount.options if mount.version == 1}
    missing = [name for name in _CONTROLLERS if name not in own]
    if missing:
        return f"version 1 has no {' and no '.join(missing)} controller here"
    folders = tuple(own[name] for name in _CONTROLLERS)
    for folder in folders:
        if not writable(folder):
            return f"{folder} cannot be written by this user: delegate it, or run the worker as root"
    return Hierarchy(folders)


@dataclass(frozen=True)
class Hierarchy:
    """The folders of the memory, pids and cpu controllers below which slots get theirs."""

    folders: tuple[Path, ...]

    MEMORY_USED = "memory.usage_in_bytes"

    def parents(self) -> tuple[Path, ...]:
        return self.folders

    def prepare(self) -> None:
        """Nothing to do: a folder of this version may hold processes and folders."""

    def limit(self, folders: Sequence[Path], *, memory_bytes: int, processes: int, cpus: float) -> None:
        memory, pids, cpu = folders
        write(memory / "memory.limit_in_bytes", str(memory_bytes))
        with_swap = memory / "memory.memsw.limit_in_bytes"
        if with_swap.exists():
            write(with_swap, str(memory_bytes))  # memory and swap together: so no swap
        else:
            write(memory / "memory.swappiness", "0")  # a kernel that does not count swap
        write(pids / "pids.max", str(processes))
        write(cpu / "cpu.cfs_period_us", str(_PERIOD_US))
        write(cpu / "cpu.cfs_quota_us", str(max(round(cpus * _PERIOD_US), _SHORTEST_US)))

    def kill(self, folders: Sequence[Path]) -> None:
        """Nobody may fork meanwhile, so nobody can outrun the loop."""
        ceiling = folders[1] / "pids.max"
        before = ceiling.read_text()
        write(ceiling, "0")
        try:
            end_processes(folders[0])
        finally:
            write(ceiling, before)

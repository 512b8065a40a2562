"""The one place where the bwrap command line is made. Every flag has its reason; what is not here is off.

What the flags cannot give comes from around them: bwrap is started with an empty environment (its
--clearenv leaves /proc/1/environ as it was), with no inherited descriptors but those named here, and, where
the worker is root, as the slot's own user.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .parts import Bound
from .protocol import MIB, Limits, SlotOrder
from .surroundings import (
    ADDRESS_SPACE_SLACK,
    INSIDE_ID,
    BwrapImage,
    device_flags,
    environment_for,
    interpreter_of,
    root_flags,
)

RUNNER_PATH = "/run/dpgate/runner.py"
TREE_PATH = "/run/dpgate/output_tree.py"
_MOST_WORDS = 9000  # of bwrap's command line, wherever it reads them from
_OTHER_WORDS = 1500  # more than all flags but those for parts
MOST_PARTS = (_MOST_WORDS - _OTHER_WORDS) // 3
# Links into the reader's own process folder; everything else in /proc that is not a process is host-wide.
_PROC_KEPT = frozenset({"self", "thread-self", "mounts", "net"})


@dataclass(frozen=True)
class Folders:
    """On the host, under opaque names."""

    code: Path
    block: Path
    empty: Path


@dataclass(frozen=True)
class Descriptors:
    """What bwrap or the runner inherits."""

    seccomp: int
    runner: int
    etc: dict[str, int]
    status: int
    result: int
    go: int
    stdio: int  # -1: standard output and error go nowhere
    before: int = -1  # what lies in /out at the start
    tree: int = -1  # the source of the runner's second half, where an order needs it
    parts: int = -1  # flags of bwrap that would not do on a command line

    def all(self) -> tuple[int, ...]:
        bwraps = (self.seccomp, self.runner, *self.etc.values(), self.status, self.tree, self.parts)
        numbers = (*bwraps, self.result, self.go, self.stdio, self.before)
        return tuple(fd for fd in numbers if fd >= 0)


def build_argv(
    bwrap: Path, image: BwrapImage, order: SlotOrder, folders: Folders, descriptors: Descriptors
) -> list[str]:
    flags = [
        *_namespaces(),
        *_privileges(descriptors),
        *root_flags(image, descriptors.etc),
        *device_flags(),
        *_proc(folders.empty),
        *_writable(order.limits),
        *_pipeline(folders, descriptors),
        *_environment(image, order),
        # last of the mounts: nothing may be created on the root, in /dev or in /etc after this
        *("--remount-ro", "/"),
    ]
    return [str(bwrap), *flags, "--", *_runner(image, order, descriptors)]


def part_flags(parts: Sequence[Bound]) -> bytes:
    """For a descriptor: a place may hold a person's id, and everybody on this host can read command lines."""
    words = (word for part in parts for word in ("--ro-bind", str(part.source), f"/in/{part.place}"))
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def _namespaces() -> list[str]:
    return [
        "--unshare-user",  # capabilities, if any were left, would only be those of this namespace
        "--unshare-ipc",  # System V and POSIX queues
        "--unshare-pid",  # other processes do not exist, and all of ours die with PID 1
        "--unshare-net",  # only a loopback that is its own
        "--unshare-uts",
        "--unshare-cgroup-try",  # hides the slot's cgroup path; old kernels have none
        *("--hostname", "sandbox"),
        *("--uid", str(INSIDE_ID), "--gid", str(INSIDE_ID)),
        # The runner itself is PID 1: with bwrap's own init in between, stragglers outlive bwrap by some
        # milliseconds and can change an output that is being read; and that init's environ is readable.
        "--as-pid-1",
    ]


def _privileges(descriptors: Descriptors) -> list[str]:
    return [
        *("--cap-drop", "ALL"),
        "--die-with-parent",  # a killed worker leaves nobody behind; bound to the thread that starts bwrap
        "--new-session",  # no controlling terminal, so nothing can be typed into it
        *("--seccomp", str(descriptors.seccomp)),
        *("--json-status-fd", str(descriptors.status)),  # tells which process is PID 1
    ]


def _proc(empty: Path) -> list[str]:
    """A procfs of the sandbox's own processes; the host-wide entries (loads, keys, sysctls) are covered.

    /dev/null as a plain bind is a device node on a mount that allows none: opening it is refused.
    """
    flags = ["--proc", "/proc"]
    for name in sorted(os.listdir("/proc")):
        if not name.isdigit() and name not in _PROC_KEPT:
            cover = str(empty) if os.path.isdir(f"/proc/{name}") else "/dev/null"
            flags += ["--ro-bind", cover, f"/proc/{name}"]
    return flags


def _writable(limits: Limits) -> list[str]:
    """Three private file systems of limited size; bwrap mounts them nosuid and nodev."""
    sizes = {"/tmp": limits.tmp_bytes, "/dev/shm": limits.tmp_bytes, "/out": limits.output_bytes}  # noqa: S108
    flags = []
    for path, size in sizes.items():
        flags += ["--perms", "0700", "--size", str(size), "--tmpfs", path]
    return flags


def _pipeline(folders: Folders, descriptors: Descriptors) -> list[str]:
    return [
        *("--ro-bind", str(folders.code), "/pipeline"),
        *("--ro-bind", str(folders.block), "/in"),
        *(("--args", str(descriptors.parts)) if descriptors.parts >= 0 else ()),
        *("--perms", "0755", "--size", str(MIB), "--tmpfs", "/run/dpgate"),
        *("--perms", "0444", "--ro-bind-data", str(descriptors.runner), RUNNER_PATH),
        *_source_of_tree(descriptors.tree),
        *("--remount-ro", "/run/dpgate"),
    ]


def _source_of_tree(descriptor: int) -> list[str]:
    if descriptor < 0:
        return []
    return ["--perms", "0444", "--ro-bind-data", str(descriptor), TREE_PATH]


def _environment(image: BwrapImage, order: SlotOrder) -> list[str]:
    flags = ["--clearenv", "--chdir", "/"]
    for name, value in environment_for(image, order).items():
        flags += ["--setenv", name, value]
    return flags


def _runner(image: BwrapImage, order: SlotOrder, descriptors: Descriptors) -> list[str]:
    """The command line that sandbox_images/runner.py documents. -I -S -B -E: no site, no caches."""
    limits = order.limits
    largest_file = max(limits.tmp_bytes, limits.output_bytes)  # also bounds what a sparse file claims to be
    numbers = (
        *(descriptors.result, descriptors.go, descriptors.stdio, descriptors.before),
        *(limits.processes, limits.cpu_s, limits.open_files, largest_file),
        *(limits.memory_bytes + ADDRESS_SPACE_SLACK, limits.file_bytes),
        *((limits.output_bytes, limits.inodes) if order.tree else (-1, -1)),
    )
    lists = [
        item for part in (order.levels, order.outputs, order.command) for item in (str(len(part)), *part)
    ]
    return [interpreter_of(image), "-I", "-S", "-B", "-E", RUNNER_PATH, *map(str, numbers), *lists]

"""The one place where the bwrap command line is made. Every flag has its reason; what is not here is off.

What the flags cannot give comes from around them: bwrap is started with an empty environment (its
--clearenv leaves /proc/1/environ as it was), with no inherited descriptors but those named here, and, where
the worker is root, as the slot's own user.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from .host_image import HostImage
from .protocol import MIB, Limits, SlotOrder

INSIDE_ID = 1000  # user and group in the sandbox, whatever they are outside
RUNNER_PATH = "/run/dpgate/runner.py"
# Mapped but never touched: allocators and arrow reserve far more than they use.
ADDRESS_SPACE_SLACK = 2048 * MIB

ETC_FILES = {
    "passwd": "sandbox:x:1000:1000::/tmp:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
    "group": "sandbox:x:1000:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost sandbox\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}

_THREAD_COUNTS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "BLIS")
_ENVIRONMENT = {
    "HOME": "/tmp",  # noqa: S108 - inside the sandbox
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
    # one core per slot: more threads would only fight, and each counts against the process limit
    **{f"{library}_NUM_THREADS": "1" for library in _THREAD_COUNTS},
}

# No /dev/zero: a shared mapping of it is memory that no process's resident size shows. No tty, no ptmx.
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
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

    def all(self) -> tuple[int, ...]:
        bwraps = (self.seccomp, self.runner, *self.etc.values(), self.status)
        numbers = (*bwraps, self.result, self.go, self.stdio)
        return tuple(fd for fd in numbers if fd >= 0)


def build_argv(
    bwrap: Path, image: HostImage, order: SlotOrder, folders: Folders, descriptors: Descriptors
) -> list[str]:
    flags = [
        *_namespaces(),
        *_privileges(descriptors),
        *_root(image, descriptors),
        *_devices(),
        *_proc(folders.empty),
        *_writable(order.limits),
        *_pipeline(folders, descriptors),
        *_environment(image),
        # last of the mounts: nothing may be created on the root, in /dev or in /etc after this
        *("--remount-ro", "/"),
    ]
    return [str(bwrap), *flags, "--", *_runner(image, order, descriptors)]


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


def _root(image: HostImage, descriptors: Descriptors) -> list[str]:
    flags = []
    for path in image.binds:
        flags += ["--ro-bind", str(path), str(path)]
    for target, link in image.links:
        flags += ["--symlink", target, str(link)]
    flags += ["--perms", "0755", "--dir", "/etc"]
    for name, fd in descriptors.etc.items():
        flags += ["--perms", "0444", "--file", str(fd), f"/etc/{name}"]
    return flags


def _devices() -> list[str]:
    """Not --dev: that is a writable tmpfs without a limit, with a terminal and a pseudo-terminal maker."""
    flags = ["--perms", "0755", "--dir", "/dev"]
    for path in _DEVICES:
        flags += ["--dev-bind", path, path]
    for name, target in _DEVICE_LINKS.items():
        flags += ["--symlink", target, f"/dev/{name}"]
    return flags


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
        *("--perms", "0444", "--ro-bind-data", str(descriptors.runner), RUNNER_PATH),
    ]


def _environment(image: HostImage) -> list[str]:
    flags = ["--clearenv", "--chdir", "/"]
    for name, value in {"PATH": image.search_path, **_ENVIRONMENT}.items():
        flags += ["--setenv", name, value]
    return flags


def _runner(image: HostImage, order: SlotOrder, descriptors: Descriptors) -> list[str]:
    """The command line that sandbox_images/runner.py documents. -I -S -B -E: no site, no caches."""
    limits = order.limits
    largest_file = max(limits.tmp_bytes, limits.output_bytes)  # also bounds what a sparse file claims to be
    numbers = (
        *(descriptors.result, descriptors.go, descriptors.stdio),
        *(limits.processes, limits.cpu_s, limits.open_files, largest_file),
        *(limits.memory_bytes + ADDRESS_SPACE_SLACK, limits.file_bytes),
    )
    lists = [
        item for part in (order.levels, order.outputs, order.command) for item in (str(len(part)), *part)
    ]
    return [str(image.interpreter), "-I", "-S", "-B", "-E", RUNNER_PATH, *map(str, numbers), *lists]

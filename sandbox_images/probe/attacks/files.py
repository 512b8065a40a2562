"""Reading and writing what is not the run's own."""

# ruff: noqa: ARG001, S108 - attacks do what a linter warns of, and take one kind of argument
import os
import re
import stat
import sys
from contextlib import suppress

from face import any_of, become_root_of_namespace, plant  # type: ignore[import-not-found]

_SHARED_PLACES = (
    "/dev/shm",
    "/tmp",
    "/var/tmp",
    "/run",
    "/var/run",
    "/var/lib",
    "/home",
    "/root",
    "/srv",
    "/mnt",
)


def _walk(roots, most=20_000):
    """Every path below, without following links and without end."""
    for root in roots:
        for folder, folders, files in os.walk(root):
            for name in (*folders, *files):
                most -= 1
                if most < 0:
                    return
                yield os.path.join(folder, name)


def _contains(path, secret):
    with open(path, "rb") as file:
        return secret.encode() in file.read(1 << 16)


def env_secrets(target):
    """The worker's environment, which holds the secret in this experiment."""
    return target["secret"] in "\n".join(os.environ.values()) or _contains(
        "/proc/self/environ", target["secret"]
    )


def fs_host_canary(target):
    with open(target["canary"], encoding="ascii") as file:
        return file.read() == target["secret"]


def fs_other_blocks(target):
    """The staged block of another slot, by its path; in any case blocks beside the own."""
    beside = os.path.dirname(target.given)
    near = [
        os.path.join(beside, name, "data.csv")
        for name in os.listdir(beside)
        if name not in ("proc", "sys", "in")
    ]
    return any_of(
        [lambda path=path: _contains(path, target["secret"]) for path in (target["other_block"], *near)]
    )


def fs_siblings(target):
    """Anything of the experiment's own folder, wherever others leave their files."""
    wanted = os.path.basename(target["folder"])
    return any(os.path.basename(path) == wanted for path in _walk(_SHARED_PLACES))


def fs_sockets_present(target):
    """A container engine's socket, a message bus, a database."""
    # the experiment's own first: a look round ends after so many files, and a host may have more
    places = (os.path.dirname(target["unix_path"]), "/run", "/var/run", "/tmp", "/dev")
    return any(stat.S_ISSOCK(os.lstat(path).st_mode) for path in _walk(places) if os.path.lexists(path))


def fs_proc_environ(target):
    """The environment of everybody who is visible."""
    pids = [target["init"], *filter(str.isdigit, os.listdir("/proc"))]
    return any_of([lambda pid=pid: _contains(f"/proc/{pid}/environ", target["secret"]) for pid in pids])


def fs_proc_root(target):
    """The host's files through another process's root or working directory."""
    pids = [target["init"], *filter(str.isdigit, os.listdir("/proc"))]
    ways = [f"/proc/{pid}/{link}{target['canary']}" for pid in pids for link in ("root", "cwd/../../../..")]
    return any_of([lambda way=way: _contains(way, target["secret"]) for way in ways])


def fs_inherited_fds(target):
    """Descriptors that somebody left open."""

    def is_open(number):
        try:
            os.fstat(number)
        except OSError:
            return False
        return True

    return any(is_open(number) for number in range(3, 4096))


def fs_standard_input(target):
    return target["secret"] in os.read(0, 100).decode(errors="replace")


def fs_write_outside(target):
    return any_of([lambda folder=folder: plant(folder) for folder in (target["folder"], *target["system"])])


def fs_write_input(target):
    return plant(target.given)


def fs_change_input(target):
    path = os.path.join(target.given, "data.csv")
    os.chmod(path, 0o600)
    with open(path, "r+", encoding="ascii") as file:
        return file.write(" ") == 1


def fs_write_pipeline(target):
    return plant(target["pipeline"])


def fs_proc_sys(target):
    """Settings of the kernel: opened for writing, nothing is written."""
    names = (
        "kernel/core_pattern",
        "kernel/hostname",
        "vm/drop_caches",
        "net/ipv4/ip_forward",
        "kernel/modprobe",
    )
    if target["bare"] and os.getuid():
        become_root_of_namespace(0x40000000)

    def opens(path):
        os.close(os.open(path, os.O_WRONLY))
        return True

    paths = [*(f"/proc/sys/{name}" for name in names), "/proc/sysrq-trigger"]
    return any_of([lambda path=path: opens(path) for path in paths])


def fs_proc_leaks(target):
    """The host's secrets in /proc: memory, keys, timers, kernel addresses."""
    names = ("kcore", "keys", "timer_list", "sched_debug", "latency_stats", "kmsg", "slabinfo", "vmallocinfo")

    def tells(name):
        fd = os.open(f"/proc/{name}", os.O_RDONLY | os.O_NONBLOCK)
        try:
            return os.read(fd, 1) != b""
        finally:
            os.close(fd)

    return any_of([lambda name=name: tells(name) for name in names])


def fs_proc_write(target):
    """Settings of PID 1 and of oneself that the run has no business with."""
    pid = target["init"]
    if pid == target.process:  # where the pipeline itself is PID 1, that is its own
        return False

    def opens(path):
        os.close(os.open(path, os.O_WRONLY))
        return True

    return any_of(
        [
            lambda name=name: opens(f"/proc/{pid}/{name}")
            for name in ("mem", "oom_score_adj", "comm", "clear_refs")
        ]
    )


def fs_loaded_code(target):
    """Write to the interpreter, its libraries and the attack's own sources: what later runs execute."""
    modules = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    mapped = sorted({path for path in modules if path})
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8") as file:
        mapped += set(re.findall(r" (/\S+\.(?:so\S*|py))$", file.read(), re.MULTILINE))

    def opens(path):
        os.close(os.open(path, os.O_WRONLY))
        return True

    return any_of([lambda path=path: opens(path) for path in (__file__, sys.executable, *mapped)])


def fs_import_path(target):
    """Leave a module where the interpreter of a later run looks for it."""
    return any_of([lambda folder=folder: plant(folder) for folder in sys.path if os.path.isdir(folder)])


def fs_sysfs(target):
    """Serial numbers and topology of the hardware."""
    return any_of(
        [
            lambda name=name: bool(os.listdir(f"/sys/{name}"))
            for name in ("devices", "class", "kernel", "fs/cgroup")
        ]
    )


def fs_cgroup_write(target):
    """Loosen one's own limits."""
    with open("/proc/self/cgroup", encoding="ascii") as file:
        groups = [line.strip().split(":", 2) for line in file]
    places = [f"/sys/fs/cgroup/{controller}{path}" for _, controller, path in groups]

    def opens(path):
        os.close(os.open(os.path.join(path, "cgroup.procs"), os.O_WRONLY))
        return True

    return any_of([lambda path=path: opens(path) for path in places])

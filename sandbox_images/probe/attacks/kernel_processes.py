"""Reaching other processes: PID 1 of the run, a supervisor above it, whoever else is there."""

# ruff: noqa: ARG001 - attacks take one kind of argument
import ctypes
import fcntl
import os
import resource
import signal
import stat
import struct
import termios
import time
from contextlib import suppress

from face import (  # type: ignore[import-not-found]
    any_of,
    check,
    exit_of,
    is_heard,
    lacks,
    libc,
    syscall,
    works,
)


def _others(target):
    """Process numbers worth trying: PID 1, the parent, all that are visible, the low ones that may be
    hidden.
    """
    visible = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    hidden = () if target["bare"] else range(2, 300)
    numbers = (target["init"], os.getppid(), *visible, *hidden) if not target["bare"] else (target["init"],)
    own = (0, target.process, os.getpid())
    return [number for number in dict.fromkeys(numbers) if number not in own]


def _state(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            return file.read().split("State:")[1].split()[0]
    except OSError:
        return "gone"


def k_ptrace(target):
    """Seize anybody, or be traced by a parent that may be more than we are."""
    tries = [lambda pid=pid: check(libc.ptrace(0x4206, pid, None, None)) == 0 for pid in _others(target)]
    return any_of([*tries, lambda: check(libc.ptrace(0, 0, None, None)) == 0])


def k_keyring(target):
    """Keyrings belong to a host user, not to a namespace."""
    return any_of(
        [
            lambda: syscall(248, 217, b"user", b"dpgate", b"x", 1, -2) > 0,
            lambda: syscall(250, 219, 0, -3, 0, 0, 0) > 0,
        ]
    )


def k_kill_others(target):
    """Signal 0 reaches whoever exists; PID 1 of the run does not count, it takes no signals."""
    numbers = [number for number in _others(target) if number != 1]
    return any_of([lambda pid=pid: works(os.kill, pid, 0) for pid in numbers])


def k_signal_init(target):
    """Stop or end PID 1, or the parent, which may be a supervisor."""
    pid = target["init"]
    if pid == target.process:
        return False
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        time.sleep(0.05)
        if _state(pid)[0] in "TZX":
            return True
    return False


def k_signal_everyone(target):
    """Stop everybody who can be reached. A bare attack reaches only what stands in for PID 1."""
    os.kill(target["init"] if target["bare"] else -1, signal.SIGSTOP)
    time.sleep(0.1)
    return _state(target["init"])[0] == "T"


def k_steer_init(target):
    """Another process's limits."""
    tries = [
        lambda pid=pid: resource.prlimit(pid, resource.RLIMIT_NOFILE, (9, 9)) is not None
        for pid in _others(target)
    ]
    return any_of(tries)


def k_process_memory(target):
    """Read or write another process, by /proc and by call."""

    def opens(pid):
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
        return True

    def reads(pid):
        buffer = ctypes.create_string_buffer(8)
        vector = struct.pack("PN", ctypes.addressof(buffer), 8)
        return is_heard(lambda: syscall(310, 270, pid, vector, 1, struct.pack("PN", 4096, 8), 1, 0))

    numbers = _others(target)
    return any_of([lambda pid=pid, way=way: way(pid) for pid in numbers for way in (opens, reads)])


def k_process_files(target):
    """Another process's descriptors, memory map, root and working directory."""
    names = ("fd", "map_files", "cwd", "root")
    return any_of(
        [
            lambda pid=pid, name=name: bool(os.listdir(f"/proc/{pid}/{name}"))
            for pid in _others(target)
            for name in names
        ]
    )


def k_pidfd(target):
    """A handle on another process, and one of its descriptors through it."""

    def steals(pid):
        handle = os.pidfd_open(pid)
        return syscall(438, 438, handle, 0, 0) >= 0

    return any_of([lambda pid=pid: steals(pid) for pid in _others(target)])


def k_compare(target):
    """Whether two processes share something: a look into kernel addresses."""
    return any_of(
        [lambda pid=pid: syscall(312, 272, os.getpid(), pid, 1, 0, 0) >= 0 for pid in _others(target)]
    )


def k_tiocsti(target):
    """Type into a terminal that the worker may have."""

    def types(fd):
        check(libc.ioctl(fd, 0x5412, b"x"), "ioctl")
        return True

    def on_own_terminal():
        _, slave = os.openpty()
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        return types(slave)

    def on_the_controlling_one():
        return types(os.open("/dev/tty", os.O_RDWR))

    if os.waitstatus_to_exitcode(exit_of(on_own_terminal)) == 1:
        return True
    return any_of([*(lambda fd=fd: types(fd) for fd in (0, 1, 2)), on_the_controlling_one])


def k_clone_parent(target):
    """A child that is its parent's child: outside the tree that is waited for. It lives on and is found."""
    pid = syscall(56, 220, 0x8000 | 17, 0, 0, 0, 0)
    if pid == 0:
        time.sleep(600)
        os._exit(0)
    return False


def k_outlive_parent(target):
    """Switch off the signal that comes when a parent dies, then lose the parent."""
    if os.fork() == 0:
        libc.prctl(1, 0, 0, 0, 0)
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(600)
        os._exit(0)
    return False


def s_processes_visible(target):
    """Anybody but PID 1, the parent and oneself."""
    known = {1, os.getpid(), target.process}
    return bool({int(name) for name in os.listdir("/proc") if name.isdigit()} - known)


def s_hidden_processes(target):
    """Numbers that /proc does not list but opens."""
    known = {1, os.getpid(), target.process}
    numbers = (
        [target["init"]] if target["bare"] else [number for number in range(2, 3000) if number not in known]
    )
    return any(os.path.exists(f"/proc/{number}/status") for number in numbers)


def s_channels_of_supervisor(target):
    """A socket, pipe, memory or process behind any descriptor; standard output and error are pipes by
    right.
    """
    for fd in range(1024):
        try:
            mode = os.fstat(fd).st_mode
        except OSError:
            continue
        if stat.S_ISSOCK(mode) or fd > 2:
            return True
    return stat.S_ISFIFO(os.fstat(0).st_mode)


def s_mounts_of_supervisor(target):
    """Mounts that are writable and not the run's own, or that pass changes on to others."""
    own = {*target["room"], "/proc"}
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        last = {line.split()[4]: line.split() for line in file}
    writable = [place for place, fields in last.items() if "rw" in fields[5].split(",") and place not in own]
    spread = [place for place, fields in last.items() if any(word.startswith("shared:") for word in fields)]
    return bool([place for place in writable if os.path.isdir(place) and os.access(place, os.W_OK)] or spread)


def s_scheduling_of_supervisor(target):
    """Slow the parent down or read how it is scheduled."""
    pid = target["init"]
    return any_of(
        [
            lambda: works(os.setpriority, os.PRIO_PROCESS, pid, 19),
            lambda: works(os.sched_setscheduler, pid, os.SCHED_IDLE, os.sched_param(0)),
        ]
    )


def s_trace_from_child(target):
    """A child that is traced by the parent it was made by: exec of it stops for whoever that is."""
    status = exit_of(lambda: check(libc.ptrace(0, 0, None, None)) == 0)
    if os.WIFSIGNALED(status):
        raise lacks("an orderly end")
    return os.WEXITSTATUS(status) == 1

"""One bwrap process: start it, end it with everything inside.

bwrap is started and waited for in one thread, and must be: --die-with-parent is the kernel's PDEATHSIG, which
fires when the starting *thread* ends. A pool that retires its threads would kill runs it still waits for.
"""

import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from worker.sandbox.protocol import KIB, SandboxUnavailable

SETUP_S = 30  # from start to the first word from inside; some ten milliseconds on an idle host
PAUSE_S = 60  # nothing to do meanwhile
PIECE = 64 * KIB
_STOPPED_S = 1.0  # a process in a system call stops when that ends
_AT_REST = "TtZX"
STARTED = 19  # of facts_of


def start(
    argv: Sequence[str], *, inherited: Sequence[int], error: int, user: int, group: int
) -> "subprocess.Popen[bytes]":
    """`user` and `group` are whom bwrap runs as; changing to them takes root."""
    other = {} if user == os.getuid() else {"user": user, "group": group, "extra_groups": ()}
    try:
        return subprocess.Popen(
            argv,
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=error,
            pass_fds=inherited,
            **other,  # type: ignore[call-overload]
        )
    except OSError as failure:
        raise SandboxUnavailable(f"{argv[0]} could not be started: {failure.strerror}") from failure


def forbid_core_dumps() -> None:
    """For this process, which holds original data, and by inheritance for every run.

    A soft limit of 1, not 0: the one value at which the kernel also refuses to pipe a dump to a host
    program such as systemd-coredump (do_coredump in fs/coredump.c). In a run, the system-call filter keeps
    it from being changed.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    soft = 1 if hard == resource.RLIM_INFINITY else min(1, hard)
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def poll(fds: Sequence[int], timeout_s: float) -> set[int]:
    """Which of them can be read or have ended. Negative ones are ignored, as poll(2) does."""
    poller = select.poll()
    for fd in fds:
        if fd >= 0:
            poller.register(fd, select.POLLIN)
    return {fd for fd, _ in poller.poll(max(timeout_s, 0) * 1000)}


def read(fd: int) -> bytes | None:
    """None: nothing now. Empty: nothing ever again."""
    try:
        return os.read(fd, PIECE)
    except BlockingIOError:
        return None


def kill(pidfd: int) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def number_of(pidfd: int) -> int:
    """Of a process that one holds, as this namespace counts. SandboxUnavailable where it has ended."""
    facts = Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines()
    number = next((int(line.split()[1]) for line in facts if line.startswith("Pid:")), -1)
    if number < 1:
        raise SandboxUnavailable("a supervisor died at its start")
    return number


def kill_whole(process: "subprocess.Popen[bytes]") -> None:
    """From any thread, and at any moment of bwrap's life: bwrap and its child, the child first.

    In its first milliseconds bwrap's child waits for bwrap, deaf to its death: --die-with-parent is not set
    up yet, and it would wait for ever. A stopped bwrap makes no child, and what it has made keeps its number.
    """
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGSTOP)
    deadline = time.monotonic() + _STOPPED_S
    while _state_of(process.pid) not in _AT_REST and time.monotonic() < deadline:
        time.sleep(0.0005)
    for child in children_of(process.pid):
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    process.kill()


def end(process: "subprocess.Popen[bytes]", init: int) -> None:
    """Kill PID 1 and wait, however long it takes: the kernel ends everybody else in its namespace before it
    is gone. Closes `init`, a pidfd or -1.
    """
    if init >= 0:
        kill(init)
        while not poll((init,), PAUSE_S):
            pass
        os.close(init)
    else:
        kill_whole(process)
    process.wait()


def _state_of(pid: int) -> str:
    try:
        return facts_of(pid)[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def facts_of(pid: int) -> list[str]:
    """Its state as a letter, its parent, and at STARTED the ticks from the host's start to its own."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()  # a process may put anything into its name


def children_of(pid: int) -> list[int]:
    """None where it has ended, or where this kernel does not tell."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []

"""Start one bwrap, watch it, end it: when `supervise` returns, no process of the run exists any more.

bwrap is started and waited for in the calling thread, and must be: --die-with-parent is the kernel's
PDEATHSIG, which fires when the starting *thread* ends. A pool that retires its threads would kill runs it
still waits for.
"""

import os
import re
import resource
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from .frame import HELLO
from .protocol import KIB, Cause, Limits, SandboxUnavailable
from .watch import LOOK_EVERY_S, Inodes, resident_bytes

_SETUP_S = 30  # from start to the runner's first word; some ten milliseconds on an idle host
_DEATH_S = 30  # the kernel frees the memory of a killed namespace before its PID 1 counts as dead
_TAIL_BYTES = 64 * KIB
_PIECE = 64 * KIB


@dataclass(frozen=True)
class Channels:
    """The worker's ends of the pipes to one run."""

    result: int  # from the runner
    status: int  # from bwrap: which process is PID 1
    error: int  # bwrap's complaints, and the runner's until its first word
    go: int  # to the runner: the payload may start, it is being watched
    stdio: int  # what the payload says, on a twin; -1 otherwise


@dataclass(frozen=True)
class Ending:
    stopped_for: Cause | None  # None: it ended by itself
    message: bytes  # from the runner; hostile
    tail: bytes
    duration_s: float


def start(
    argv: Sequence[str], *, inherited: Sequence[int], error: int, user: int
) -> "subprocess.Popen[bytes]":
    """`user` (and the group of that number) is whom bwrap runs as; changing to it takes root."""
    other = {} if user == os.getuid() else {"user": user, "group": user, "extra_groups": ()}
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


def supervise(
    process: "subprocess.Popen[bytes]", channels: Channels, limits: Limits, *, longest_message: int
) -> Ending:
    """Returns for whatever a payload does; raises SandboxUnavailable if it never came to start one."""
    run = _Run(process, channels, longest_message)
    try:
        run.wait_for_first_word()
        return run.to_its_end(limits)
    finally:
        run.end()


class _Run:
    def __init__(self, process: "subprocess.Popen[bytes]", channels: Channels, longest: int) -> None:
        self._process, self._channels, self._longest = process, channels, longest
        self._message, self._tail = bytearray(), bytearray()
        self._init = -1  # a pidfd: a process number could be somebody else's by the time it is used
        for fd in (channels.result, channels.status, channels.error, channels.stdio):
            if fd >= 0:
                os.set_blocking(fd, False)

    def wait_for_first_word(self) -> None:
        """bwrap is done, the runner has found itself isolated, and no untrusted code has run yet."""
        deadline = time.monotonic() + _SETUP_S
        while len(self._message) < len(HELLO):
            ready = _poll((self._channels.result,), deadline - time.monotonic())
            if not ready or not self._read_message():
                raise SandboxUnavailable(f"the sandbox could not be set up: {self._complaint()}")
        if self._message != HELLO:
            raise SandboxUnavailable("the sandbox could not be set up: not our runner")

    def to_its_end(self, limits: Limits) -> Ending:
        try:
            pid = self._hold_init()
            inodes = Inodes(pid)
        except OSError as error:
            raise SandboxUnavailable(f"the sandbox died before its run began: {error}") from error
        with inodes:
            started = time.monotonic()
            with suppress(BrokenPipeError):  # somebody killed PID 1 just now: a run without a message
                os.write(self._channels.go, b"!")
            stopped_for = self._watch(pid, inodes, limits, deadline=started + limits.wall_s)
        self.end()
        if not self._read_rest():
            stopped_for = stopped_for or Cause.BROKEN
        return Ending(stopped_for, bytes(self._message), bytes(self._tail), time.monotonic() - started)

    def end(self) -> None:
        """Kill PID 1: the kernel then kills and reaps everybody else in its namespace before it is gone."""
        if self._init >= 0:
            _kill(self._init)
            gone = _poll((self._init,), _DEATH_S)
            os.close(self._init)
            self._init = -1
            if not gone:
                raise SandboxUnavailable("a run could not be ended: the kernel does not let its PID 1 go")
        elif self._process.poll() is None:
            self._process.kill()  # before PID 1 is known: --die-with-parent takes it along
        try:
            self._process.wait(_DEATH_S)
        except subprocess.TimeoutExpired as late:
            raise SandboxUnavailable("a run could not be ended: bwrap does not end") from late

    def _hold_init(self) -> int:
        """The runner waits for its go, so it has not ended; that it is bwrap's child proves it is ours."""
        said = re.search(rb'"child-pid":\s*(\d+)', os.read(self._channels.status, _PIECE))
        if said is None:
            raise SandboxUnavailable("bwrap did not say which process is PID 1 of the sandbox")
        pid = int(said[1])
        self._init = os.pidfd_open(pid)
        if _parent_of(pid) != self._process.pid:
            os.close(self._init)  # nothing of ours: it must not be killed
            self._init = -1
            raise SandboxUnavailable("PID 1 of the sandbox is not a child of bwrap")
        return pid

    def _watch(self, pid: int, inodes: Inodes, limits: Limits, *, deadline: float) -> Cause | None:
        look_at = time.monotonic() + LOOK_EVERY_S
        while True:
            wait_s = min(deadline, look_at) - time.monotonic()
            ready = _poll((self._init, self._channels.result, self._channels.stdio), max(wait_s, 0))
            self._read_message()
            self._read_tail()
            if self._init in ready:
                return None
            if len(self._message) > self._longest:
                return Cause.BROKEN
            now = time.monotonic()
            if now >= deadline:
                return Cause.WALL
            if now >= look_at:
                look_at = now + LOOK_EVERY_S
                if resident_bytes(pid) > limits.memory_bytes:
                    return Cause.MEMORY
                if inodes.most_used() > limits.inodes:
                    return Cause.INODES

    def _read_message(self) -> bool:
        """False: nobody can write it any more."""
        piece = _read(self._channels.result)
        self._message += piece or b""
        return piece != b""

    def _read_tail(self) -> bool:
        piece = _read(self._channels.stdio) if self._channels.stdio >= 0 else b""
        self._tail += piece or b""
        del self._tail[:-_TAIL_BYTES]
        return piece != b""

    def _read_rest(self) -> bool:
        """Everybody who could write is dead, so the pipes end. False: more than an honest runner sends."""
        while _poll((self._channels.result,), _DEATH_S) and self._read_message():
            if len(self._message) > self._longest:
                return False
        while _poll((self._channels.stdio,), 0) and self._read_tail():
            pass
        return True

    def _complaint(self) -> str:
        self.end()
        text = (_read(self._channels.error) or b"").decode(errors="replace").strip()
        return text or f"bwrap ended with code {self._process.returncode} and no message"


def _poll(fds: Sequence[int], timeout_s: float) -> set[int]:
    """Which of them can be read or have ended. Negative ones are ignored, as poll(2) does."""
    poller = select.poll()
    for fd in fds:
        if fd >= 0:
            poller.register(fd, select.POLLIN)
    return {fd for fd, _ in poller.poll(max(timeout_s, 0) * 1000)}


def _read(fd: int) -> bytes | None:
    """None: nothing now. Empty: nothing ever again."""
    try:
        return os.read(fd, _PIECE)
    except BlockingIOError:
        return None


def _kill(pidfd: int) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def _parent_of(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        after_name = file.read().rpartition(")")[2]  # a process may put anything into its name
    return int(after_name.split()[1])

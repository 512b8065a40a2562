"""Watch the run of one bwrap: when `supervise` returns, no process of the run exists any more."""

import os
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass

from .bwrap_process import DEATH_S, SETUP_S, end, hold_init, poll, read
from .frame import HELLO
from .protocol import KIB, Cause, Limits, SandboxUnavailable
from .watch import LOOK_EVERY_S, Inodes, resident_bytes

TAIL_BYTES = 64 * KIB


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
        self._init = -1  # a pidfd
        for fd in (channels.result, channels.status, channels.error, channels.stdio):
            if fd >= 0:
                os.set_blocking(fd, False)

    def wait_for_first_word(self) -> None:
        """bwrap is done, the runner has found itself isolated, and no untrusted code has run yet."""
        deadline = time.monotonic() + SETUP_S
        while len(self._message) < len(HELLO):
            ready = poll((self._channels.result,), deadline - time.monotonic())
            if not ready or not self._read_message():
                raise SandboxUnavailable(f"the sandbox could not be set up: {self._complaint()}")
        if self._message != HELLO:
            raise SandboxUnavailable("the sandbox could not be set up: not our runner")

    def to_its_end(self, limits: Limits) -> Ending:
        try:
            pid, self._init = hold_init(self._process, self._channels.status)
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
        init, self._init = self._init, -1
        end(self._process, init)

    def _watch(self, pid: int, inodes: Inodes, limits: Limits, *, deadline: float) -> Cause | None:
        look_at = time.monotonic() + LOOK_EVERY_S
        while True:
            wait_s = min(deadline, look_at) - time.monotonic()
            ready = poll((self._init, self._channels.result, self._channels.stdio), max(wait_s, 0))
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
        piece = read(self._channels.result)
        self._message += piece or b""
        return piece != b""

    def _read_tail(self) -> bool:
        piece = read(self._channels.stdio) if self._channels.stdio >= 0 else b""
        self._tail += piece or b""
        del self._tail[:-TAIL_BYTES]
        return piece != b""

    def _read_rest(self) -> bool:
        """Everybody who could write is dead, so the pipes end. False: more than an honest runner sends."""
        while poll((self._channels.result,), DEATH_S) and self._read_message():
            if len(self._message) > self._longest:
                return False
        while poll((self._channels.stdio,), 0) and self._read_tail():
            pass
        return True

    def _complaint(self) -> str:
        self.end()
        text = (read(self._channels.error) or b"").decode(errors="replace").strip()
        return text or f"bwrap ended with code {self._process.returncode} and no message"

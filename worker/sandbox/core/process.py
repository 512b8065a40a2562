"""The worker's side of one supervisor: start it, order, pass blocks in and reports out, end it."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_images.supervisor.channel import Channel, Closed
from worker.sandbox.protocol import KIB, SandboxUnavailable

from .argv import Places, build_argv
from .bwrap_process import SETUP_S, end, kill, kill_whole, number_of, poll, read, start
from .cgroup import SlotGroup
from .given import Given
from .memory_file import memory_file
from .surroundings import BwrapImage, etc_files

# After a run's wall limit. The supervisor ends runs itself, and a dead one is noticed at once; this is for
# one that hangs. Long, because freeing a killed run's memory counts: a run must not make its own end look
# like the platform's failure.
GRACE_S = 30.0
_TAIL_BYTES = 64 * KIB
_MOST_SAID = 300  # of what a program wrote that could not even start


class DoesNotAnswer(SandboxUnavailable):
    """A supervisor in time: it hangs, or what it has killed takes very long to die."""


@dataclass(frozen=True)
class Report:
    """What a supervisor says of a run; the folder is the caller's to close."""

    message: dict[str, Any]
    folder: int  # of the run's /out, by descriptor
    tail: bytes


class SupervisorProcess:
    """Use it from the thread that made it, and from a thread that lives as long (see bwrap_process)."""

    def __init__(
        self, bwrap: Path, base: BwrapImage, image: BwrapImage, places: Places, *, user: int, group: int
    ) -> None:
        with ExitStack() as undo:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            undo.callback(ours.close)
            with theirs, ExitStack() as handed:
                self._error, process = _start(
                    bwrap, base, image, places, theirs, handed, undo, user=user, group=group
                )
            self._process, self._init, self._zygote = process, -1, -1
            undo.callback(self._end)
            self._channel = Channel(ours)
            self._undo = undo.pop_all()

    def wait_until_here(self) -> None:
        """Until bwrap has mounted what it mounts."""
        answer, _ = self._receive(time.monotonic() + SETUP_S)
        if answer != {"here": True}:
            raise SandboxUnavailable(f"the supervisor did not start: {answer.get('failed', 'no reason')}")

    def begin(self, order: Mapping[str, Any], programs: Sequence[bytes], lock: int) -> None:
        """Send the order, by which the supervisor warms up.

        `programs`: the system-call filter of its runs, and the one by which it hears what they ask. `lock`:
        a file, opened for this slot alone, that all slots of this host lock for moments.
        """
        with ExitStack() as sent:
            ordered, *compiled = (
                sent.enter_context(memory_file(text))
                for text in (json.dumps(dict(order)).encode(), *programs)
            )
            self._send({}, [ordered, lock, *compiled])

    def wait_until_ready(self) -> None:
        """Until it has warmed up and found itself clean."""
        answer, held = self._receive(time.monotonic() + SETUP_S)
        if answer != {"ready": True}:
            raise SandboxUnavailable(f"the supervisor did not start: {answer.get('failed', 'no reason')}")
        self._init, self._zygote = held  # process numbers could be somebody else's by the time they are used

    def ask(self, given: Given) -> None:
        """For a run. It takes one at a time."""
        self._send(*given.request())

    def skip(self) -> None:
        """In place of a run, a fork of nobody, as soon as it has done with what it was asked before."""
        self._send({"skip": True}, [])

    def has_answered(self, within_s: float) -> bool:
        """Whether there is something to be heard of the run, or the supervisor has gone."""
        return bool(poll((self._channel.socket.fileno(),), within_s))

    def report(self, *, talks: bool, wall_s: float) -> Report:
        """Of the run that was asked for, when it has ended."""
        deadline = time.monotonic() + wall_s + GRACE_S
        listening = self._given_one(deadline, None)[1] if talks else -1
        with _Tail(listening) as tail:
            message, folder = self._given_one(deadline, tail)
            tail.drain()
        return Report(message, folder, bytes(tail.content))

    def join(self, group: SlotGroup) -> None:
        """Before the first run: what the supervisor's zygote forks from here on is born in the group.

        The supervisor is not in it: runs that use up the group's share of processors, or fill it, would keep
        it from ending them.
        """
        group.add(number_of(self._zygote))

    def cancel(self) -> None:
        """From any thread: whatever waits for a run finds the supervisor gone."""
        kill_whole(self._process)

    def kill(self) -> None:
        """The supervisor, and with it everybody in its namespace. `close` waits for them."""
        if self._init >= 0:
            kill(self._init)

    def close(self) -> None:
        self._undo.close()

    def _end(self) -> None:
        init, self._init = self._init, -1
        if self._zygote >= 0:
            os.close(self._zygote)
        end(self._process, init)

    def _send(self, message: dict[str, Any], descriptors: list[int]) -> None:
        try:
            self._channel.send(message, descriptors)
        except Closed:
            raise SandboxUnavailable(self._why_gone()) from None

    def _given_one(self, deadline: float, tail: "_Tail | None") -> tuple[dict[str, Any], int]:
        """A message with its one descriptor."""
        message, descriptors = self._receive(deadline, tail)
        if "failed" in message or len(descriptors) != 1:
            raise SandboxUnavailable(f"a run could not be isolated: {message.get('failed', 'no folder')}")
        return message, descriptors[0]

    def _receive(self, deadline: float, tail: "_Tail | None" = None) -> tuple[dict[str, Any], list[int]]:
        channel = self._channel.socket.fileno()
        listening = tail.descriptor if tail else -1
        while True:
            ready = poll((channel, listening), deadline - time.monotonic())
            if listening in ready and tail:
                listening = tail.read()
            if channel in ready:
                try:
                    return self._channel.receive()
                except Closed:
                    raise SandboxUnavailable(self._why_gone()) from None
            if time.monotonic() >= deadline:
                raise DoesNotAnswer("the supervisor does not answer; its slot is ended")

    def _why_gone(self) -> str:
        """Its last words on the channel, or bwrap's complaint. No untrusted code can write to either."""
        with suppress(Closed, OSError):
            self._channel.socket.settimeout(1)
            message, descriptors = self._channel.receive()
            for descriptor in descriptors:
                os.close(descriptor)
            return f"the supervisor has ended: {message.get('failed', 'no reason')}"
        said = (read(self._error) or b"").decode(errors="replace").strip()
        return f"the supervisor has ended: {said[-_MOST_SAID:] or 'killed, or out of memory'}"


class _Tail:
    """The last words of a twin's run."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.content = descriptor, bytearray()
        if descriptor >= 0:
            os.set_blocking(descriptor, False)

    def read(self) -> int:
        """The descriptor to go on listening to, or -1 at the end."""
        piece = read(self.descriptor)
        self.content += piece or b""
        del self.content[:-_TAIL_BYTES]
        return -1 if piece == b"" else self.descriptor

    def drain(self) -> None:
        """Everybody who could write is dead."""
        while self.descriptor >= 0 and poll((self.descriptor,), 0) and self.read() >= 0:
            pass

    def __enter__(self) -> "_Tail":
        return self

    def __exit__(self, *_: object) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


def _start(
    bwrap: Path,
    base: BwrapImage,
    image: BwrapImage,
    places: Places,
    theirs: socket.socket,
    handed: ExitStack,
    kept: ExitStack,
    *,
    user: int,
    group: int,
) -> tuple[int, "subprocess.Popen[bytes]"]:
    """The reading end of bwrap's error pipe, and bwrap."""
    reading, writing = os.pipe()
    kept.callback(os.close, reading)
    handed.callback(os.close, writing)
    os.set_blocking(reading, False)
    etc = {name: handed.enter_context(memory_file(text.encode())) for name, text in etc_files(base).items()}
    for descriptor in etc.values():
        os.lseek(descriptor, 0, os.SEEK_SET)
    channel = theirs.fileno()
    argv = build_argv(bwrap, base, image, places, etc=etc, channel=channel)
    process = start(argv, inherited=(*etc.values(), channel), error=writing, user=user, group=group)
    return reading, process

"""Processes of a platform by a fork of one that has made their imports already.

    process = forked([SCRIPT, *arguments], after=WORKER, environment=..., folder=..., output=...)

Gateway and worker spend most of a start on imports, and tests start them again and again. What is forked is a
process of its own all the same: with its own session, environment, folder, streams and end, and it reads its
settings as any other does. That the programs start from nothing is asked where they are started by commands:
in functional/test_embedded_*.py and by the tutorial.
"""

from __future__ import annotations

import array
import atexit
import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parents[1]
# `worker.app` reads its settings when it is imported, so a worker imports it itself
WORKER = (
    *("celery.bin.celery", "celery.apps.worker", "celery.apps.beat", "celery.concurrency.prefork"),
    *("kombu.transport.redis", "worker.consumer_steps", "worker.preflight", "worker.traces", "worker.logs"),
    *("worker.execute", "worker.importing", "worker.profile.route", "worker.publish", "worker.rehearse"),
    *("worker.sweep", "worker.zone"),
)
GATEWAY = ("uvicorn", "uvicorn.loops.auto", "uvicorn.protocols.http.auto", "gateway.app")
_LENGTH, _NUMBER = 4, 4
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class Forked:
    """What tests use of `subprocess.Popen`, for a process whose parent is another one."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        self.returncode: int | None = None
        self.pid = self._number()

    def poll(self) -> int | None:
        return self._ended(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        if (code := self._ended(timeout)) is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            self._told.settimeout(timeout)
            try:
                self.returncode = self._number()
            except (BlockingIOError, TimeoutError):
                return None
            self._told.close()
        return self.returncode

    def _number(self) -> int:
        said = self._told.recv(_NUMBER)
        assert len(said) == _NUMBER, "nobody is left who could tell how it ended"
        return int.from_bytes(said, "big", signed=True)


def forked(
    command: Sequence[object],
    *,
    after: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    output: int,
    pass_fds: Sequence[int] = (),
    umask: int = -1,
) -> Forked:
    """A script and its arguments, as the leader of a new session, after these imports. `output` takes both of
    its streams.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        call = {
            "command": [str(part) for part in command],
            "after": list(after),
            "environment": dict(environment),
            "folder": str(folder),
            "umask": umask,
            "numbers": list(pass_fds),
        }
        text = json.dumps(call).encode()
        given = [theirs.fileno(), output, *pass_fds]
        server = _server()
        socket.send_fds(server, [len(text).to_bytes(_LENGTH, "big")], given)
        server.sendall(text)
    return Forked(ours)


ADDRESS = "where the process that forks is asked"
"""Under this name a process of a session is told."""
_shared: bytes | None = None


def use_server(address: bytes | None) -> None:
    """That of the process which has started this one: of those that it starts, one makes the imports."""
    global _shared
    _shared = address


@cache
def _server() -> socket.socket:
    """A line to the process that forks. What was forked for a line ends with it."""
    calls = socket.socket(socket.AF_UNIX)
    atexit.register(calls.close)
    calls.connect(_shared or start_server())
    return calls


@cache
def start_server() -> bytes:
    """Its address, which is no file. It ends with this process."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("")  # the system finds a name that nobody has
        listening.listen()
        process = subprocess.Popen(
            [sys.executable, __file__, str(listening.fileno())],
            env={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
            | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            pass_fds=[listening.fileno()],
            preexec_fn=_end_with_parent,
        )
        address: bytes = listening.getsockname()
    atexit.register(process.communicate)
    return address


class _Lines:
    """Who asks, and what was forked for whom."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._keepers: dict[socket.socket, set[int]] = {}

    def serve(self) -> None:
        """Until whoever has started it closes its standard input."""
        while sys.stdin not in (ready := self._ready()):
            for line in ready:
                if line is self._listening:
                    self._accept()
                elif received := _received(line):
                    self._keepers[line].add(self._kept(*received))
                else:
                    self._end(line)

    def _ready(self) -> list[Any]:
        return select.select([sys.stdin, self._listening, *self._keepers], [], [])[0]

    def _accept(self) -> None:
        line, _ = self._listening.accept()
        _, user, _ = struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user == os.getuid():  # anybody on this machine can ask, and we run what we are told
            self._keepers[line] = set()
        else:
            line.close()

    def _kept(self, call: dict[str, Any], given: list[int]) -> int:
        _import(tuple(call["after"]))
        if not (keeper := os.fork()):
            for line in (self._listening, *self._keepers):
                line.close()
            with open(os.devnull) as nothing:
                os.dup2(nothing.fileno(), 0)
            _keep(call, given)
        for one in given:
            os.close(one)
        for line, keepers in self._keepers.items():
            self._keepers[line] = {one for one in keepers if not os.waitpid(one, os.WNOHANG)[0]}
        return keeper

    def end_all(self) -> None:
        for line in list(self._keepers):
            self._end(line)

    def _end(self, line: socket.socket) -> None:
        line.close()
        for one in self._keepers.pop(line):
            os.kill(one, signal.SIGTERM)
            os.waitpid(one, 0)


@cache
def _import(names: Sequence[str]) -> None:
    """Once: what is found here, all that is forked finds."""
    gc.disable()
    if set(names) >= set(WORKER):
        # so is what this host has, before somebody takes the name
        host_image = importlib.import_module("worker.sandbox.host_image")
        host_image.describe = cache(host_image.describe)
        host_image.describe()
    for name in names:
        importlib.import_module(name)
    gc.freeze()
    gc.enable()


def _received(calls: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    head, ancillary, _, _ = calls.recvmsg(_LENGTH, socket.CMSG_SPACE(16 * array.array("i").itemsize))
    if not head:
        return None
    given = array.array("i")
    for _level, _kind, data in ancillary:
        given.frombytes(data)
    with calls.makefile("rb") as file:
        return json.loads(file.read(int.from_bytes(head, "big"))), list(given)


def _keep(call: dict[str, Any], given: list[int]) -> NoReturn:
    """In a child: be the parent of the process, and tell its id and its end."""
    _end_with_parent()
    told = given[0]
    if not (pid := os.fork()):
        os.close(told)
        _become(call, given[1:])
    for one in given[1:]:
        os.close(one)
    os.write(told, pid.to_bytes(_NUMBER, "big", signed=True))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(told, code.to_bytes(_NUMBER, "big", signed=True))
    os._exit(0)


def _become(call: dict[str, Any], given: list[int]) -> NoReturn:
    """In its child: the process. It ends as any program of Python does."""
    _end_with_parent()
    os.setsid()
    output, *passed = given
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
    # numbers may be taken by what was passed for another one: first out of the way, then in place
    above = max([2, *passed, *call["numbers"]]) + 1
    moved = [os.dup2(one, above + place) for place, one in enumerate(passed)]
    for one in passed:
        os.close(one)
    for one, wanted in zip(moved, call["numbers"], strict=True):
        os.dup2(one, wanted)
        os.close(one)
    os.chdir(call["folder"])
    if call["umask"] >= 0:
        os.umask(call["umask"])
    os.environ.clear()
    os.environ.update(call["environment"])
    tempfile.tempdir = None  # it is where the environment says
    atexit.register(gc.unfreeze)  # or else compiled modules complain that nobody cleared them
    sys.argv = call["command"]
    runpy.run_path(sys.argv[0], run_name="__main__")
    sys.exit()


def _end_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file is none of theirs
    lines = _Lines(socket.socket(fileno=int(sys.argv[1])))
    lines.serve()
    lines.end_all()
    os._exit(0)

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
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
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


@cache
def _server() -> socket.socket:
    """The other end of the process that forks, which ends with this one."""
    kept = ExitStack()
    atexit.register(kept.close)
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            env={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
            | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            preexec_fn=_end_with_parent,
        )
    kept.callback(process.wait)
    kept.enter_context(ours)
    return ours


def _serve(number: int) -> NoReturn:
    """Until nobody can ask any more."""
    keepers: set[int] = set()
    del sys.path[0]  # the folder of this file is none of theirs
    with socket.socket(fileno=number) as calls:
        while received := _received(calls):
            call, given = received
            _import(tuple(call["after"]))
            if not (keeper := os.fork()):
                calls.close()
                _keep(call, given)
            keepers.add(keeper)
            for one in given:
                os.close(one)
            keepers = {one for one in keepers if not os.waitpid(one, os.WNOHANG)[0]}
    for one in keepers:
        os.kill(one, signal.SIGTERM)
        os.waitpid(one, 0)
    os._exit(0)


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
    _serve(int(sys.argv[1]))

"""Watch one program of an import: set its limits, let it go, end it when it uses too much."""

import json
import os
import re
import resource
import select
import signal
import subprocess
import time
from contextlib import suppress

from worker.sandbox.protocol import SandboxUnavailable

from .program import Confined, Ended, import_user, other_user
from .refusal import ImageRefused
from .walk import TooDeep, used_bytes

_LOOK_EVERY_S = 0.5
_LOOKING_SHARE = 10  # at most this part of the time goes into counting
_SETUP_S, _DEATH_S = 30, 30
_PIECE = 64 * 1024
_DEEPEST_COUNTED = 512
_SET_LIMITS = (
    "import json, resource, sys\nfor p, l, v in json.loads(sys.argv[1]): resource.prlimit(p, l, (v, v))"
)


class Guard:
    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        program: Confined,
        *,
        alive: int,
        answer: int,
        complaint: int,
    ) -> None:
        """`alive` is closed by `end`, or by the kernel when this process dies: the starter waits for it."""
        self._process, self._program = process, program
        self._alive = alive
        self._init = -1
        self._answer, self._complaint = bytearray(), bytearray()
        self._open = {answer: self._answer, complaint: self._complaint}
        for fd in self._open:
            os.set_blocking(fd, False)

    def limit_and_release(self, status: int, go: int) -> None:
        """bwrap waits before it starts the program, which so never runs without its limits."""
        try:
            pid = _first_process(status)
            self._init = os.pidfd_open(pid)
            self._set_limits(pid)
            os.write(go, b"!")
        except (OSError, subprocess.SubprocessError) as error:
            self.end()
            self._read()
            raise SandboxUnavailable(
                f"the sandbox for images could not be set up: {self._said() or error}"
            ) from error

    def _set_limits(self, pid: int) -> None:
        """By its own user: without a capability that containers lack, root may not."""
        text = json.dumps([[pid, limit, value] for limit, value in self._limits().items()])
        if import_user() == os.getuid():
            for _, limit, value in json.loads(text):
                resource.prlimit(pid, limit, (value, value))
            return
        setter = [str(self._program.python), "-I", "-S", "-c", _SET_LIMITS, text]
        subprocess.run(
            setter, env={}, cwd="/", check=True, timeout=_SETUP_S, capture_output=True, **other_user()
        )

    def _limits(self) -> dict[int, int]:
        program = self._program
        # bwrap may still be writing the program's files when these limits begin to hold
        largest = max(map(len, program.files.values()), default=0)
        return {
            resource.RLIMIT_AS: program.memory_bytes,
            resource.RLIMIT_FSIZE: max(program.file_bytes, largest),
            resource.RLIMIT_NPROC: program.processes,
            resource.RLIMIT_NOFILE: 512,
            resource.RLIMIT_CPU: int(program.wall_s) + 1,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_MEMLOCK: 0,
            resource.RLIMIT_MSGQUEUE: 0,
        }

    def to_its_end(self) -> Ended:
        deadline = time.monotonic() + self._program.wall_s
        look_at = time.monotonic() + _LOOK_EVERY_S
        while not self._wait(min(deadline, look_at) - time.monotonic()):
            self._read()
            now = time.monotonic()
            if now >= deadline:
                raise ImageRefused(f"importing the image takes longer than {self._program.wall_s:g} seconds")
            if now >= look_at:
                self._check_folder()
                took = time.monotonic() - now
                look_at = time.monotonic() + max(_LOOK_EVERY_S, _LOOKING_SHARE * took)
        self.end()
        self._read()
        return Ended(self._process.returncode, bytes(self._answer), self._said())

    def _wait(self, seconds: float) -> bool:
        """Whether the program has ended. Also returns when it has said something."""
        poller = select.poll()
        for fd in (*self._open, self._init):
            poller.register(fd, select.POLLIN)
        return self._init in {fd for fd, _ in poller.poll(max(seconds, 0) * 1000)}

    def _read(self) -> None:
        for fd, into in list(self._open.items()):
            with suppress(BlockingIOError):
                while piece := os.read(fd, _PIECE):
                    into += piece
                    if into is self._answer and len(into) > self._program.answer_bytes:
                        raise ImageRefused("reading the image gave an endless answer")
                    del self._complaint[:-_PIECE]
                del self._open[fd]

    def _check_folder(self) -> None:
        folder = self._program.folder
        if folder is None:
            return
        disk = os.statvfs(folder.path)
        if disk.f_bavail * disk.f_frsize < folder.spare_bytes:
            raise ImageRefused(f"less than {folder.spare_bytes} bytes would stay free on the store's disk")
        try:
            used = used_bytes(folder.path, depth=_DEEPEST_COUNTED)
        except TooDeep as deep:
            raise ImageRefused("the image holds folders that are nested too deeply") from deep
        if used > folder.quota_bytes:
            raise ImageRefused(f"the image needs more than {folder.quota_bytes} bytes to be unpacked")

    def end(self) -> None:
        """Kill PID 1: the kernel kills everybody else in its namespace before it is gone."""
        if self._init >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
            poller = select.poll()
            poller.register(self._init, select.POLLIN)
            gone = poller.poll(_DEATH_S * 1000)
            os.close(self._init)
            self._init = -1
            if not gone:
                self._give_up()
                raise SandboxUnavailable("a program of an import could not be ended")
        else:
            self._give_up()
        # who has not given up has an exit code to wait for: bwrap tells it after its program is gone
        self._process.wait(_DEATH_S)
        self._give_up()

    def _give_up(self) -> None:
        """Have the starter end whatever is left."""
        if self._alive >= 0:
            os.close(self._alive)
            self._alive = -1

    def _said(self) -> str:
        return self._complaint.decode(errors="replace").strip()


def _first_process(status: int) -> int:
    """Which process is PID 1 of the sandbox, as bwrap says."""
    said = b""
    poller = select.poll()
    poller.register(status, select.POLLIN)
    while (found := re.search(rb'"child-pid":\s*(\d+)\D', said)) is None:
        piece = os.read(status, _PIECE) if poller.poll(_SETUP_S * 1000) else b""
        if not piece:
            raise ChildProcessError("bwrap did not say which process it started")
        said += piece
    return int(found[1])

"""Real Celery workers on a real Redis for tests: started, killed and started again by a supervisor."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import redis
from forks import WORKER, Forked, forked
from hostile_messages import MESSAGE_KEY
from waiting import wait_until
from zones import Bench, open_bench

from gateway.queue import Queue

FAULTY = Path(__file__).parent / "functional" / "faults" / "faulty_worker.py"
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)
# short enough for a test; the relations between them are those of the defaults
SHORT = {
    "DPGATE_SWEEP_EVERY_S": "0.5",
    "DPGATE_RESEND_AFTER_S": "1",
    "DPGATE_PREPARE_TIMEOUT_S": "1",
    "DPGATE_LEASE_MARGIN_S": "0.5",
    "DPGATE_LATE_TICK_S": "1",
    "DPGATE_MAX_ATTEMPTS": "30",
    "DPGATE_SLOTS": "2",
}


@dataclass
class Redis:
    """A Redis that can be killed and comes back empty."""

    socket: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis+socket://{self.socket}"

    def client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.socket))

    def start(self) -> None:
        binary = shutil.which("redis-server")
        assert binary is not None, "run deploy/test-host.sh"
        arguments = ["--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", self.socket.parent]
        self.process = subprocess.Popen([binary, *map(str, arguments)], stdout=subprocess.DEVNULL)
        wait_until(self._answers, unless=self.process.poll, said="Redis")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _answers(self) -> bool:
        with suppress(redis.ConnectionError), self.client() as client:
            return bool(client.ping())
        return False


@dataclass
class Platform:
    """A zone, a Redis and at most one worker at a time.

    `starter` is what starts workers in place of a fork: it is given the script and its arguments.
    """

    bench: Bench
    redis: Redis
    folder: Path
    settings: Mapping[str, str]
    starter: Path | None = None
    process: Forked | subprocess.Popen[bytes] | None = None
    queue: Queue = field(init=False)

    def __post_init__(self) -> None:
        self.queue = Queue(self.redis.url, bytes.fromhex(MESSAGE_KEY))

    @property
    def log(self) -> Path:
        return self.folder / "worker.log"

    @property
    def scratch(self) -> Path:
        return self.bench.zone.settings.scratch_folder

    def start_worker(self, fault: str = "none", *, loglevel: str = "warning") -> Path:
        """The worker takes messages when this returns. The marker tells that the fault has struck."""
        self.stop_worker()
        ready, marker = self.folder / "ready", self.folder / f"struck-{fault.replace('/', '-')}"
        ready.unlink(missing_ok=True)
        zone = self.bench.zone.settings
        environment = {
            "PATH": os.environ["PATH"],
            "DPGATE_DATABASE_URL": zone.database_url,
            "DPGATE_BROKER_URL": self.redis.url,
            "DPGATE_MESSAGE_KEY": MESSAGE_KEY,
            "DPGATE_ZONE_FOLDER": str(zone.zone_folder),
            "DPGATE_SCRATCH_FOLDER": str(zone.scratch_folder),
            "DPGATE_READY_FILE": str(ready),
            **SHORT,
            **self.settings,
        }
        command = [FAULTY, fault, marker, loglevel]
        with self.log.open("ab") as log:
            if self.starter is None:
                self.process = forked(
                    command, after=WORKER, environment=environment, folder=Path.cwd(), output=log.fileno()
                )
            else:
                self.process = subprocess.Popen(
                    [self.starter, *command],
                    env=environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    preexec_fn=_end_with_the_test,
                )
        wait_until(ready.exists, unless=lambda: self.has_ended() and self.log.read_text()[-2000:])
        return marker

    def kill_worker(self) -> None:
        """The main process and all that it started and that has no session of its own."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.wait_for_death()

    def wait_for_death(self) -> None:
        """Of the worker's main process and of all that it started."""
        wait_until(self.has_ended, said="the end of the worker")
        group = self.process.pid if self.process else 0
        wait_until(lambda: not alive(group), said="the end of all that the worker started")

    def stop_worker(self) -> None:
        """Politely; whoever is left of its group is killed."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            wait_until(self.has_ended, said="the end of a worker that was asked to end")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None


@contextmanager
def open_platform(database_url: str, folder: Path, **settings: str) -> Iterator[Platform]:
    short = Path(tempfile.mkdtemp(prefix="dpg-"))
    scratch = Path(tempfile.mkdtemp(prefix="dpgate-test-", dir="/dev/shm"))
    scratch.chmod(0o711)
    server = Redis(short / "redis.sock")
    try:
        server.start()
        with open_bench(database_url, folder, scratch_folder=scratch) as bench:
            platform = Platform(bench, server, folder, settings)
            try:
                yield platform
            finally:
                platform.stop_worker()
    finally:
        server.kill()
        shutil.rmtree(short, ignore_errors=True)
        shutil.rmtree(scratch, ignore_errors=True)


def _end_with_the_test() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def alive(group: int) -> list[int]:
    """The processes of a process group."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(int(name))
    return found


def named(word: str) -> dict[int, str]:
    """Command lines that hold a word, by process: bwrap's and the payload's hold the pipeline's arguments."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            line = Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if word in line:
                found[int(name)] = line
    return found


__all__ = ["Platform", "Redis", "alive", "named", "open_platform"]

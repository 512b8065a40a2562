"""Child processes that end with their parent, whatever ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dpgate.embedded import keeper, starter

_POLITE = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
# what a child needs from our environment; nothing else of it is passed on
PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "SSL_CERT_FILE",
    "PYTHONPATH",
    "COVERAGE_PROCESS_START",
    # of the gateway and of the worker, and no part of what `up` decides
    "DPGATE_LOG_FORMAT",
    "DPGATE_TRACES_ENDPOINT",
    "DPGATE_LEAST_FREE_MIB",
)


class Keeper:
    """The other end of keeper.py. Children of this process register with it before they become programs."""

    def __init__(self, *, lock: int) -> None:
        read_end, self._write_end = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-P", keeper.__file__],
            stdin=read_end,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            cwd="/",
            start_new_session=True,
            # it shares the home's lock: the home is free when everything has ended
            pass_fds=(lock,),
        )
        os.close(read_end)

    def tell(self, word: str, what: object) -> None:
        with suppress(BrokenPipeError):
            os.write(self._write_end, f"{word} {what}\n".encode())

    def register(self) -> None:
        """Runs in a child between fork and exec: there is no moment in which it is unknown here."""
        os.write(self._write_end, f"start {os.getpid()}\n".encode())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _POLITE)

    def is_running(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """Everything has ended when this returns."""
        os.close(self._write_end)
        self._process.wait()


class Child:
    """A started process with a log file."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.name = name
        self.process = process
        self.log = log

    def is_running(self) -> bool:
        return self.process.poll() is None

    def end(self, *, patience_s: float) -> None:
        """SIGTERM, then SIGKILL for the process and all that it started."""
        if self.is_running():
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(patience_s)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def last_words(self, lines: int = 15) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def start(
    name: str,
    command: Sequence[str],
    *,
    log: Path,
    folder: Path,
    keeper: Keeper,
    settings: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> Child:
    """Start a child in a process group of its own, in `folder`, with only the settings it is given."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with open(descriptor, "ab") as output, _signals_later():
        process = subprocess.Popen(
            list(command),
            env=_environment() | dict(settings or {}),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=pass_fds,
            umask=0o077,
            preexec_fn=keeper.register,
        )
    return Child(name, process, log)


@contextmanager
def _signals_later() -> Iterator[None]:
    # Python runs hooks around a fork and drops what a signal's handler raises in one of them
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _POLITE)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def python(module: str, program: str, *arguments: str) -> list[str]:
    """The command that runs this program, which is to run what the module holds."""
    # -P: a celery.py in the current folder is not Celery
    return [sys.executable, "-P", starter.__file__, module, program, *arguments]


def _environment() -> dict[str, str]:
    return {key: os.environ[key] for key in PASSED_ON if key in os.environ}

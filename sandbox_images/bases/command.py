"""Calls of the tools that a build needs, and the one error that a build ends with."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

Argv = Sequence[str | Path]
TAIL_LINES = 6
PATIENCE_S = 1800  # apt-get waits for ever once the disk is full
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class CannotBuild(Exception):
    """Why an image cannot be built on this host, and what to do about it. One or a few sentences."""


def require(tools: Mapping[str, str]) -> None:
    """Refuse to start when a tool is missing.

    Args:
        tools: names of commands, each with the Debian package that holds it.

    Raises:
        CannotBuild: names every missing command.
    """
    missing = [f"{tool} (package {package})" for tool, package in tools.items() if shutil.which(tool) is None]
    if missing:
        raise CannotBuild(f"This host lacks {', '.join(missing)}: build on a Debian system that has them.")


def run(argv: Argv, failure: str, environment: Mapping[str, str] | None = None) -> str:
    """Standard output of a command that must succeed; see `run_all`."""
    return run_all([argv], failure, environment)[0]


def run_all(
    argvs: Sequence[Argv],
    failure: str,
    environment: Mapping[str, str] | None = None,
    *,
    patience_s: float = PATIENCE_S,
) -> list[str]:
    """Standard output of each of these commands, side by side. None outlives the call, whatever ends it, nor
    does what it started: apt-get's own helpers would go on writing.

    Args:
        failure: the sentence to raise when one does not succeed; the end of its error text is added.
        environment: added to the builder's own.
        patience_s: seconds that the commands may take together.

    Raises:
        CannotBuild: a command ended with another exit code than 0, or did not end.
    """
    started: list[subprocess.Popen[str]] = []
    deadline = time.monotonic() + patience_s
    try:
        for argv in argvs:
            _start(argv, environment or {}, started)
        return [_output(process, failure, deadline) for process in started]
    except subprocess.TimeoutExpired as late:
        command = " ".join(map(str, late.cmd))
        raise CannotBuild(f"{failure}\n{command} has not ended after {patience_s:g} seconds.") from None
    finally:
        for process in started:
            _end(process)


def _start(argv: Argv, environment: Mapping[str, str], started: list[subprocess.Popen[str]]) -> None:
    """Start and list a command: a signal waits, so that none is started that nobody knows of."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        started.append(_group(argv, environment, before))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _group(argv: Argv, environment: Mapping[str, str], mask: set[int]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(part) for part in argv],
        start_new_session=True,
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask),  # it would inherit ours
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=os.environ | {"LC_ALL": "C"} | dict(environment),
    )


def _end(process: subprocess.Popen[str]) -> None:
    with process:  # closes its pipes, and waits
        if process.returncode is None:  # not waited for yet, so that its number is still its own
            os.killpg(process.pid, signal.SIGKILL)


def _output(process: subprocess.Popen[str], failure: str, deadline: float) -> str:
    output, errors = process.communicate(timeout=max(deadline - time.monotonic(), 0))
    if process.returncode != 0:
        said = (errors.strip() or output.strip()).splitlines()[-TAIL_LINES:]
        raise CannotBuild("\n".join([failure, *said]))
    return output

"""Calls of the tools that a build needs, and the one error that a build ends with."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

Argv = Sequence[str | Path]
TAIL_LINES = 6


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


def run_all(argvs: Sequence[Argv], failure: str, environment: Mapping[str, str] | None = None) -> list[str]:
    """Standard output of each of these commands, side by side. None outlives the call, whatever ends it.

    Args:
        failure: the sentence to raise when one does not succeed; the end of its error text is added.
        environment: added to the builder's own.

    Raises:
        CannotBuild: a command ended with another exit code than 0.
    """
    started: list[subprocess.Popen[str]] = []
    try:
        started += (_start(argv, environment or {}) for argv in argvs)
        return [_output(process, failure) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()


def _start(argv: Argv, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(part) for part in argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=os.environ | {"LC_ALL": "C"} | dict(environment),
    )


def _output(process: subprocess.Popen[str], failure: str) -> str:
    output, errors = process.communicate()
    if process.returncode != 0:
        said = (errors.strip() or output.strip()).splitlines()[-TAIL_LINES:]
        raise CannotBuild("\n".join([failure, *said]))
    return output

"""A shell in which the commands of a page run, and the pipeline that they talk of."""

from __future__ import annotations

import atexit
import os
import random
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

from warm_command import warm_command


def shell(script: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """A real bash that stops at the first error, without settings of the host that would reach dpgate.

    A page's `dpgate` has made its imports already.
    """
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("DPGATE_", "XDG_"))
    }
    places = [warm_commands(), Path(sys.executable).parent, os.environ["PATH"]]
    environment |= {"COLUMNS": "110", "PATH": ":".join(map(str, places))}
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        try:
            ended = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script],
                cwd=folder,
                env=environment | settings,
                stdout=out,
                stderr=err,
                check=False,
            )
        finally:  # a page that stands still was ended from outside: what it had said is in the report
            said = [(file.seek(0), file.read())[1] for file in (out, err)]
            sys.stdout.write("".join(said))
    return subprocess.CompletedProcess(ended.args, ended.returncode, *said)


@cache
def warm_commands() -> Path:
    """Where `dpgate` is, until this process ends."""
    kept = ExitStack()
    atexit.register(kept.close)
    folder = Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="dpgate-docs-")))
    return kept.enter_context(warm_command(folder)).parent


def free_port() -> int:
    """Of those that the system gives to nobody who leaves the choice to it, so that no server of another test
    takes it before a page's own.
    """
    given_from = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(given_from // 2, given_from)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port

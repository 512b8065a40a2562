"""What the tests of this folder share: orders, a proxy in a thread, a look at what is left on the daemon."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from docker_daemon import DockerDaemon

from worker.sandbox.docker_engine import DockerSettings
from worker.sandbox.docker_engine.proxy import Proxy
from worker.sandbox.docker_engine.proxy_rules import Ceilings, Rules
from worker.sandbox.protocol import MIB, Audience, Limits, SlotOrder

# of these tests alone, and of this session, so that a look at the process table tells what is theirs
FIRST_UID = int(
    os.environ.setdefault("DPGATE_TEST_FIRST_UID", str(100_000_000 + os.getpid() % 80_000 * 10_000))
)
TIGHT = Limits(
    wall_s=20,
    cpu_s=10,
    memory_bytes=128 * MIB,
    tmp_bytes=4 * MIB,
    output_bytes=4 * MIB,
    inodes=200,
    processes=32,
)
LASTING = replace(TIGHT, wall_s=600)  # ended by something else, or the test has failed
PRELUDE = "import json, os, sys, time\ngiven, out, level = sys.argv[1:]\n"
# a pipeline that takes its script from its block, so that one slot can run many: a slot costs more than a run
GIVEN_SCRIPT = 'exec(open(given + "/script.py").read())'


_ignored = pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def may_forget_sockets(test: Callable[..., None]) -> Callable[..., None]:
    """For tests in which nobody answers at the daemon's socket: conftest.py says what is forgotten."""
    return _ignored(pytest.mark.usefixtures("forgotten_sockets")(test))


@dataclass(frozen=True)
class LoadedImage:
    digest: str
    name: str = "of the test"


def settings_for(socket: Path, keeper_image: str, **changes: object) -> DockerSettings:
    base = DockerSettings(
        socket=socket,
        keeper_image=keeper_image,
        first_uid=FIRST_UID,
        batch=3,
        block_bytes=8 * MIB,
        view_bytes=128 * MIB,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def order_for(digest: str, script: str, **changes: object) -> SlotOrder:
    """A Python script as a pipeline with the output `verdict`, changed as a test needs it."""
    base = SlotOrder(
        image=LoadedImage(digest),
        code={"main.py": (PRELUDE + script).encode()},
        command=("python3", "-I", "-S", "/pipeline/main.py"),
        levels=("participant",),
        outputs=("verdict",),
        limits=TIGHT,
        audience=Audience.TWIN,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


@contextmanager
def running_proxy(folder: Path, daemon: Path, settings: DockerSettings, *images: str) -> Iterator[Path]:
    """The proxy's socket."""
    approved = folder / "images"
    approved.write_text("# approved\n" + "".join(f"{digest}\n" for digest in images))
    listen = folder / "proxy.sock"
    ceilings = Ceilings(memory_bytes=1024 * MIB, processes=64, tmp_bytes=64 * MIB, containers=8)
    proxy = Proxy(listen, daemon, Rules(settings, approved, ceilings))
    thread = threading.Thread(target=proxy.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield listen
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()
        listen.unlink()


@dataclass(frozen=True)
class Traces:
    """What runs could leave behind on the daemon and its host."""

    containers: frozenset[str]
    volumes: frozenset[str]
    mounts: frozenset[str]
    processes: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.containers or self.volumes or self.mounts or self.processes)


def traces(daemon: DockerDaemon) -> Traces:
    kept = {str(daemon.folder / "data/overlay2"), str(daemon.folder / "data")}
    return Traces(
        containers=frozenset(daemon.containers()),
        volumes=frozenset(daemon.volumes()),
        mounts=frozenset(daemon.mounts()) - kept,
        processes=frozenset(_processes()),
    )


def _processes() -> Iterator[str]:
    users = range(FIRST_UID, FIRST_UID + 10_000)
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            # a process may call itself by any bytes
            with open(f"/proc/{name}/status", errors="replace") as file:
                status: Mapping[str, str] = dict(line.split(":\t", 1) for line in file if ":\t" in line)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(status["Uid"].split()[0]) in users:
            yield f"{name} {status['Name'].strip()}"

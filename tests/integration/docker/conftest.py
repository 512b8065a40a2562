"""One daemon and one image for all tests of this folder; a sandbox is straight on it or behind the proxy."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from base_images import base_archive
from docker_daemon import DockerDaemon, running_daemon
from docker_orders import order_for, running_proxy, settings_for, traces

from worker.sandbox.docker_engine import DockerSandbox


@pytest.fixture(scope="session")
def docker_daemon() -> Iterator[DockerDaemon]:
    with running_daemon() as daemon:
        yield daemon


@pytest.fixture(scope="session")
def digest(docker_daemon: DockerDaemon) -> str:
    """Of the Python base image: the keeper's, and that of pipelines."""
    return docker_daemon.load(base_archive("python"))


@pytest.fixture
def sockets_folder() -> Iterator[Path]:
    """Not pytest's own: a socket's path has 107 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="dpg-", dir="/tmp") as folder:
        Path(folder).chmod(0o711)  # locks too lie in it
        yield Path(folder)


@pytest.fixture(autouse=True)
def forgotten_sockets() -> Iterator[None]:
    """Collected within the test that may forget them, not in the next."""
    yield
    gc.collect()


@pytest.fixture(params=["straight", "proxy"])
def sandbox(request, docker_daemon, digest, sockets_folder) -> Iterator[DockerSandbox]:
    """Whatever a test does with it, nothing may be left on the daemon."""
    settings = settings_for(docker_daemon.socket, digest)
    if request.param == "straight":
        with DockerSandbox(settings, lock_root=sockets_folder / "locks") as ours:
            yield ours
    else:
        with running_proxy(sockets_folder, docker_daemon.socket, settings, digest) as socket:
            through = settings_for(socket, digest)
            with DockerSandbox(through, lock_root=sockets_folder / "locks") as ours:
                yield ours
    assert not traces(docker_daemon)


@pytest.fixture
def run(sandbox, digest):
    """One run of a script on a block: RunResult."""

    def once(script: str, block: dict[str, bytes] | None = None, **changes):
        with sandbox.open_slot(order_for(digest, script, **changes), slot=0) as slot:
            return slot.run(block or {})

    return once


@pytest.fixture
def proxy(docker_daemon, digest, sockets_folder) -> Iterator[Path]:
    settings = settings_for(docker_daemon.socket, digest)
    with running_proxy(sockets_folder, docker_daemon.socket, settings, digest) as listen:
        yield listen


@pytest.fixture
def nothing_left(docker_daemon) -> Iterator[None]:
    yield
    for container in docker_daemon.docker("ps", "--all", "--quiet").split():
        docker_daemon.docker("rm", "--force", "--volumes", container)
    for volume in docker_daemon.docker("volume", "ls", "--quiet").split():
        docker_daemon.docker("volume", "rm", volume)


@pytest.fixture
def victim(docker_daemon, digest) -> str:
    """Somebody else's container."""
    script = "print('said', flush=True); import time; time.sleep(600)"
    options = ("--detach", "--network=none", "--volume=/precious")
    return docker_daemon.docker("run", *options, digest, "python3", "-c", script).strip()

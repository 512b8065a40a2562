"""One image for all tests of this folder; a sandbox is straight on the daemon or behind the proxy.

A container costs more than anything else here, and an open slot is one: tests that look at neither the start
nor the end of a slot make their runs in one that others use, too.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import pytest
from base_images import base_archive
from docker_daemon import DockerDaemon
from docker_orders import GIVEN_SCRIPT, order_for, running_proxy, settings_for, traces
from slim_python import slim_python

from worker.images.store import ImageStore
from worker.sandbox.core.images import StoredImage
from worker.sandbox.docker_engine import DockerSandbox
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import NOTHING, RunResult, Sandbox
from worker.sandbox.supervised import SupervisedSandbox


@pytest.fixture(scope="session")
def digest(docker_daemon: DockerDaemon) -> str:
    """Of the keeper's image, and that of pipelines."""
    return docker_daemon.load(slim_python())


@pytest.fixture
def sockets_folder() -> Iterator[Path]:
    """Not pytest's own: a socket's path has 107 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="dpg-", dir="/tmp") as folder:
        Path(folder).chmod(0o711)  # locks too lie in it
        yield Path(folder)


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
def sandbox_straight(docker_daemon, digest, sockets_folder) -> Iterator[DockerSandbox]:
    """For what the proxy has no part in."""
    settings = settings_for(docker_daemon.socket, digest)
    with DockerSandbox(settings, lock_root=sockets_folder / "locks") as ours:
        yield ours
    assert not traces(docker_daemon)


@pytest.fixture
def run(sandbox, digest):
    """One run of a script on a block: RunResult."""
    return partial(_once, sandbox, digest)


@pytest.fixture
def run_straight(sandbox_straight, digest):
    return partial(_once, sandbox_straight, digest)


@pytest.fixture
def run_many(sandbox_straight, digest):
    """One slot for many runs: opened with changes of the order, called with a script and more of a block."""
    return partial(_many, sandbox_straight, digest)


@pytest.fixture
def order(digest):
    return partial(order_for, digest)


def _once(
    sandbox: DockerSandbox,
    digest: str,
    script: str,
    block: dict[str, bytes] | None = None,
    *,
    before: Mapping[str, bytes] = NOTHING,
    **changes: object,
) -> RunResult:
    with sandbox.open_slot(order_for(digest, script, **changes), slot=0) as slot:
        return slot.run(block or {}, before=before)


@contextmanager
def _many(sandbox: DockerSandbox, digest: str, **changes: object) -> Iterator[Callable[..., RunResult]]:
    with sandbox.open_slot(order_for(digest, GIVEN_SCRIPT, **changes), slot=0) as slot:
        yield lambda script, **block: slot.run({"script.py": script.encode(), **block})


@pytest.fixture
def proxy(docker_daemon, digest, sockets_folder) -> Iterator[Path]:
    settings = settings_for(docker_daemon.socket, digest)
    with running_proxy(sockets_folder, docker_daemon.socket, settings, digest) as listen:
        yield listen


@pytest.fixture(scope="module")
def living(docker_daemon) -> Iterator[list[str]]:
    """Victims that no test has ended yet: one at most."""
    victims: list[str] = []
    yield victims
    docker_daemon.clear()


@pytest.fixture
def nothing_left(docker_daemon, living) -> Iterator[None]:
    """Nothing but a victim for the next test."""
    yield
    living[:] = set(living) & set(docker_daemon.containers(running=True))
    docker_daemon.clear(kept=living)


@pytest.fixture
def victim(a_victim: Callable[[], str]) -> str:
    return a_victim()


@pytest.fixture
def a_victim(docker_daemon, docker_image, living) -> Callable[[], str]:
    """Somebody else's container, which runs; another one if it has ended."""

    def victim() -> str:
        living[:] = set(living) & set(docker_daemon.containers(running=True))
        if not living:
            options = ("--detach", "--network=none", "--volume=/precious", "--entrypoint=sh")
            command = (docker_image("minimal"), "-c", "echo said; exec sleep 600")
            living.append(docker_daemon.docker("run", *options, *command).strip())
        return living[0]

    return victim


@pytest.fixture
def forgotten_sockets() -> Iterator[None]:
    """The SDK does not close a socket that it could not connect. Its collection is this test's, not the
    next's.
    """
    yield
    gc.collect()


# --- every way to run a pipeline, on the same images


@pytest.fixture(scope="session")
def open_room() -> Iterator[Path]:
    """Slots' users must get to the images, so not pytest's own folder."""
    with tempfile.TemporaryDirectory(prefix="dpgate-test-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@pytest.fixture(scope="session")
def stored(open_room: Path, docker_image: Callable[[str], str], digest: str) -> Callable[[str], StoredImage]:
    """A base image by name: the same archive in our store and in the engine, under the same digest. The one
    called "python" is slim, "whole python" is the platform's.
    """
    store = ImageStore(open_room / "store")

    @cache
    def image(name: str) -> StoredImage:
        if name == "python":
            archive, loaded = slim_python(), digest
        else:
            archive, loaded = (
                base_archive(name.removeprefix("whole ")),
                docker_image(name.removeprefix("whole ")),
            )
        found = store.add(archive, name=name.replace(" ", "-"))
        assert loaded == found.digest
        return found

    return image


@pytest.fixture(scope="session")
def sandboxes(
    open_room: Path, stored: Callable[[str], StoredImage], docker_daemon: DockerDaemon
) -> Iterator[Mapping[str, Sandbox]]:
    host = describe()
    with (
        SupervisedSandbox(host, scratch_root=open_room / "scratch", allow_disk_scratch=True) as supervised,
        DockerSandbox(
            settings_for(docker_daemon.socket, stored("python").digest), lock_root=open_room / "locks"
        ) as docker,
    ):
        yield {"warm": supervised, "cold": supervised, "docker": docker}

"""The backends that the battery is run on, opened by name, each with the image that it runs pipelines in."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from base_images import base_archive
from docker_daemon import running_daemon

from worker.sandbox.battery import Conditions
from worker.sandbox.core.images import HostImage
from worker.sandbox.core.slot_user import slot_user
from worker.sandbox.docker_engine import DockerSandbox, DockerSettings
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import MIB, Image, Sandbox, SandboxUnavailable
from worker.sandbox.supervised import SupervisedSandbox

EMBEDDED = ("warm", "cold")
EXECUTORS = (*EMBEDDED, "docker")


@dataclass(frozen=True)
class Executor:
    sandbox: Sandbox
    image: Image
    conditions: Conditions


@dataclass(frozen=True)
class LoadedImage:
    """On the daemon of the tests."""

    digest: str
    name: str = "python"


@cache
def host_image() -> HostImage:
    try:
        return describe()
    except SandboxUnavailable:  # an old distribution: then with the Python that runs the tests
        return describe(Path(sys.prefix))


@contextmanager
def open_executor(name: str) -> Iterator[Executor]:
    """Docker comes with a daemon of its own."""
    conditions = Conditions(name, shared_user=slot_user(0) == slot_user(1))
    with ExitStack() as undo:
        sandbox, image = _OPENERS[name](undo)
        yield Executor(sandbox, image, conditions)


def _supervised(undo: ExitStack) -> tuple[Sandbox, Image]:
    scratch = Path(undo.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm"))) / "scratch"
    scratch.parent.chmod(0o711)
    return undo.enter_context(SupervisedSandbox(host_image(), scratch_root=scratch)), host_image()


def _docker(undo: ExitStack) -> tuple[Sandbox, Image]:
    daemon = undo.enter_context(running_daemon())
    digest = daemon.load(base_archive("python"))
    locks = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="dpg-", dir="/tmp")))
    locks.chmod(0o711)
    settings = DockerSettings(
        socket=daemon.socket, keeper_image=digest, first_uid=240_000, block_bytes=8 * MIB
    )
    sandbox = undo.enter_context(DockerSandbox(settings, lock_root=locks / "locks"))
    return sandbox, LoadedImage(digest)


_OPENERS: dict[str, Callable[[ExitStack], tuple[Sandbox, Image]]] = {
    "warm": _supervised,
    "cold": _supervised,
    "docker": _docker,
}

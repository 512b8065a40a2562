"""Where a pipeline runs on the researcher's own machine: a sandbox, and the image of its manifest."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from domain.image import HOST_IMAGE, SyscallTable
from domain.pipeline import Manifest, Pipeline
from dpgate.errors import DpgateError
from worker.images.commands import program_of, resolve_command
from worker.images.libraries import PROGRAMS, holding
from worker.images.refusal import CommandRefused, ProgramNotFound
from worker.images.store import ImageStore
from worker.order import order_for
from worker.rehearsal.slots import TwinSlots
from worker.sandbox.core.images import HostImage, StoredImage
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import Audience, SandboxUnavailable
from worker.sandbox.supervised import SupervisedSandbox


@contextmanager
def open_local(
    pipeline: Pipeline,
    *,
    twin: Path,
    python_env: Path | None,
    images: Path | None,
    syscalls: SyscallTable = SyscallTable.STRICT,
    warm: bool = False,
) -> Iterator[TwinSlots]:
    """`images` is the store to take the pipeline's image from, unless it is this host's own. `warm`: the
    researcher has made it. Raises DpgateError where the command cannot be started, before anything runs.
    """
    host = _host(python_env, is_run=pipeline.manifest.image == HOST_IMAGE)
    image = image_for(pipeline.manifest, host, images)
    _check_command(pipeline, image, images)
    if warm:
        check_warm(image)
    order = order_for(
        pipeline,
        image=image,
        audience=Audience.TWIN,
        syscalls=syscalls,
        warm=warm or image is host,
        roots=(twin.resolve(),),
    )
    with SupervisedSandbox(host) as sandbox:
        yield TwinSlots(sandbox, order, images_with=lambda name: images_with(name, images))


def _host(python_env: Path | None, *, is_run: bool) -> HostImage:
    """Raises DpgateError for an environment that no run could see, with where to make it."""
    try:
        return describe(python_env, is_run=is_run)
    except SandboxUnavailable as refused:
        if python_env is None:
            raise
        raise DpgateError(
            f"{refused}. An environment is made where it is to stay, such as in your home and not below /tmp"
            ": python3 -m venv ~/dpgate-env, then --python-env ~/dpgate-env"
        ) from None


def _check_command(pipeline: Pipeline, image: HostImage | StoredImage, images: Path | None) -> None:
    try:
        resolve_command(image, pipeline.manifest.command, pipeline.contents)
    except (ProgramNotFound, IsADirectoryError) as refused:
        root = Path("/") if isinstance(image, HostImage) else image.rootfs
        program = program_of(pipeline.manifest.command)
        near, having = programs_like(program, root), images_with(program, images)
        hints = [f"it has {', '.join(near)}"] if near else []
        hints += [f"the image {', '.join(having)} has {program}"] if having else []
        hints = hints or ["name an image that has it, or bring one: docs/how-to/images.md"]
        raise DpgateError("; ".join([f"{refused}", *hints])) from None
    except CommandRefused as refused:  # which says itself what to change
        raise DpgateError(str(refused)) from None


def check_warm(image: HostImage | StoredImage) -> None:
    if image.interpreter is None:
        raise DpgateError(f"the image {image.name} has no Python 3.11, which --warm needs; leave --warm out")


def image_for(manifest: Manifest, host: HostImage, images: Path | None) -> HostImage | StoredImage:
    """By the name in the manifest: here the researcher is their own operator."""
    return host if manifest.image == HOST_IMAGE else stored_image(manifest.image, images)


def stored_image(name: str, images: Path | None) -> StoredImage:
    """Of this machine's store. Raises DpgateError unless exactly one has the name."""
    held = ImageStore(images).listed() if images and images.exists() else ()
    found = [image for image in held if image.name == name]
    if len(found) == 1:
        return found[0]
    if found:
        digests = ", ".join(image.digest for image in found)
        raise DpgateError(f"several images are named {name}: {digests}; remove all but one")
    raise DpgateError(
        f"the image {name} is not on this machine; get its archive from the platform's operator, "
        f"then: dpgate image add ARCHIVE --name {name}"
    )


# Which images of this machine's store hold a library or a command: what to say where another lacks it.

_MOST_NEAR = 3


def images_with(name: str, store: Path | None) -> tuple[str, ...]:
    """By name; `name` is a Python module, an R package, a package of Octave or a command."""
    if store is None or not store.is_dir():
        return ()
    return holding(name, ImageStore(store).listed())


def programs_like(name: str, rootfs: Path) -> tuple[str, ...]:
    """Commands of an image that begin with this name, as python3 does with python: the shortest first."""
    found = {
        path.name
        for folder in PROGRAMS
        for path in rootfs.glob(f"{folder}/{glob.escape(name)}*")
        if name and "/" not in name
    }
    return tuple(sorted(found, key=lambda each: (len(each), each))[:_MOST_NEAR])

"""The embedded backend: one bubblewrap per run. Needs no daemon and no root, only user namespaces.

A run: stage the block in memory, start bwrap, let the runner (PID 1 inside) work through the levels, wait
until the kernel has ended every process, parse what the runner sent, remove the block. A set-up that fails
raises SandboxUnavailable; whatever a payload does after that is a RunResult.
"""

import os
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Self

from sandbox_images.output_tree import framed
from worker.view import View

from .bwrap_argv import MOST_PARTS, Descriptors, Folders, build_argv, part_flags
from .bwrap_binary import Bwrap, find_bwrap
from .bwrap_process import forbid_core_dumps, kill_whole, start
from .capacity import capacity_of
from .frame import BrokenFrame, Frame, longest_frame, parse_frame
from .host_image import HostImage
from .memory_file import memory_file
from .orders import check_order, filter_program, fits, too_large, without_room
from .parts import Bound, Parts, read_if_small, skeleton
from .protocol import (
    NOTHING,
    Audience,
    Cause,
    Feature,
    RunDetail,
    RunResult,
    SandboxUnavailable,
    SlotCancelled,
    SlotOrder,
)
from .scratch import Scratch, check_relative_path, reap_scratch, remove_tree
from .slot_user import slot_user
from .stored_image import StoredImage
from .supervise import Channels, Ending, supervise
from .surroundings import BwrapImage, etc_files

__all__ = ["BubblewrapSandbox", "BubblewrapSlot", "reap_scratch"]


class BubblewrapSandbox:
    """Holds this process's scratch folder, so close it. Open it after forking.

    `input_bytes`: of the largest input of a run; without it, what `capacity_of` gives to a single slot.
    """

    def __init__(
        self,
        image: HostImage,
        *,
        scratch_root: Path | None = None,
        allow_disk_scratch: bool = False,
        input_bytes: int | None = None,
    ) -> None:
        self._image, self._scratch_root = image, scratch_root
        self._input_bytes = input_bytes or capacity_of(scratch_root, slots=1)
        self._bwrap = find_bwrap()
        forbid_core_dumps()
        self._scratch = Scratch(scratch_root, allow_disk_scratch=allow_disk_scratch)

    def probe(self) -> tuple[Feature, ...]:
        from .preflight import check_host  # it runs a control pipeline through this class

        return check_host(self._scratch_root, self._image)

    def open_slot(self, order: SlotOrder, *, slot: int) -> "BubblewrapSlot":
        check_order(order)
        if not isinstance(order.image, HostImage | StoredImage):
            raise SandboxUnavailable(f"bubblewrap cannot run {order.image.name}: not an image of this host")
        return BubblewrapSlot(
            self._bwrap,
            self._scratch,
            order.image,
            order,
            user=slot_user(slot),
            input_bytes=self._input_bytes,
        )

    def reap(self) -> int:
        return reap_scratch(self._scratch_root)

    def close(self) -> None:
        self._scratch.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class BubblewrapSlot:
    """Use it from one thread, and one that lives until the run is over (see supervise)."""

    def __init__(
        self,
        bwrap: Bwrap,
        scratch: Scratch,
        image: BwrapImage,
        order: SlotOrder,
        *,
        user: int,
        input_bytes: int,
    ) -> None:
        self._bwrap, self._scratch, self._image, self._order, self._user = bwrap, scratch, image, order, user
        self._cancelled = False
        self._process: subprocess.Popen[bytes] | None = None
        with ExitStack() as undo:
            self._code = scratch.stage(order.code, owner=user, executable=True)
            undo.callback(remove_tree, self._code)
            self._empty = scratch.stage({}, owner=user)
            undo.callback(remove_tree, self._empty)
            copies = scratch.new_folder()
            undo.callback(remove_tree, copies)
            self._parts = Parts(copies, order.roots, user=user, most_bytes=input_bytes)
            self._cleanup = undo.pop_all()

    def run(self, block: Mapping[str, bytes], *, before: Mapping[str, bytes] = NOTHING) -> RunResult:
        if self._cancelled:
            raise SlotCancelled
        for name in before:
            check_relative_path(name)
        if before and not fits(before, self._order.limits):
            return without_room(self._order)
        if not self._parts.hold(block, bound=_is_bound(block)):
            return too_large(self._order)
        block = read_if_small(block)
        parts = self._bound(block)
        folder = self._staged(block, parts)
        try:
            ending = self._run_on(folder, before, parts)
        except SandboxUnavailable as error:
            if self._cancelled:
                raise SlotCancelled from error
            raise
        finally:
            remove_tree(folder)
        if self._cancelled:
            raise SlotCancelled
        return _judge(ending, self._order)

    def _bound(self, block: Mapping[str, bytes]) -> list[Bound]:
        """What need not be copied."""
        return self._parts.ready(block.parts) if isinstance(block, View) and _is_bound(block) else []

    def _staged(self, block: Mapping[str, bytes], parts: list[Bound]) -> Path:
        if isinstance(block, View) and parts:
            return skeleton(block, self._scratch, owner=self._user)
        return self._scratch.stage(block, owner=self._user)

    def _run_on(self, block: Path, before: Mapping[str, bytes], parts: list[Bound]) -> Ending:
        folders = Folders(code=self._code, block=block, empty=self._empty)
        with ExitStack() as ours:
            with ExitStack() as theirs:  # closed here as soon as bwrap has its own
                channels, descriptors, error = _open_channels(ours, theirs, self._order, self._image)
                descriptors = _with_files(descriptors, theirs, self._order, before, parts)
                argv = build_argv(self._bwrap.path, self._image, self._order, folders, descriptors)
                process = start(argv, inherited=descriptors.all(), error=error, user=self._user)
            longest = longest_frame(self._order)
            self._process = process
            if self._cancelled:  # before there was a process to kill
                kill_whole(process)
            try:
                return supervise(process, channels, self._order.limits, longest_message=longest)
            except SandboxUnavailable as error:
                if any(part.place in str(error) or str(part.source) in str(error) for part in parts):
                    raise SandboxUnavailable("a part of a view could not be mounted: it is gone") from None
                raise
            finally:
                self._process = None

    def cancel(self) -> None:
        self._cancelled = True
        if process := self._process:
            kill_whole(process)

    def close(self) -> None:
        self._cleanup.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_bound(block: Mapping[str, bytes]) -> bool:
    """Nothing is of a plain block, nor of a view in more parts than bwrap takes."""
    return isinstance(block, View) and len(block.parts) <= MOST_PARTS


def _with_files(
    descriptors: Descriptors,
    theirs: ExitStack,
    order: SlotOrder,
    before: Mapping[str, bytes],
    parts: list[Bound],
) -> Descriptors:
    """What only some runs need."""

    def file(*pieces: bytes) -> int:
        descriptor = theirs.enter_context(memory_file(*pieces))
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    if before:
        descriptors = replace(descriptors, before=file(*framed(before)))
    if before or order.tree:
        descriptors = replace(descriptors, tree=file(_source("output_tree.py")))
    if parts:
        descriptors = replace(descriptors, parts=file(part_flags(parts)))
    return descriptors


def _open_channels(
    ours: ExitStack, theirs: ExitStack, order: SlotOrder, image: BwrapImage
) -> tuple[Channels, Descriptors, int]:
    """Both ends of everything, each in the stack of whoever keeps it; and the error pipe's writing end."""

    def pipe() -> tuple[int, int]:
        reading, writing = os.pipe()
        ours.callback(os.close, reading)
        theirs.callback(os.close, writing)
        return reading, writing

    def file(content: bytes) -> int:
        fd = os.memfd_create("dpgate")
        theirs.callback(os.close, fd)
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        return fd

    result, status, error = pipe(), pipe(), pipe()
    stdio = pipe() if order.audience is Audience.TWIN else (-1, -1)
    go_reading, go_writing = os.pipe()
    theirs.callback(os.close, go_reading)
    ours.callback(os.close, go_writing)
    descriptors = Descriptors(
        seccomp=file(filter_program(order.syscalls)),
        runner=file(_source("runner.py")),
        etc={name: file(text.encode()) for name, text in etc_files(image).items()},
        status=status[1],
        result=result[1],
        go=go_reading,
        stdio=stdio[1],
    )
    return Channels(result[0], status[0], error[0], go_writing, stdio[0]), descriptors, error[1]


@cache
def _source(name: str) -> bytes:
    return (resources.files("sandbox_images") / name).read_bytes()


def _judge(ending: Ending, order: SlotOrder) -> RunResult:
    """On original data: the outputs or their absence. How it went is not even put into words."""
    frame: Frame | None = None
    cause = ending.stopped_for
    if cause is None:
        try:
            frame = parse_frame(ending.message, order)
            cause = frame.cause
        except BrokenFrame:
            cause = Cause.BROKEN
    outputs = frame.outputs if frame else None
    if order.audience is Audience.ORIGINAL:
        return RunResult(outputs)
    detail = RunDetail(
        cause=cause,
        exit_code=frame.exit_code if frame else None,
        level=frame.level if frame else None,
        duration_s=ending.duration_s,
        tail=ending.tail.decode(errors="replace"),
    )
    return RunResult(outputs, detail)

"""The embedded backend: one bubblewrap per run. Needs no daemon and no root, only user namespaces.

A run: stage the block in memory, start bwrap, let the runner (PID 1 inside) work through the levels, wait
until the kernel has ended every process, parse what the runner sent, remove the block. A set-up that fails
raises SandboxUnavailable; whatever a payload does after that is a RunResult.
"""

import os
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Self

from .bwrap_argv import Descriptors, Folders, build_argv
from .bwrap_binary import Bwrap, find_bwrap
from .bwrap_process import forbid_core_dumps, kill_whole, start
from .frame import BrokenFrame, Frame, longest_frame, parse_frame
from .host_image import HostImage
from .orders import check_order, filter_program
from .protocol import (
    Audience,
    Cause,
    Feature,
    RunDetail,
    RunResult,
    SandboxUnavailable,
    SlotCancelled,
    SlotOrder,
)
from .scratch import Scratch, reap_scratch, remove_tree
from .slot_user import slot_user
from .stored_image import StoredImage
from .supervise import Channels, Ending, supervise
from .surroundings import BwrapImage, etc_files

__all__ = ["BubblewrapSandbox", "BubblewrapSlot", "reap_scratch"]


class BubblewrapSandbox:
    """Holds this process's scratch folder, so close it. Open it after forking."""

    def __init__(
        self, image: HostImage, *, scratch_root: Path | None = None, allow_disk_scratch: bool = False
    ) -> None:
        self._image, self._scratch_root = image, scratch_root
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
        return BubblewrapSlot(self._bwrap, self._scratch, order.image, order, user=slot_user(slot))

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
        self, bwrap: Bwrap, scratch: Scratch, image: BwrapImage, order: SlotOrder, *, user: int
    ) -> None:
        self._bwrap, self._scratch, self._image, self._order, self._user = bwrap, scratch, image, order, user
        self._cancelled = False
        self._process: subprocess.Popen[bytes] | None = None
        with ExitStack() as undo:
            self._code = scratch.stage(order.code, owner=user, executable=True)
            undo.callback(remove_tree, self._code)
            self._empty = scratch.stage({}, owner=user)
            undo.callback(remove_tree, self._empty)
            self._cleanup = undo.pop_all()

    def run(self, block: Mapping[str, bytes]) -> RunResult:
        if self._cancelled:
            raise SlotCancelled
        folder = self._scratch.stage(block, owner=self._user)
        try:
            ending = self._run_on(folder)
        except SandboxUnavailable as error:
            if self._cancelled:
                raise SlotCancelled from error
            raise
        finally:
            remove_tree(folder)
        if self._cancelled:
            raise SlotCancelled
        return _judge(ending, self._order)

    def _run_on(self, block: Path) -> Ending:
        folders = Folders(code=self._code, block=block, empty=self._empty)
        with ExitStack() as ours:
            with ExitStack() as theirs:  # closed here as soon as bwrap has its own
                channels, descriptors, error = _open_channels(ours, theirs, self._order, self._image)
                argv = build_argv(self._bwrap.path, self._image, self._order, folders, descriptors)
                process = start(argv, inherited=descriptors.all(), error=error, user=self._user)
            longest = longest_frame(self._order)
            self._process = process
            if self._cancelled:  # before there was a process to kill
                kill_whole(process)
            try:
                return supervise(process, channels, self._order.limits, longest_message=longest)
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
        runner=file(_runner_source()),
        etc={name: file(text.encode()) for name, text in etc_files(image).items()},
        status=status[1],
        result=result[1],
        go=go_reading,
        stdio=stdio[1],
    )
    return Channels(result[0], status[0], error[0], go_writing, stdio[0]), descriptors, error[1]


@cache
def _runner_source() -> bytes:
    return (resources.files("sandbox_images") / "runner.py").read_bytes()


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

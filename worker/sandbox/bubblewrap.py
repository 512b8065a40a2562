"""The embedded backend: one bubblewrap per run. Needs no daemon and no root, only user namespaces.

A run: stage the block in memory, start bwrap, let the runner (PID 1 inside) work through the levels, wait
until the kernel has ended every process, parse what the runner sent, remove the block. A set-up that fails
raises SandboxUnavailable; whatever a payload does after that is a RunResult.
"""

import os
import platform
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Self

from sandbox_images.seccomp.bpf import ARCHITECTURES, compile_policy
from sandbox_images.seccomp.policy import STRICT

from .bwrap_argv import ETC_FILES, Descriptors, Folders, build_argv
from .bwrap_binary import Bwrap, find_bwrap
from .frame import BrokenFrame, Frame, longest_frame, parse_frame
from .host_image import HostImage
from .protocol import Audience, Cause, Feature, RunDetail, RunResult, SandboxUnavailable, SlotOrder
from .scratch import Scratch, check_relative_path, reap_scratch, remove_tree
from .slot_user import slot_user
from .supervise import Channels, Ending, forbid_core_dumps, start, supervise

__all__ = ["BubblewrapSandbox", "BubblewrapSlot", "reap_scratch"]

_MOST_LEVELS = 255  # one byte in the runner's report


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
        _check_order(order)
        if not isinstance(order.image, HostImage):
            raise SandboxUnavailable(
                f"bubblewrap runs pipelines on host images only, not on {order.image.name}"
            )
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
        self, bwrap: Bwrap, scratch: Scratch, image: HostImage, order: SlotOrder, *, user: int
    ) -> None:
        self._bwrap, self._scratch, self._image, self._order, self._user = bwrap, scratch, image, order, user
        with ExitStack() as undo:
            self._code = scratch.stage(order.code, owner=user)
            undo.callback(remove_tree, self._code)
            self._empty = scratch.stage({}, owner=user)
            undo.callback(remove_tree, self._empty)
            self._cleanup = undo.pop_all()

    def run(self, block: Mapping[str, bytes]) -> RunResult:
        folder = self._scratch.stage(block, owner=self._user)
        try:
            ending = self._run_on(folder)
        finally:
            remove_tree(folder)
        return _judge(ending, self._order)

    def _run_on(self, block: Path) -> Ending:
        folders = Folders(code=self._code, block=block, empty=self._empty)
        with ExitStack() as ours:
            with ExitStack() as theirs:  # closed here as soon as bwrap has its own
                channels, descriptors, error = _open_channels(ours, theirs, self._order.audience)
                argv = build_argv(self._bwrap.path, self._image, self._order, folders, descriptors)
                process = start(argv, inherited=descriptors.all(), error=error, user=self._user)
            longest = longest_frame(self._order)
            return supervise(process, channels, self._order.limits, longest_message=longest)

    def close(self) -> None:
        self._cleanup.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_order(order: SlotOrder) -> None:
    """Pipelines are parsed and approved long before; this stops what would confuse the runner or bwrap."""
    limits = order.limits
    if not order.command or not 0 < len(order.levels) <= _MOST_LEVELS:
        raise ValueError("an order needs a command and at least one level")
    if any("\0" in text for text in (*order.command, *order.levels)):
        raise ValueError("a command line cannot hold NUL")
    if len(set(order.outputs)) != len(order.outputs):
        raise ValueError("an output is declared twice")
    for path in order.outputs:
        check_relative_path(path)
    amounts = (limits.wall_s, limits.cpu_s, limits.memory_bytes, limits.processes, limits.tmp_bytes)
    if not all(amount > 0 for amount in (*amounts, limits.output_bytes, limits.file_bytes, limits.inodes)):
        raise ValueError("every limit must be positive")


def _open_channels(
    ours: ExitStack, theirs: ExitStack, audience: Audience
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
    stdio = pipe() if audience is Audience.TWIN else (-1, -1)
    go_reading, go_writing = os.pipe()
    theirs.callback(os.close, go_reading)
    ours.callback(os.close, go_writing)
    descriptors = Descriptors(
        seccomp=file(_filter()),
        runner=file(_runner_source()),
        etc={name: file(text.encode()) for name, text in ETC_FILES.items()},
        status=status[1],
        result=result[1],
        go=go_reading,
        stdio=stdio[1],
    )
    return Channels(result[0], status[0], error[0], go_writing, stdio[0]), descriptors, error[1]


@cache
def _filter() -> bytes:
    architecture = ARCHITECTURES.get(platform.machine())
    if architecture is None:
        raise SandboxUnavailable(f"there is no system-call filter for {platform.machine()} machines")
    return compile_policy(STRICT, architecture)


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

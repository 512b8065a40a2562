"""Supervised slots, warm and cold: docs/explanation/isolation.md says what each closes.

Warm: the command is a Python script and the image the operator's own; the supervisor has the libraries
loaded and its child runs the script. Cold: the child enters the pipeline's root file system and executes its
command, any language. A run costs a fork and its namespaces either way.
"""

import fcntl
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Self

from sandbox_images.output_tree import read_tree
from sandbox_images.supervisor.filesystems import lock_soon
from worker.sandbox.protocol import (
    MIB,
    NOTHING,
    Audience,
    Cause,
    Limits,
    RunDetail,
    RunResult,
    SandboxUnavailable,
    SlotCancelled,
    SlotOrder,
    Syscalls,
)

from .argv import RESEARCHERS_ROOT, Places, base_of
from .bwrap_binary import Bwrap
from .cgroup import SlotGroup
from .given import VIEW_ABOVE_BYTES, Giver
from .images import HostImage
from .orders import answered_calls, answered_programs, fits, too_large, without_room
from .outputs import read_outputs
from .process import Report, SupervisorProcess
from .scratch import Scratch, check_relative_path, remove_tree
from .surroundings import ADDRESS_SPACE_SLACK, INSIDE_ID, BwrapImage, environment_for

# Beside the run's own memory and file systems: the supervisor, and what the kernel keeps for both.
_GROUP_SLACK_BYTES, _GROUP_SLACK_PROCESSES = 512 * MIB, 16
# A supervisor's address layout and hash seed are shared by its runs: never by very many.
RUNS_PER_SUPERVISOR = 500


class SupervisedSlot:
    """Use it from one thread, and one that lives until the slot is closed."""

    def __init__(
        self,
        bwrap: Bwrap,
        scratch: Scratch,
        host: HostImage,
        image: BwrapImage,
        order: SlotOrder,
        *,
        user: int,
        giver_in: Callable[[Path], Giver],
    ) -> None:
        """`giver_in` makes the slot's giver, which stages in that folder."""
        self._bwrap, self._scratch, self._image, self._order = bwrap, scratch, image, order
        self._user, self._runs, self._cancelled = user, 0, False
        self._base = base_of(image, host, warm=order.warm is not None)
        self._talks = order.audience is Audience.TWIN
        self._process: SupervisorProcess | None = None
        with ExitStack() as undo:
            self._places = self._stage(undo, giver_in)
            self._group = _new_group(order.limits, len(order.levels))
            if self._group is not None:
                undo.callback(self._group.close)
            undo.callback(self._stop)
            self._start()
            self._undo = undo.pop_all()

    def run(self, block: Mapping[str, bytes], *, before: Mapping[str, bytes] = NOTHING) -> RunResult:
        if not self._giver.takes(block):
            return self._instead(too_large(self._order))
        block = self._giver.checked(block)
        for name in before:
            check_relative_path(name)
        if before and not fits(before, self._order.limits):
            return self._instead(without_room(self._order))
        report = self._report_or_stop(block, before)
        try:
            self._check_not_cancelled()
            return self._judge(report)
        finally:
            os.close(report.folder)

    def _instead(self, failed: RunResult) -> RunResult:
        """A run on nothing counts as the one that cannot begin: later runs can tell how many there were."""
        os.close(self._report_or_stop(NOTHING, NOTHING).folder)
        self._check_not_cancelled()
        return failed

    def cancel(self) -> None:
        """From any thread: the run that is going is killed, and this slot runs nothing any more."""
        self._cancelled = True
        if process := self._process:
            process.cancel()

    def close(self) -> None:
        try:
            self._undo.close()
        except OSError as error:  # out of descriptors: the next worker's reaper removes what is left
            raise SandboxUnavailable(f"a slot could not be taken down: {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stage(self, undo: ExitStack, giver_in: Callable[[Path], Giver]) -> Places:
        scratch, user = self._scratch, self._user
        library = scratch.stage(_library(), owner=user)
        undo.callback(remove_tree, library)
        code = scratch.stage(self._order.code, owner=user, executable=True)
        undo.callback(remove_tree, code)
        blocks = scratch.new_folder()
        undo.callback(remove_tree, blocks)
        self._giver = giver_in(blocks)
        return Places(library, code, blocks, self._giver.roots)

    def _start(self) -> None:
        try:
            with self._scratch.shared_lock() as lock:
                process = self._mounted(lock)
                process.begin(self._message(), answered_programs(self._order.syscalls), lock)
            if self._group is not None:
                process.join(self._group)
        except OSError as error:  # this process is out of descriptors or memory
            self._stop()
            raise SandboxUnavailable(f"a supervisor could not be started: {error.strerror}") from error
        except BaseException:
            self._stop()
            raise

    def _mounted(self, lock: int) -> SupervisorProcess:
        """A supervisor. While bwrap mounts, no other slot makes the file systems of its next run: bwrap could
        take a number that is to be taken back there.
        """
        taken = lock_soon(lock)
        process = SupervisorProcess(self._bwrap.path, self._base, self._image, self._places, user=self._user)
        self._process, self._runs = process, 0  # from here on it can be cancelled
        self._check_not_cancelled()
        process.wait_until_here()
        if taken:
            fcntl.flock(lock, fcntl.LOCK_UN)
        return process

    def _check_not_cancelled(self) -> None:
        if self._cancelled:
            raise SlotCancelled

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()
            if self._group is not None:
                self._group.kill()  # empty by now; if not, until it is

    def _message(self) -> dict[str, Any]:
        """sandbox_images/supervisor/order.py."""
        order, limits = self._order, self._order.limits
        is_strict = order.syscalls is Syscalls.STRICT
        return {
            "root": "/" if self._base is self._image else RESEARCHERS_ROOT,
            "command": list(order.command),
            "levels": list(order.levels),
            "environment": environment_for(self._image, order),
            "script": order.warm is not None,
            "modules": list(order.warm or ()),
            "user": INSIDE_ID,
            "watch_memory": True,
            # where the filter allows sockets, files' locks and more, a run sees its own processes, too
            "procfs": not is_strict,
            "talks": self._talks,
            "answered": answered_calls(order.syscalls),
            # where the filter allows no socket, queue, semaphore or shared segment, nothing in these two
            # namespaces can be reached, let alone changed; and to make and end them takes time in each run
            "own_channels": not is_strict,
            "limits": {
                "wall_s": limits.wall_s,
                "cpu_s": limits.cpu_s,
                "memory_bytes": limits.memory_bytes,
                "address_space_bytes": limits.memory_bytes + ADDRESS_SPACE_SLACK,
                "processes": limits.processes,
                "tmp_bytes": limits.tmp_bytes,
                "output_bytes": limits.output_bytes,
                "inodes": limits.inodes,
                "open_files": limits.open_files,
            },
        }

    def _report_or_stop(self, block: Mapping[str, bytes], before: Mapping[str, bytes]) -> Report:
        try:
            return self._report_on(block, before)
        except BaseException as error:
            self._stop()  # whatever state it is in: the next run gets a new one
            if self._cancelled:
                raise SlotCancelled from error
            raise

    def _report_on(self, block: Mapping[str, bytes], before: Mapping[str, bytes] = NOTHING) -> Report:
        self._check_not_cancelled()
        if self._process is None or self._runs >= RUNS_PER_SUPERVISOR:
            self._stop()
            self._start()
        self._runs += 1
        with self._giver.given(block, before) as given:
            if self._process is None:
                raise SandboxUnavailable("the slot is closed")
            try:
                return self._process.run(given, talks=self._talks, wall_s=self._order.limits.wall_s)
            except OSError as error:
                raise SandboxUnavailable(f"a run could not be asked for: {error.strerror}") from error

    def _judge(self, report: Report) -> RunResult:
        """On original data: the outputs or their absence. How it went is not even put into words."""
        order, said = self._order, report.message
        cause, outputs = Cause[said["cause"]], None
        if cause is Cause.COMPLETED:
            outputs = _outputs(report.folder, order)
            cause = Cause.OUTPUT if outputs is None else cause
        if order.audience is Audience.ORIGINAL:
            return RunResult(outputs)
        detail = RunDetail(
            cause=cause,
            exit_code=said["code"],
            level=order.levels[said["level"]],
            duration_s=said["duration_s"],
            tail=report.tail.decode(errors="replace"),
        )
        return RunResult(outputs, detail)


def _outputs(folder: int, order: SlotOrder) -> Mapping[str, bytes] | None:
    limits = order.limits
    if order.tree:
        return read_tree(folder, limits.output_bytes, limits.inodes)
    return read_outputs(folder, order.outputs, cap=limits.file_bytes)


def _new_group(limits: Limits, levels: int) -> SlotGroup | None:
    """A ceiling for all that the watchdog cannot see; None where this worker may not make one. What a level
    has written below /tmp lies there until the run ends.
    """
    own_files = levels * 2 * limits.tmp_bytes + limits.output_bytes + VIEW_ABOVE_BYTES
    return SlotGroup.create(
        f"slot-{secrets.token_hex(8)}",
        memory_bytes=limits.memory_bytes + own_files + _GROUP_SLACK_BYTES,
        processes=limits.processes + _GROUP_SLACK_PROCESSES,
        cpus=1.0,  # a slot is a core
    )


@cache
def _library() -> Mapping[str, bytes]:
    """Our code as a run's supervisor needs it, and nothing else of ours."""
    root = resources.files("sandbox_images")
    names = ["__init__.py", "landlock.py"]
    names += [
        f"supervisor/{part.name}" for part in (root / "supervisor").iterdir() if part.name.endswith(".py")
    ]
    return {f"sandbox_images/{name}": (root / name).read_bytes() for name in names}

"""Supervised slots, warm and cold: docs/explanation/isolation.md says what each closes.

Warm: the command is a Python script and the image the operator's own; the supervisor has the libraries
loaded and its child runs the script. Cold: the child enters the pipeline's root file system and executes its
command, any language. A run costs a fork and its namespaces either way.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Self

from sandbox_images.output_tree import read_tree
from sandbox_images.seccomp.model import Policy
from worker.sandbox.protocol import (
    NOTHING,
    Audience,
    Cause,
    RunDetail,
    RunResult,
    SandboxUnavailable,
    SlotCancelled,
    SlotOrder,
)

from .argv import RESEARCHERS_ROOT, Places, base_of
from .bwrap_binary import Bwrap
from .compiled import with_compiled
from .ending import wait_for
from .given import Giver
from .images import HostImage
from .orders import answered_calls, answered_programs, fits, too_large, without_room
from .outputs import read_outputs
from .process import Report
from .scratch import Scratch, check_relative_path, remove_tree
from .seat import Seat, Staged
from .slot_user import SeatUsers
from .surroundings import ADDRESS_SPACE_SLACK, INSIDE_ID, BwrapImage, environment_for

_NOT_ENDED = RunResult(None)


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
        wider: Policy | None,
        user: int,
        seat_users: SeatUsers,
        giver_in: Callable[[Path], Giver],
    ) -> None:
        """`wider`: the table of system calls where it is not STRICT. `giver_in` makes the slot's giver, which
        stages in that folder.
        """
        self._order, self._wider, self._cancelled = order, wider, False
        self._base = base_of(image, host, warm=order.warm is not None)
        self._image = image
        with ExitStack() as undo:
            self._places = self._stage(undo, scratch, user, giver_in)
            staged = Staged(
                bwrap.path,
                scratch,
                self._base,
                image,
                self._places,
                user,
                seat_users,
                self._giver,
                order,
                self._message(),
                answered_programs(wider),
            )
            self._seats: list[Seat] = []
            undo.callback(self._leave)
            for _ in range(order.seats):  # they warm up at the same time
                self._seats.append(seat := Seat(staged))
                seat.begin()
            self._seat = self._seats[0]
            for seat in self._seats:
                seat.get_ready()
            self._undo = undo.pop_all()

    def take_turn(self, turn: int, *, on_time: bool = True) -> bool:
        """Turns go round the seats. Without a run in this turn, it is owed."""
        self._check_not_cancelled()
        self._seat = self._seats[turn % len(self._seats)]
        is_free = self._seat.is_free() and on_time
        if not is_free:
            self._seat.owe()
        return is_free

    def run(
        self,
        block: Mapping[str, bytes],
        *,
        before: Mapping[str, bytes] = NOTHING,
        within_s: float | None = None,
    ) -> RunResult:
        if not self._giver.takes(block):
            return self._instead(too_large(self._order), within_s)
        block = self._giver.checked(block)
        for name in before:
            check_relative_path(name)
        if before and not fits(before, self._order.limits):
            return self._instead(without_room(self._order), within_s)
        report = self._seat.run(block, before, within_s=within_s)
        if report is None:
            return _NOT_ENDED
        try:
            self._check_not_cancelled()
            return self._judge(report)
        finally:
            os.close(report.folder)

    def _instead(self, failed: RunResult, within_s: float | None) -> RunResult:
        """A run on nothing counts as the one that cannot begin: later runs can tell how many there were."""
        report = self._seat.run(NOTHING, NOTHING, within_s=within_s)
        if report is not None:
            os.close(report.folder)
        self._check_not_cancelled()
        return failed

    def cancel(self) -> None:
        """From any thread: the run that is going is killed, and this slot runs nothing any more."""
        self._cancelled = True
        for seat in self._seats:
            seat.cancel()

    def close(self) -> None:
        try:
            self._undo.close()
        except OSError as error:  # out of descriptors: the next worker's reaper removes what is left
            raise SandboxUnavailable(f"a slot could not be taken down: {error.strerror}") from error

    def _leave(self) -> None:
        wait_for([left for seat in self._seats for left in seat.leave()])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stage(
        self, undo: ExitStack, scratch: Scratch, user: int, giver_in: Callable[[Path], Giver]
    ) -> Places:
        library = scratch.stage(_library(), owner=user)
        undo.callback(remove_tree, library)
        code = scratch.stage(self._order.code, owner=user, executable=True)
        undo.callback(remove_tree, code)
        blocks = scratch.new_folder()
        undo.callback(remove_tree, blocks)
        self._giver = giver_in(blocks)
        return Places(library, code, blocks, self._giver.roots)

    def _check_not_cancelled(self) -> None:
        if self._cancelled:
            raise SlotCancelled

    def _message(self) -> dict[str, Any]:
        """sandbox_images/supervisor/order.py."""
        order, limits = self._order, self._order.limits
        ceilings = {**vars(limits), "address_space_bytes": limits.memory_bytes + ADDRESS_SPACE_SLACK}
        del ceilings["file_bytes"]  # who looks at it is the reader of outputs
        return {
            "root": "/" if self._base is self._image else RESEARCHERS_ROOT,
            "command": list(order.command),
            "levels": list(order.levels),
            "environment": environment_for(self._image, order),
            "script": order.warm is not None,
            "modules": list(order.warm or ()),
            "user": INSIDE_ID,
            "talks": order.audience is Audience.TWIN,
            "answered": answered_calls(self._wider),
            # STRICT allows no socket, queue, semaphore or shared segment: in namespaces of network and IPC
            # nothing can be reached, let alone changed, and to make and end them takes time in each run
            "wide": self._wider is not None,
            "limits": ceilings,
        }

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


@cache
def _library() -> Mapping[str, bytes]:
    """Our code as a run's supervisor needs it, and nothing else of ours; compiled as well."""
    root = resources.files("sandbox_images")
    names = ["__init__.py", "landlock.py"]
    names += [
        f"supervisor/{part.name}" for part in (root / "supervisor").iterdir() if part.name.endswith(".py")
    ]
    sources = {f"sandbox_images/{name}": (root / name).read_bytes() for name in names}
    return with_compiled(sources)

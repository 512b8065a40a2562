"""One supervisor of a slot, its control group, and the run that it has not done with yet.

A slot has several where its runs keep to turns: one that is slow to die is left to it, and the next run is
made by another supervisor. Nothing of a run decides which supervisor makes which run.
"""

import fcntl
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from sandbox_images.supervisor.filesystems import lock_soon
from worker.sandbox.protocol import MIB, Audience, Limits, SandboxUnavailable, SlotCancelled, SlotOrder

from .argv import Places
from .cgroup import SlotGroup
from .ending import ending, wait_for
from .given import VIEW_ABOVE_BYTES, Giver
from .process import DoesNotAnswer, Report, SupervisorProcess
from .scratch import Scratch
from .slot_user import SeatUsers
from .surroundings import BwrapImage

# Beside the run's own memory and file systems: what the zygote has, and what the kernel keeps for both.
_GROUP_SLACK_BYTES, _GROUP_SLACK_PROCESSES = 512 * MIB, 16
# A supervisor's address layout and hash seed are shared by its runs: never by very many.
RUNS_PER_SUPERVISOR = 500


@dataclass(frozen=True)
class Staged:
    """What all seats of a slot have in common. `message` and `programs` are for the supervisor."""

    bwrap: Path
    scratch: Scratch
    base: BwrapImage
    image: BwrapImage
    places: Places
    group: int
    users: SeatUsers
    giver: Giver
    order: SlotOrder
    message: Mapping[str, Any]
    programs: tuple[bytes, bytes]


class Seat:
    """Use it from one thread, and one that lives until it is closed; `cancel` is for all threads."""

    def __init__(self, staged: Staged) -> None:
        self._staged, self._talks = staged, staged.order.audience is Audience.TWIN
        self.process: SupervisorProcess | None = None
        self.group: SlotGroup | None = None  # of this process's runs, and of no other's
        self._runs, self._is_ready, self._is_busy, self._cancelled = 0, False, False, False
        self._given = ExitStack()

    def begin(self) -> None:
        """A supervisor, which warms up from now on."""
        staged = self._staged
        with (
            self._stopped_on_failure("a supervisor could not be started"),
            staged.scratch.shared_lock() as lock,
        ):
            self.group = _new_group(staged.order.limits, len(staged.order.levels))
            process = self._mounted(lock)
            process.begin(staged.message, staged.programs, lock)

    def get_ready(self) -> None:
        """Wait until it has warmed up."""
        with self._stopped_on_failure("a supervisor could not be started"):
            if self.process is not None and not self._is_ready:
                self.process.wait_until_ready()
                self._is_ready = True
                if self.group is not None:
                    self.process.join(self.group)

    def is_free(self) -> bool:
        """Whether the run that it made last has ended. One that never does is no failure."""
        if self._is_busy and self.process is not None:
            if not self.process.has_answered(0):
                return False
            with self._stopped_on_failure():
                os.close(self._report().folder)  # too late to be looked at
        return True

    def owe(self) -> None:
        """A run is not made here, which those that follow must not be able to tell by how often their zygote
        has forked: it does so for nobody, once it can."""
        self._runs += 1
        if self.process is not None:
            with self._stopped_on_failure():
                self.process.skip()

    def run(
        self, block: Mapping[str, bytes], before: Mapping[str, bytes], *, within_s: float | None
    ) -> Report | None:
        """None: it has not ended in so many seconds. The seat is not free until it has. Where there are turns
        its supervisor is not replaced, which takes time that no turn has.
        """
        asked_at = time.monotonic()
        with self._stopped_on_failure():
            self._check_not_cancelled()
            if self.process is None or (within_s is None and self._runs >= RUNS_PER_SUPERVISOR):
                self.stop()
                self.begin()
                self.get_ready()
            self._runs += 1
            given = self._given.enter_context(self._staged.giver.given(block, before))
            process = self.process
            if process is None:
                raise SandboxUnavailable("the slot is closed")
            process.ask(given)
            self._is_busy = True
            if within_s is not None and not process.has_answered(within_s - (time.monotonic() - asked_at)):
                return None
            try:
                return self._report()
            except DoesNotAnswer:
                if self._talks:
                    raise
            self.stop()  # on original data it is not told whether that is the run's doing
            return None

    def cancel(self) -> None:
        self._cancelled = True
        if process := self.process:
            process.cancel()

    def stop(self) -> None:
        """Whatever state it is in: the next run gets a new supervisor."""
        wait_for(self.leave())

    def leave(self) -> list[Thread]:
        """Kills the supervisor and all that it has running, and waits for them elsewhere."""
        process, self.process = self.process, None
        group, self.group = self.group, None
        self._runs, self._is_ready, self._is_busy = 0, False, False
        given, self._given = self._given, ExitStack()

        def end() -> None:
            with ExitStack() as undo:
                if group is not None:
                    undo.callback(group.close)
                if process is not None:
                    undo.callback(process.close)
                    process.kill()
                if group is not None:
                    group.kill()

        left = [] if process is None and group is None else [ending(end)]
        given.close()
        return left

    def _report(self) -> Report:
        assert self.process is not None
        report = self.process.report(talks=self._talks, wall_s=self._staged.order.limits.wall_s)
        self._is_busy = False
        self._given.close()
        return report

    def _mounted(self, lock: int) -> SupervisorProcess:
        """A supervisor. While bwrap mounts, no other slot makes the file systems of its next run: bwrap could
        take a number that is to be taken back there.
        """
        staged, taken = self._staged, lock_soon(lock)
        where = (staged.bwrap, staged.base, staged.image, staged.places)
        process = SupervisorProcess(*where, user=staged.users.next(), group=staged.group)
        self.process = process  # from here on it can be cancelled
        self._check_not_cancelled()
        process.wait_until_here()
        if taken:
            fcntl.flock(lock, fcntl.LOCK_UN)
        return process

    def _check_not_cancelled(self) -> None:
        if self._cancelled:
            raise SlotCancelled

    @contextmanager
    def _stopped_on_failure(self, failed: str = "a run could not be asked for") -> Iterator[None]:
        """Whatever state it was in then: the next run gets a new supervisor."""
        try:
            yield
        except BaseException as error:
            self.stop()
            if self._cancelled:
                raise SlotCancelled from error
            if isinstance(error, OSError):  # this process is out of descriptors or memory
                raise SandboxUnavailable(f"{failed}: {error.strerror}") from error
            raise


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

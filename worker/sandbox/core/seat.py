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
from typing import Any

from sandbox_images.supervisor.filesystems import lock_soon
from worker.sandbox.protocol import MIB, Audience, Limits, SandboxUnavailable, SlotCancelled, SlotOrder

from .argv import Places
from .cgroup import SlotGroup
from .given import VIEW_ABOVE_BYTES, Giver
from .orders import answered_programs
from .process import GRACE_S, Report, SupervisorProcess
from .scratch import Scratch
from .surroundings import BwrapImage

# Beside the run's own memory and file systems: what the zygote has, and what the kernel keeps for both.
_GROUP_SLACK_BYTES, _GROUP_SLACK_PROCESSES = 512 * MIB, 16
# A supervisor's address layout and hash seed are shared by its runs: never by very many.
RUNS_PER_SUPERVISOR = 500


@dataclass(frozen=True)
class Staged:
    """What all seats of a slot have in common. `message` is the supervisor's order."""

    bwrap: Path
    scratch: Scratch
    base: BwrapImage
    image: BwrapImage
    places: Places
    user: int
    giver: Giver
    order: SlotOrder
    message: Mapping[str, Any]


class Seat:
    """Use it from one thread, and one that lives until it is closed; `cancel` is for all threads."""

    def __init__(self, staged: Staged) -> None:
        self._staged, self._talks = staged, staged.order.audience is Audience.TWIN
        self.process: SupervisorProcess | None = None
        self._runs, self._is_ready, self._cancelled = 0, False, False
        self._given, self._busy_since = ExitStack(), 0.0
        self.group = _new_group(staged.order.limits, len(staged.order.levels))

    def begin(self) -> None:
        """A supervisor, which warms up from now on."""
        staged = self._staged
        with (
            self._stopped_on_failure("a supervisor could not be started"),
            staged.scratch.shared_lock() as lock,
        ):
            process = self._mounted(lock)
            process.begin(staged.message, answered_programs(staged.order.syscalls), lock)

    def get_ready(self) -> None:
        """Wait until it has warmed up."""
        with self._stopped_on_failure("a supervisor could not be started"):
            if self.process is not None and not self._is_ready:
                self.process.wait_until_ready()
                self._is_ready = True
                if self.group is not None:
                    self.process.join(self.group)

    def is_free(self) -> bool:
        """Whether the run that it made last has ended."""
        if self._busy_since and self.process is not None:
            if not self.process.has_answered(0):
                self._check_not_hanging()
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
        """None: it has not ended in so many seconds. The seat is not free until it has."""
        asked_at = time.monotonic()
        with self._stopped_on_failure():
            self._check_not_cancelled()
            if self.process is None or self._runs >= RUNS_PER_SUPERVISOR:
                self.stop()
                self.begin()
                self.get_ready()
            self._runs += 1
            given = self._given.enter_context(self._staged.giver.given(block, before))
            process = self.process
            if process is None:
                raise SandboxUnavailable("the slot is closed")
            process.ask(given)
            self._busy_since = time.monotonic()
            if within_s is not None and not process.has_answered(within_s - (time.monotonic() - asked_at)):
                return None
            return self._report()

    def cancel(self) -> None:
        self._cancelled = True
        if process := self.process:
            process.cancel()

    def stop(self) -> None:
        """Whatever state it is in: the next run gets a new supervisor."""
        process, self.process = self.process, None
        self._runs, self._is_ready, self._busy_since = 0, False, 0.0
        try:
            if process is not None:
                process.close()
                if self.group is not None:
                    self.group.kill()  # empty by now; if not, until it is
        finally:
            self._given.close()

    def close(self) -> None:
        try:
            self.stop()
        finally:
            if self.group is not None:
                self.group.close()

    def _report(self) -> Report:
        assert self.process is not None
        report = self.process.report(talks=self._talks, wall_s=self._staged.order.limits.wall_s)
        self._busy_since = 0.0
        self._given.close()
        return report

    def _mounted(self, lock: int) -> SupervisorProcess:
        """A supervisor. While bwrap mounts, no other slot makes the file systems of its next run: bwrap could
        take a number that is to be taken back there.
        """
        staged, taken = self._staged, lock_soon(lock)
        process = SupervisorProcess(staged.bwrap, staged.base, staged.image, staged.places, user=staged.user)
        self.process = process  # from here on it can be cancelled
        self._check_not_cancelled()
        process.wait_until_here()
        if taken:
            fcntl.flock(lock, fcntl.LOCK_UN)
        return process

    def _check_not_cancelled(self) -> None:
        if self._cancelled:
            raise SlotCancelled

    def _check_not_hanging(self) -> None:
        limit = self._staged.order.limits.wall_s + GRACE_S
        if time.monotonic() - self._busy_since > limit:
            with self._stopped_on_failure():
                raise SandboxUnavailable("the supervisor does not answer; its slot is ended")

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

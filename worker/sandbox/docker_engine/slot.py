"""One pipeline's place on the daemon: a container per level, on volumes that are used once."""

import time
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from typing import Self

from worker.sandbox.core.orders import fits, too_large, without_room
from worker.sandbox.protocol import (
    KIB,
    NOTHING,
    Audience,
    Cause,
    RunDetail,
    RunResult,
    SandboxUnavailable,
    SlotCancelled,
    SlotOrder,
)

from .batch import Batch, close_quietly
from .create_body import Part, create_body
from .engine import CannotStart, Engine
from .identity import Identity
from .image_check import environment_of
from .kept_parts import KeptParts
from .payload import payload_part
from .settings import DockerSettings
from .sizes import can_be_given
from .volumes import Volume, parts_volume

_TAIL_BYTES = 64 * KIB
# From SIGKILL to the daemon's word that nobody is left. A run that takes longer is a failure of the platform
# that can be seen, so it is far more than the limits of a run let it take.
_DEATH_S = 600
_SIGNALLED = 128  # runtimes report an end by signal n as exit code 128 + n


@dataclass(frozen=True)
class Ending:
    """How the last level that was started ended. `cause` None: as it should, by itself with code 0."""

    cause: Cause | None
    exit_code: int | None
    level: str
    tail: bytes


class DockerSlot:
    """Use it from one thread. A failure of the platform discards its batch; the next run starts afresh."""

    def __init__(self, settings: DockerSettings, identity: Identity, order: SlotOrder, *, slot: int) -> None:
        self._settings, self._identity, self._order = settings, identity, order
        self._user, self._core = settings.user(slot), settings.core(slot)
        self._batch: Batch | None = None
        self._cancelled, self._running = False, ""
        with ExitStack() as undo:
            self._engine = Engine(settings)
            undo.callback(self._engine.close)
            self._labels = identity.open_slot()
            undo.callback(identity.close_slot, self._labels)
            self._of_image = environment_of(self._engine, order.image.digest, name=order.image.name)
            self._of_keeper = environment_of(self._engine, settings.keeper_image, name="of the keeper")
            self._kept = KeptParts(settings.view_bytes)
            undo.callback(self._forget_parts)
            self._batch = self._new_batch()
            self._undo = undo.pop_all()

    def take_turn(self, turn: int, *, on_time: bool = True) -> bool:  # noqa: ARG002 - one place for all
        """It is free: `run` returns when nobody is left of a run."""
        return on_time

    def run(
        self,
        block: Mapping[str, bytes],
        *,
        before: Mapping[str, bytes] = NOTHING,
        within_s: float | None = None,  # noqa: ARG002 - a container cannot be left to its dying
    ) -> RunResult:
        self._check_not_cancelled()
        if before and not fits(before, self._order.limits):
            return without_room(self._order)
        if not can_be_given(block, self._settings, self._kept):
            return too_large(self._order)
        batch = self._batch_with_room()
        try:
            return self._run_in(batch, block, before)
        except BaseException as error:
            self._batch = None
            close_quietly(batch)
            self._forget_parts()
            if self._cancelled:
                raise SlotCancelled from error
            raise

    def cancel(self) -> None:
        """From any thread, so with a connection of its own."""
        self._cancelled = True
        if container := self._running:
            with suppress(SandboxUnavailable), closing(Engine(self._settings)) as engine:
                engine.kill(container)

    def close(self) -> None:
        """What a daemon that is away cannot remove now, the next `reap` removes: it is a closed slot's."""
        if self._batch is not None:
            close_quietly(self._batch)
        self._batch = None
        self._undo.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _batch_with_room(self) -> Batch:
        """Data do not decide when it changes: only the number of runs does. The next one is there before the
        last one goes, so that the parts which both have mounted stay.
        """
        if self._batch is not None and self._batch.is_used_up:
            used, self._batch = self._batch, self._new_batch()
            used.close()
        if self._batch is None:
            self._batch = self._new_batch()
        return self._batch

    def _new_batch(self) -> Batch:
        return Batch(
            self._engine,
            self._settings,
            self._order,
            self._kept,
            user=self._user,
            environment=self._of_keeper,
            core=self._core,
            labels=self._labels,
        )

    def _forget_parts(self) -> None:
        """When no keeper has them any more. What cannot be removed now, the next reaper removes."""
        forgotten, self._kept = self._kept, KeptParts(self._settings.view_bytes)
        with suppress(SandboxUnavailable):
            self._engine.remove_volume(parts_volume(forgotten.volume))

    def _check_not_cancelled(self) -> None:
        if self._cancelled:
            raise SlotCancelled

    def _run_in(self, batch: Batch, block: Mapping[str, bytes], before: Mapping[str, bytes]) -> RunResult:
        run = batch.next_run()
        batch.put(run, block, before, go_on=self._check_not_cancelled)
        ending, duration_s = self._levels(batch.mounts(run))
        self._check_not_cancelled()
        outputs = batch.collect(run) if ending.cause is None else None
        batch.clear(run)
        return _judge(ending, outputs, duration_s, self._order)

    def _levels(self, volumes: tuple[Volume, ...]) -> tuple[Ending, float]:
        """One container after the other, until one fails. The wall clock runs for all of them together."""
        limits, tail = self._order.limits, b""
        left_s = limits.wall_s
        for level in self._order.levels:
            part = payload_part(
                self._settings,
                self._order,
                level,
                user=self._user,
                volumes=volumes,
                of_image=self._of_image,
                core=self._core,
                labels=self._labels,
            )
            ending, took_s = self._level(part, level, left_s)
            tail = (tail + ending.tail)[-_TAIL_BYTES:]
            left_s -= took_s
            if ending.cause is not None:
                break
        return Ending(ending.cause, ending.exit_code, ending.level, tail), limits.wall_s - left_s

    def _level(self, part: Part, level: str, left_s: float) -> tuple[Ending, float]:
        """When this returns, no process of it exists. Its time counts from when the daemon says that it has
        started: the daemon's own work is not the pipeline's.
        """
        engine, tail = self._engine, b""
        with ExitStack() as undo:
            container = engine.create(create_body(part))
            undo.callback(engine.remove, container)
            if part.output:
                stream = engine.attach(container, stdin=False)
                undo.callback(stream.close)
            self._running = container
            try:
                engine.start(container)
            except CannotStart as error:
                return Ending(Cause.START, None, level, str(error).encode()), 0.0
            started = time.monotonic()
            if self._cancelled:  # before there was anybody to kill
                engine.kill(container)
            if part.output:
                tail = stream.drain(until=started + left_s, keep=_TAIL_BYTES)
                stream.close()  # a daemon that cannot get rid of a payload's words cannot end it either
            code = engine.wait(container, until=started + left_s)
            took_s = time.monotonic() - started
            if code is None:
                self._end(container)
                return Ending(Cause.WALL, None, level, tail), took_s
            if engine.state(container)["OOMKilled"]:
                return Ending(Cause.MEMORY, None, level, tail), took_s
            return Ending(*_cause(code), level, tail), took_s

    def _end(self, container: str) -> None:
        self._engine.kill(container)
        if self._engine.wait(container, until=time.monotonic() + _DEATH_S) is None:
            raise SandboxUnavailable("a run could not be ended: the Docker daemon does not let it go")


def _cause(code: int) -> tuple[Cause | None, int]:
    """A program that ends itself with a code above 128 looks like one that was ended by a signal."""
    if code == 0:
        return None, 0
    if _SIGNALLED < code <= _SIGNALLED + 64:
        return Cause.SIGNAL, _SIGNALLED - code
    return Cause.EXIT, code


def _judge(
    ending: Ending, outputs: Mapping[str, bytes] | None, duration_s: float, order: SlotOrder
) -> RunResult:
    """On original data: the outputs or their absence. How it went is not even put into words."""
    if order.audience is Audience.ORIGINAL:
        return RunResult(outputs)
    cause = ending.cause or (Cause.OUTPUT if outputs is None else Cause.COMPLETED)
    detail = RunDetail(
        cause=cause,
        exit_code=ending.exit_code,
        level=ending.level,
        duration_s=duration_s,
        tail=ending.tail.decode(errors="replace"),
    )
    return RunResult(outputs, detail)

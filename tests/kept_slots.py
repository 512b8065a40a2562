"""Slots that the tests of the worker's route share: to start a supervisor takes longer than the runs in it.

A worker opens a slot for each chunk. What that closes is asked by the tests of the sandbox, of the attacks
and of the faults; a test of the route is about rows and releases, and most of them run the same few
pipelines. A slot knows its order and nothing else, so whoever has the same order may have the same slot.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worker.config import WorkerSettings
from worker.sandbox.choice import OpenSandbox, input_bytes, open_sandbox
from worker.sandbox.core.images import HostImage
from worker.sandbox.profiles import Feature
from worker.sandbox.protocol import NOTHING, RunResult, Slot, SlotOrder

MOST = 4


@dataclass(frozen=True)
class _Idle:
    sandbox: OpenSandbox
    order: SlotOrder
    number: int
    slot: Slot

    def fits(self, sandbox: OpenSandbox, order: SlotOrder, number: int) -> bool:
        return self.sandbox is sandbox and self.number == number and self.order == order


class KeptSlots:
    """For one process, with a real sandbox for each set of settings that it depends on. Close it."""

    def __init__(self, host: HostImage) -> None:
        self._host = host
        self._sandboxes: dict[tuple[object, ...], OpenSandbox] = {}
        self._idle: list[_Idle] = []

    def sandbox(self, settings: WorkerSettings) -> LendingSandbox:
        assert settings.sandbox != "docker", "what a container is made of is not among the keys"
        key = (settings.sandbox, settings.scratch_folder, settings.allow_disk_scratch, input_bytes(settings))
        if key not in self._sandboxes:
            self._sandboxes[key] = open_sandbox(settings, self._host)
        return LendingSandbox(self._sandboxes[key], self)

    def lend(self, sandbox: OpenSandbox, order: SlotOrder, number: int) -> Slot:
        if threading.current_thread() is not threading.main_thread():
            return sandbox.open_slot(order, slot=number)  # it ends with its thread
        kept = next((idle for idle in self._idle if idle.fits(sandbox, order, number)), None)
        if kept is None:
            kept = _Idle(sandbox, order, number, sandbox.open_slot(order, slot=number))
        else:
            self._idle.remove(kept)
        return _Lent(kept, self)  # type: ignore[return-value]

    def take_back(self, kept: _Idle) -> None:
        self._idle.append(kept)
        while len(self._idle) > MOST:
            self._idle.pop(0).slot.close()

    def close(self) -> None:
        for kept in self._idle:
            kept.slot.close()
        for sandbox in self._sandboxes.values():
            sandbox.close()


class LendingSandbox:
    """The sandbox of one zone, which goes on when the zone is closed."""

    def __init__(self, real: OpenSandbox, kept: KeptSlots) -> None:
        self._real, self._kept = real, kept

    def probe(self) -> tuple[Feature, ...]:
        return self._real.probe()

    def open_slot(self, order: SlotOrder, *, slot: int) -> Slot:
        return self._kept.lend(self._real, order, slot)

    def reap(self) -> int:
        return self._real.reap()

    def close(self) -> None:
        pass


class _Lent:
    """A slot until it is closed, and no longer. One that was cancelled or broke is closed for good."""

    def __init__(self, kept: _Idle, slots: KeptSlots) -> None:
        self._kept, self._slots = kept, slots
        self._is_spoilt, self._is_closed = False, False

    def take_turn(self, turn: int, *, on_time: bool = True) -> bool:
        assert not self._is_closed, "somebody else may have this slot"
        try:
            return self._kept.slot.take_turn(turn, on_time=on_time)
        except BaseException:
            self._is_spoilt = True
            raise

    def run(
        self,
        block: Mapping[str, bytes],
        *,
        before: Mapping[str, bytes] = NOTHING,
        within_s: float | None = None,
    ) -> RunResult:
        assert not self._is_closed, "somebody else may have this slot"
        try:
            return self._kept.slot.run(block, before=before, within_s=within_s)
        except BaseException:
            self._is_spoilt = True
            raise

    def cancel(self) -> None:
        assert not self._is_closed, "somebody else may have this slot"
        self._is_spoilt = True
        self._kept.slot.cancel()

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if self._is_spoilt:
            self._kept.slot.close()
        else:
            self._slots.take_back(self._kept)

    def __enter__(self) -> _Lent:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

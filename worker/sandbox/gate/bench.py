"""Slots in which looks and senders run. One thread for each slot: backends tie the life of a run to the
thread that started it.
"""

import json
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from sandbox_images.seccomp.bpf import ARCHITECTURES
from worker.sandbox.core.images import StoredImage
from worker.sandbox.protocol import (
    MIB,
    Audience,
    Image,
    Limits,
    Sandbox,
    SandboxUnavailable,
    Slot,
    SlotOrder,
)

from .languages import PYTHON, Language, Look

SEATS = 2  # supervisors of a slot, as where runs keep to turns; looks are made in the first
FIRST_SLOT = 9_970  # users of their own, so that nothing here counts against running slots
MARK = "x7qMarkOfAnother"  # a word in the block of every sender, which no look may find in its memory
_DYING_S = 0.5
_LIMITS = Limits(
    wall_s=PYTHON.wall_s,
    cpu_s=PYTHON.wall_s,
    memory_bytes=PYTHON.memory_bytes,
    processes=64,
    tmp_bytes=8 * MIB,
    output_bytes=8 * MIB,
    file_bytes=8 * MIB,
    inodes=2000,
)


@dataclass(frozen=True)
class Sending:
    """What a hostile run does."""

    name: str
    senders: tuple[str, ...] = ()
    attacks: tuple[tuple[str, str], ...] = ()  # (script, function) of the battery
    facts: tuple[tuple[str, Any], ...] = ()  # what the attacks are told of things to attack


class GateBench:
    """A sandbox and open slots on it. Close it."""

    def __init__(
        self,
        sandbox: Sandbox,
        image: Image,
        *,
        warm: bool,
        most: int,
        first_slot: int = FIRST_SLOT,
        language: Language = PYTHON,
        seats: int = SEATS,
    ) -> None:
        """`most`: of the paths that a look looks at. `first_slot`: of numbers that nobody else uses."""
        self._sandbox, self._most, self._first_slot = sandbox, most, first_slot
        self._language, self.wall_s = language, language.wall_s
        self._order = SlotOrder(
            image=image,
            code=language.sources(),
            command=language.command,
            levels=("group",),
            outputs=language.outputs,
            limits=replace(
                _LIMITS, wall_s=self.wall_s, cpu_s=self.wall_s, memory_bytes=language.memory_bytes
            ),
            audience=Audience.ORIGINAL,
            warm=language.modules if warm else None,
            seats=seats,
        )
        self._slots: dict[int, Slot] = {}
        self._threads: dict[int, ThreadPoolExecutor] = {}

    def look(self, slot: int = 0, *, residuals: Sequence[str] = ()) -> Look:
        """All that a run can read, or, of residual channels, what was measured."""
        return self.start_look(slot, residuals=residuals).result()

    def start_look(self, slot: int, *, residuals: Sequence[str] = ()) -> "Future[Look]":
        mark = "".join(chr(ord(letter) + 1) for letter in MARK)
        asked = {"role": "look", "mark": mark, "most": self._most, "residuals": list(residuals)}
        return self._thread(slot).submit(self._looked, slot, asked)

    def start(
        self, sending: Sending | None, slot: int, *, hold_s: float = 0.0, seat: int = 0
    ) -> "Future[None]":
        """A hostile run; None: a quiet one, so that the number of runs says nothing. In another seat than the
        look's it is left to its dying, as a run on a time grid is.
        """
        if sending is None:
            return self._thread(slot).submit(self._done, slot, {"role": "quiet"}, {}, seat)
        asked = {
            "role": "send",
            "hold_s": hold_s,
            "senders": sending.senders,
            "attacks": sending.attacks,
        }
        target = {**dict(sending.facts), "apart": True, "attacks": sending.attacks, "mark": "gatemark"}
        more = {
            "data.csv": b"1,0\n",
            f"{MARK}.csv": MARK.encode() * 100,
            "target.json": json.dumps(target).encode(),
        }
        return self._thread(slot).submit(self._done, slot, asked, more, seat)

    def renew(self) -> None:
        """Close all slots: the next run of each is the first of a new one."""
        for slot in list(self._slots):
            self._thread(slot).submit(self._drop, slot).result()

    def forget_image_files(self) -> None:
        """Out of the page cache, so that who reads them first can be told. Others may keep them there, and a
        file system in memory does.
        """
        root = self._order.image.rootfs if isinstance(self._order.image, StoredImage) else Path("/")
        for path in root.glob("usr/lib/python3.*/*.py"):
            with suppress(OSError), open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def _thread(self, slot: int) -> ThreadPoolExecutor:
        return self._threads.setdefault(slot, ThreadPoolExecutor(1, thread_name_prefix=f"slot {slot}"))

    def _looked(self, slot: int, asked: Mapping[str, Any]) -> Look:
        outputs = self._run(slot, asked, {})
        if outputs is None:
            raise SandboxUnavailable("a run that only looks did not end well: nothing can be said")
        return self._language.read(outputs)

    def _done(self, slot: int, asked: Mapping[str, Any], more: Mapping[str, bytes], seat: int) -> None:
        self._run(slot, asked, more, seat)  # however it ends

    def _run(
        self, slot: int, asked: Mapping[str, Any], more: Mapping[str, bytes], seat: int = 0
    ) -> Mapping[str, bytes] | None:
        if slot not in self._slots:
            self._slots[slot] = self._sandbox.open_slot(self._order, slot=self._first_slot + slot)
        words = {"asked.json": json.dumps({**asked, "numbers": _numbers()}).encode()}
        block = {**words, **self._language.told(asked), **more}
        while not self._slots[slot].take_turn(seat):  # who was left to dying there has not ended
            time.sleep(_DYING_S)
        return self._slots[slot].run(block, within_s=None if seat == 0 else self.wall_s).outputs

    def _drop(self, slot: int) -> None:
        self._slots.pop(slot).close()

    def close(self) -> None:
        with ExitStack() as each:
            for thread in self._threads.values():
                each.callback(thread.shutdown)
            each.callback(self.renew)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@cache
def _numbers() -> Mapping[str, int]:
    return ARCHITECTURES[os.uname().machine].numbers

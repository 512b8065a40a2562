"""Several sandboxes side by side on one list of runs. The first failure, and Ctrl-C, end all of them."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from worker.sandbox.protocol import Slot, SlotCancelled

Work = TypeVar("Work")
Done = TypeVar("Done")


@dataclass
class Slots(Generic[Work, Done]):
    """`open` opens a slot by number, `run` makes one run in it; both are called in the slot's own thread.
    `keep` gets what a run gave and its seconds, one at a time, in the thread that calls `run_all`."""

    open: Callable[[int], Slot]
    run: Callable[[Slot, Work], Done]
    keep: Callable[[Work, Done, float], None]
    _found: queue.SimpleQueue[tuple[Work, Done, float] | BaseException] = field(
        default_factory=queue.SimpleQueue
    )
    _opened: list[Slot] = field(default_factory=list)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def run_all(self, works: Sequence[Work], *, slots: int) -> None:
        """Raises whatever `open`, `run` or `keep` raised first."""
        left: queue.SimpleQueue[Work] = queue.SimpleQueue()
        for work in works:
            left.put(work)
        threads = [
            threading.Thread(target=self._serve, args=(number, left), daemon=True)
            for number in range(min(slots, len(works)))
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in works:
                found = self._found.get()
                if isinstance(found, BaseException):
                    raise found
                self.keep(*found)
        finally:
            self._stopped.set()
            for slot in tuple(self._opened):
                slot.cancel()
            for thread in threads:
                thread.join()

    def _serve(self, number: int, left: queue.SimpleQueue[Work]) -> None:
        try:
            with self.open(number) as slot:
                self._opened.append(slot)
                while not self._stopped.is_set():
                    work = left.get_nowait()
                    started = time.monotonic()
                    done = self.run(slot, work)
                    self._found.put((work, done, time.monotonic() - started))
        except (queue.Empty, SlotCancelled):
            return
        except BaseException as error:
            self._found.put(error)

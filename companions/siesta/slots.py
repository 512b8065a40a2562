"""Several sandboxes side by side on one list of runs. The first failure, and Ctrl-C, end all of them."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Generic, Self, TypeVar

from worker.sandbox.protocol import Slot, SlotCancelled

Work = TypeVar("Work")
Done = TypeVar("Done")


@dataclass
class Slots(Generic[Work, Done]):
    """`open` opens a slot by number, `run` makes one run in it; both are called in the slot's own thread.
    `keep` gets what a run gave and its seconds, one at a time, in the thread that calls `run_all`.

    Up to `most` slots begin to open with the context: they may be ready before their runs may begin.
    """

    open: Callable[[int], Slot]
    run: Callable[[Slot, Work], Done]
    keep: Callable[[Work, Done, float], None]
    works: Sequence[Work]
    most: int
    _left: queue.SimpleQueue[Work | None] = field(default_factory=queue.SimpleQueue)
    _found: queue.SimpleQueue[tuple[Work, Done, float] | BaseException] = field(
        default_factory=queue.SimpleQueue
    )
    _opened: list[Slot] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        for number in range(min(self.most, len(self.works))):
            self._threads.append(threading.Thread(target=self._serve, args=(number,), daemon=True))
            self._threads[-1].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        for slot in tuple(self._opened):
            slot.cancel()
        for _ in self._threads:
            self._left.put(None)
        for thread in self._threads:
            thread.join()

    def run_all(self) -> int:
        """How many runs that were. Raises whatever `open`, `run` or `keep` raised first."""
        for work in self.works:
            self._left.put(work)
        for _ in self.works:
            found = self._found.get()
            if isinstance(found, BaseException):
                raise found
            self.keep(*found)
        return len(self.works)

    def _serve(self, number: int) -> None:
        try:
            with self.open(number) as slot:
                self._opened.append(slot)
                while (work := self._left.get()) is not None and not self._stopped.is_set():
                    started = time.monotonic()
                    done = self.run(slot, work)
                    self._found.put((work, done, time.monotonic() - started))
        except SlotCancelled:
            return
        except BaseException as error:
            self._found.put(error)

"""What `sandbox.py` measures once: how a slot starts and whether it slows down, the memory of a run, how fast
one can be ended.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from sandbox_cases import CASES, blocks

from sandbox_images.supervisor.warmup import LIBRARIES
from worker.sandbox.core.images import StoredImage
from worker.sandbox.protocol import SlotCancelled, SlotOrder
from worker.sandbox.supervised import SupervisedSandbox

_TIMES = 7
_LONG = 1000  # runs, and so two supervisors
_PAUSE = "import time\ntime.sleep(60)\n"
_LOOP = "while True: pass\n"


def print_starts(sandbox: SupervisedSandbox, image: StoredImage) -> None:
    """Until the slot could run a block."""
    print(f"\nstart of a slot, median and maximum of {_TIMES}, ms")
    for title, warm in (("cold", None), ("warm, pandas", ("pandas",)), ("warm, all five", LIBRARIES)):
        taken = []
        for _ in range(_TIMES):
            started = time.perf_counter()
            with sandbox.open_slot(CASES[0].order(image, warm=warm), slot=0):
                taken.append((time.perf_counter() - started) * 1000)
        print(f"  {title:<16}{statistics.median(taken):8.0f}{max(taken):8.0f}")


def print_flatness(sandbox: SupervisedSandbox, image: StoredImage) -> None:
    """One slot for many runs. That nothing of them stays is tests/security/test_soak.py's."""
    print(f"\nfirst and last hundred of {_LONG} runs of a slot in pure Python, median and fastest, ms")
    block, taken = {"block.csv": blocks(1)[0]}, []
    with sandbox.open_slot(CASES[1].order(image, warm=()), slot=0) as slot:
        for _ in range(_LONG):
            started = time.perf_counter()
            slot.run(block)
            taken.append((time.perf_counter() - started) * 1000)
    for title, part in (("first", taken[:100]), ("last", taken[-100:])):
        print(f"  {title:<16}{statistics.median(part):8.1f}{min(part):8.1f}")


def print_memory(sandbox: SupervisedSandbox, image: StoredImage) -> None:
    """Of a payload that pauses at its end, from the host: pages that no other process maps."""
    print("\nmemory at the end of a pandas run, MiB: private, proportional share, resident")
    for title, warm in (("warm", ("pandas",)), ("warm, all five", LIBRARIES), ("cold", None)):
        order = _with(CASES[0].order(image, warm=warm), CASES[0].source + _PAUSE)
        run = _Going(sandbox, order)
        time.sleep(1.5)
        before, payload = _chain()[-2:]
        print(f"  {title + ', a run':<22}{_memory(payload)}")
        if warm is not None:
            print(f"  {title + ', its slot':<22}{_memory(before)}")
        run.cancel()


def print_endings(sandbox: SupervisedSandbox, image: StoredImage) -> None:
    """After a cancel, and after a run has reached its wall clock limit: until nothing of it is left."""
    print("\nuntil neither a process nor a mount of it is left, ms")
    order = _with(CASES[0].order(image, warm=("pandas",)), CASES[0].source + _LOOP)
    for title, warm in (("warm", ("pandas",)), ("cold", None)):
        run = _Going(sandbox, replace(order, warm=warm))
        time.sleep(1.0)
        started = time.perf_counter()
        run.cancel()
        print(f"  {title + ', cancelled':<22}{_until(lambda: len(_chain()) == 1) - started:8.3f} s")
        wall_s = 1.0
        limited = replace(order, warm=warm, limits=replace(order.limits, wall_s=wall_s))
        with sandbox.open_slot(limited, slot=0) as slot:
            idle = len(_chain())
            started = time.perf_counter()
            slot.run({"block.csv": blocks(1)[0]})
            ended = _until(lambda idle=idle: len(_chain()) == idle)
            print(f"  {title + ', out of time':<22}{ended - started - wall_s:8.3f} s")


class _Going:
    """A run in a thread of its own, until it is cancelled."""

    def __init__(self, sandbox: SupervisedSandbox, order: SlotOrder) -> None:
        self._slot, self._ready = None, threading.Event()
        self._thread = threading.Thread(target=self._run, args=(sandbox, order), daemon=True)
        self._thread.start()
        self._ready.wait(60)

    def cancel(self) -> None:
        self._slot.cancel()
        self._thread.join()

    def _run(self, sandbox: SupervisedSandbox, order: SlotOrder) -> None:
        with sandbox.open_slot(order, slot=0) as self._slot:
            self._ready.set()
            try:
                self._slot.run({"block.csv": blocks(1)[0]})
            except SlotCancelled:
                return


def _with(order: SlotOrder, source: str) -> SlotOrder:
    return replace(order, code={"main.py": source.encode()})


def _chain() -> list[int]:
    """This process, its newest child that is bwrap, and so on down to the payload."""
    chain, children = [os.getpid()], _children(os.getpid())
    sandboxes = [child for child in children if _name(child) == "bwrap"]
    while sandboxes:
        chain.append(sandboxes[-1])
        sandboxes = _children(sandboxes[-1])
    return chain


def _children(pid: int) -> list[int]:
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
        return []
    return sorted(found)


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _memory(pid: int) -> str:
    kib: dict[str, int] = {}
    with open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            name, _, value = line.partition(":")
            if value.strip().endswith("kB"):
                kib[name] = int(value.split()[0])
    private = kib["Private_Clean"] + kib["Private_Dirty"]
    return "".join(f"{value / 1024:8.1f}" for value in (private, kib["Pss"], kib["Rss"]))


def _until(condition: Callable[[], bool]) -> float:
    deadline = time.perf_counter() + 10
    while not condition():
        if time.perf_counter() > deadline:
            raise RuntimeError("something of an ended run is left after 10 s")
        time.sleep(0.001)
    return time.perf_counter()

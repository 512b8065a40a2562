"""Cores of their own for slots that run beside each other, where the host has enough of them.

It takes away waiting for a core beside others. Caches, memory bandwidth and more stay shared.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

_CPUS = Path("/sys/devices/system/cpu")


def cores(cpus: Path = _CPUS, *, allowed: Collection[int] | None = None) -> tuple[frozenset[int], ...]:
    """The cores that this process may use, each as its threads: those of one core share nearly all of it."""
    usable = frozenset(os.sched_getaffinity(0) if allowed is None else allowed)
    found = {frozenset(_threads_beside(cpus, number) & usable) for number in usable}
    return tuple(sorted(found, key=min))


def core_of(slot: int, *, slots: int, all_cores: tuple[frozenset[int], ...]) -> frozenset[int] | None:
    """That of a slot, of so many on this host. None where they are too few for all."""
    return all_cores[slot] if slots <= len(all_cores) else None


@contextmanager
def kept_to(core: frozenset[int] | None) -> Iterator[None]:
    """What this thread starts stays on these, for as long as the context lasts."""
    if core is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, core)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _threads_beside(cpus: Path, number: int) -> frozenset[int]:
    """All threads of its core; itself alone where the host does not show them."""
    try:
        text = (cpus / f"cpu{number}" / "topology" / "thread_siblings_list").read_text()
    except OSError:
        return frozenset({number})
    return frozenset(_numbers(text)) | {number}


def _numbers(text: str) -> Iterator[int]:
    """Of a list as the kernel writes it: 0,4 or 0-3,8."""
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)

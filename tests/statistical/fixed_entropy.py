"""What stands in the place of the operating system's entropy where every run of a case has the same noise.

It must keep what the checks ask of the real one: no bytes are given twice, and a forked child gets others
than its parent and its siblings. So noise that is kept, shared or carried across a fork repeats here too.
"""

import itertools
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import shake_256
from unittest.mock import patch

import numpy as np

import privacy.keystream


class FixedEntropy:
    """Takes the place of `os.urandom`: bytes that follow from a name and from how many calls came before."""

    def __init__(self, name: str) -> None:
        self._begin(name)

    def _begin(self, name: str) -> None:
        self._name = name
        self._calls, self._forks = itertools.count(), itertools.count()

    def __call__(self, size: int) -> bytes:
        # a count gives each of its numbers to one thread only
        return shake_256(f"{next(self._calls)} of {self._name}".encode()).digest(size)

    def before_fork(self) -> None:
        self._child = next(self._forks)

    def in_child(self) -> None:
        self._begin(f"child {self._child} of {self._name}")


_current: FixedEntropy | None = None


@contextmanager
def fixed_entropy(name: str) -> Iterator[None]:
    """Within, all that draws from the operating system in this process draws the same each time: our
    keystreams, those of mutants, numpy's fresh generators, and `secrets`, which diffprivlib draws from.
    """
    global _current
    before, _current = _current, FixedEntropy(name)
    states = random.getstate(), np.random.get_state()
    seed = int.from_bytes(_current(4))
    random.seed(seed)
    np.random.seed(seed)
    try:
        with (
            patch.object(os, "urandom", _current),
            patch.object(random, "_urandom", _current),
            # what was drawn before this has another key
            patch.object(privacy.keystream, "_process_stream", None),
        ):
            yield
    finally:
        _current = before
        random.setstate(states[0])
        np.random.set_state(states[1])


def _before_fork() -> None:
    if _current is not None:
        _current.before_fork()


def _in_child() -> None:
    if _current is not None:
        _current.in_child()


os.register_at_fork(before=_before_fork, after_in_child=_in_child)

"""One array through a method of perturbation, in pieces, on several threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from companions.perturb.summary import Summary
from privacy.keystream import Keystream

PIECE = 2**18
"""Values per piece: 2 MiB, so that a thread keeps little in memory and progress shows."""

Step = Callable[[float, float], None]


class Method(Protocol):
    """What perturbs a piece of an array."""

    def perturb(
        self,
        values: np.ndarray[Any, Any],
        *,
        out: np.ndarray[Any, Any] | None = None,
        keystream: Keystream | None = None,
    ) -> np.ndarray[Any, Any]: ...


def perturb_array(
    method: Method,
    values: np.ndarray[Any, Any],
    *,
    out: np.ndarray[Any, Any],
    threads: int | None = None,
    summary: Summary | None = None,
    step: Step | None = None,
) -> None:
    """Perturb `values` into `out`, which may be the same array; `summary` is told of every piece.

    Each piece has a keystream with a key of its own: no two pieces share noise, whichever threads they are
    on. The cipher and numpy work outside of Python's lock, but in steps of 20 microseconds, and handing the
    lock over takes as long: a second thread gives a third more on an idle machine and nothing on a busy one.
    """
    source, target = values.reshape(-1), out.reshape(-1)
    starts = range(0, source.size, PIECE)

    def perturb_piece(start: int) -> Summary | None:
        piece = slice(start, start + PIECE)
        before = source[piece].copy() if summary is not None else source[piece]
        method.perturb(before, out=target[piece], keystream=Keystream())
        return None if summary is None else _summary_of_piece(summary, before, target[piece])

    with ThreadPoolExecutor(threads or default_threads()) as pool:
        try:
            for done, part in enumerate(pool.map(perturb_piece, starts), start=1):
                if summary is not None and part is not None:
                    summary.merge(part)
                if step is not None:
                    step(done, len(starts))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def default_threads() -> int:
    """Two, where this process may use two processors: more do not help."""
    return min(2, len(os.sched_getaffinity(0)))


def _summary_of_piece(whole: Summary, before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]) -> Summary:
    part = Summary(whole.lower, whole.upper)
    part.add(before, after)
    return part

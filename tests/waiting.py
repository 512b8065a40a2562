"""How tests wait: until something is so, with one patience for all.

What comes within a moment on an idle machine may take half a minute on a busy one, and a test that gives up
before says nothing about our code. So nobody has a deadline of their own. Patience is long, since only a test
that fails uses it up, and whoever knows that it cannot come true any more says so with `unless`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_S = 120.0
_FIRST_LOOK_S, _LONGEST_PAUSE_S = 0.002, 0.1

_Found = TypeVar("_Found")


def wait_until(
    what: Callable[[], _Found], *, unless: Callable[[], object] | None = None, said: str = ""
) -> _Found:
    """What `what` gives as soon as it is true.

    `unless`: what makes waiting vain, such as the end of a process. `said` is the failure's name for what was
    awaited.
    """
    pause, gives_up_at = _FIRST_LOOK_S, time.monotonic() + PATIENCE_S
    while not (found := what()):
        if unless is not None and (reason := unless()):
            if found := what():  # it came true in between
                break
            raise AssertionError(f"{said or 'it'} will not come true any more: {reason}")
        if time.monotonic() > gives_up_at:
            raise AssertionError(f"{said or 'it'} did not come true in {PATIENCE_S:.0f} s")
        time.sleep(pause)
        pause = min(1.5 * pause, _LONGEST_PAUSE_S)
    return found


def let_pass(seconds: float, *, because: str) -> None:
    """For what can be told from time alone, such as that nothing happens. `because` is for the reader."""
    assert because
    time.sleep(seconds)

"""The end of a supervisor and of everybody in it: all are killed at once, and awaited for a while only.

How long a killed run takes to die is up to the run. Whoever waited for that, or failed for it, would tell
others. So what takes longer goes on in a thread of its own: none of those who die takes a step of theirs any
more, and the slot's next supervisor has a control group, and where it can a user, of its own.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from worker.sandbox.protocol import SandboxUnavailable

# For all of a slot together: within what a padded schedule has for the end of runs (domain/carrying.py).
PATIENCE_S = 0.4


def ending(end: Callable[[], None]) -> threading.Thread:
    """`end` kills first of all, and then waits.

    That they have not ended in time is said nowhere, not even in a log: it is up to what they did.
    """

    def go() -> None:
        with suppress(SandboxUnavailable, OSError):
            end()

    thread = threading.Thread(target=go, name="end of a supervisor", daemon=True)
    thread.start()
    return thread


def wait_for(endings: Sequence[threading.Thread]) -> None:
    """All of them, but no longer than may be."""
    until = time.monotonic() + PATIENCE_S
    for each in endings:
        each.join(max(0.0, until - time.monotonic()))

"""A polite signal ends a platform as Ctrl-C does: in order, and whatever was going on."""

from __future__ import annotations

import signal
import sys
from typing import Any

AGAIN_S = 2.0


def interrupt_on_signals() -> None:
    """From now on SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt here, in the main thread."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, _interrupt)
    sys.unraisablehook = _say_what_was_dropped


def heard() -> None:
    """The end has begun: an interrupt that came need not come again."""
    signal.setitimer(signal.ITIMER_REAL, 0)


def _interrupt(*_: object) -> None:
    # there are places where Python drops an exception, such as the end of an import: then it is raised again
    signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
    raise KeyboardInterrupt


def _say_what_was_dropped(dropped: Any) -> None:
    if dropped.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(dropped)

"""Starts parts of a platform again that were killed or failed, later each time.

A part that ended in order was told to end, and the platform ends with it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from dpgate.embedded.processes import Child
from dpgate.embedded.stack import Say, Stack
from dpgate.errors import DpgateError, PlatformStopped

LONGEST_WAIT_S = 60.0
# who has run so long ended for another reason than the time before
SETTLED_S = 60.0
LOOK_EVERY_S = 0.5


@dataclass
class Tending:
    """Of one running platform."""

    stack: Stack
    say: Say
    clock: Callable[[], float] = time.monotonic
    _tries: dict[str, int] = field(default_factory=dict)
    _started_at: dict[str, float] = field(default_factory=dict)
    _due: dict[str, float] = field(default_factory=dict)

    def look(self) -> None:
        """At each part once, and at who ends them. Raises PlatformStopped where one ended in order, and
        DpgateError where another platform has taken the home."""
        self.stack.keep_on()
        for child in self.stack.stopped_parts():
            if child.name not in self._due:
                self._note(child)
            elif self._due[child.name] <= self.clock():
                self._start(child)

    def _note(self, child: Child) -> None:
        words, code = child.last_words(), child.process.returncode
        if code == 0:
            raise PlatformStopped(f"the {child.name} ended by itself. Its last words:\n{words}")
        has_settled = self.clock() - self._started_at.get(child.name, float("-inf")) > SETTLED_S
        tries = 0 if has_settled else self._tries.get(child.name, 0) + 1
        self._tries[child.name] = tries
        wait_s = min(2.0**tries, LONGEST_WAIT_S)
        self._due[child.name] = self.clock() + wait_s
        self.say(
            f"the {child.name} {_how(code)}; it is started again in {wait_s:.0f} s. Last words:\n{words}"
        )

    def _start(self, child: Child) -> None:
        self._started_at[child.name] = self.clock()
        try:
            self.stack.start_again(child)
        except (DpgateError, OSError) as error:
            self._due[child.name] = self.clock() + LONGEST_WAIT_S
            self.say(f"the {child.name} could not be started again, and is in a minute: {error}")
        else:
            del self._due[child.name]


def _how(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"

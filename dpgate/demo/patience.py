"""A line on stderr whenever something lasts: nobody should wonder whether the demo still works."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from dpgate.cli.output import err, plain

FIRST_S = 2.0
THEN_S = 5.0


class Progress:
    """What is being done, and how much of it; written by one thread and read by the one that prints."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._part = ""

    def step(self, done: float, total: float | None, _state: str = "") -> None:
        self._part = f", {done:.0f} of {total:.0f}" if total else ""

    def line(self, seconds: float) -> str:
        return f"{self._text}{self._part}: {seconds:.0f} s"


@contextmanager
def patience(
    text: str, *, shown: bool, first_s: float = FIRST_S, then_s: float = THEN_S
) -> Iterator[Progress]:
    """Says what goes on after `first_s` seconds, and again every `then_s`, until the block ends."""
    found = Progress(text)
    if not shown:
        yield found
        return
    ended = threading.Event()
    teller = threading.Thread(target=_tell, args=(found, ended, first_s, then_s), daemon=True)
    teller.start()
    try:
        yield found
    finally:
        ended.set()
        teller.join()


def _tell(found: Progress, ended: threading.Event, first_s: float, then_s: float) -> None:
    began = time.monotonic()
    wait_s = first_s
    while not ended.wait(wait_s):
        err.print(f"[dim]  ... {plain(found.line(time.monotonic() - began))}[/]", soft_wrap=True)
        wait_s = then_s

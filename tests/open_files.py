"""Which files this process has open, for tests that nothing is left open.

Servers and garbage of other tests live in this process, too: they close what they had at any moment, and open
something for a while. So what is gone says nothing, and what has come counts if it stays.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from waiting import wait_until


def open_files() -> dict[int, str]:
    """What each descriptor leads to, but for the one that lists them."""
    found = {}
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found[int(entry.name)] = os.readlink(entry)
    return {number: link for number, link in found.items() if not link.endswith(f"/{os.getpid()}/fd")}


def opened_since(before: dict[int, str]) -> dict[int, str]:
    return dict(open_files().items() - before.items())


@contextmanager
def nothing_stays_open() -> Iterator[None]:
    """Of what was opened in here."""
    before = open_files()
    yield
    try:
        wait_until(lambda: not opened_since(before))
    except AssertionError:
        raise AssertionError(f"still open: {opened_since(before)}") from None

"""A process that outlives the platform by a moment: it ends what is left and removes what was temporary.

It reads lines from its standard input (`start GROUP`, `end GROUP`, `remove FOLDER`) and acts when that ends,
whatever ended the process at the other end: an exit, a signal, SIGKILL. A parent-death signal would not do:
it is tied to a thread, and reaches a child but not what the child has started.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time

PATIENCE_S = 2.0


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups, folders = _listen()
    _end(groups)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    # blocks that lay in memory while a run read them
    from worker.sandbox.leftovers import reap_scratch

    reap_scratch()


def _listen() -> tuple[list[int], list[str]]:
    groups: list[int] = []
    folders: list[str] = []
    for line in sys.stdin:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "start":
            groups.append(int(rest))
        elif word == "end":
            groups.remove(int(rest))
        elif word == "remove":
            folders.append(rest)
    return groups, folders


def _end(groups: list[int]) -> None:
    for group in reversed(groups):
        _signal(group, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE_S
    while any(_signal(group, 0) for group in groups) and time.monotonic() < deadline:
        time.sleep(0.05)
    for group in groups:
        _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    main()

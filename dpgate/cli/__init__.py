"""The command line: every command is one step of the route, prints for people or (`--json`) for programs."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """The `dpgate` command.

    What is imported lives as long as the process. The garbage collector does not go through it, neither while
    it grows nor at the end: that was a third of the time of a short command.
    """
    gc.disable()
    from dpgate.cli.app import run

    gc.freeze()
    gc.enable()
    sys.exit(run(sys.argv[1:]))


__all__ = ["main"]

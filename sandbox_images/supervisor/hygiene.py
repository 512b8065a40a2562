"""What must hold before every run: nothing of an earlier one is left, and nothing here can carry a message.

A difference is never explained away: the supervisor ends, and the worker starts another.
"""

import os

from . import kernel
from .answers import SUPERVISORS_ROOM
from .memory import own_resident_bytes, text_of

_GROWTH_BYTES = 64 << 20


class Unclean(Exception):
    """This supervisor must not run anything any more."""


class Baseline:
    """This process as it was before the first run."""

    def __init__(self, processes, *, mounts):
        """`processes`: the numbers of those that are there between two runs. `mounts`: whether to look at
        them, too; of the supervisor and its zygote, who share them, one does.
        """
        self._processes = processes
        self._mounts = _mounts() if mounts else None
        self._descriptors = _descriptors()
        self._resident = own_resident_bytes()
        if mounts:
            check_writable(self._mounts)
        self.check()

    def check(self):
        facts = (
            (os.listdir("/proc/self/task"), [str(os.getpid())], "threads"),
            (_processes(), self._processes, "processes"),
            (_descriptors(), self._descriptors, "descriptors"),
            (self._mounts and _mounts(), self._mounts, "mounts"),
        )
        for found, wanted, name in facts:
            if found != wanted:
                raise Unclean(f"the supervisor's {name} are not what they were")
        if own_resident_bytes() > self._resident + _GROWTH_BYTES:
            raise Unclean("the supervisor's memory has grown")


def check_writable(mounts):
    """Whatever could be written here would be shared by all runs."""
    visible = {
        line.split()[4]: line for line in mounts.splitlines()
    }  # the last mount on a path covers others
    for place, line in visible.items():
        before, _, after = line.partition(" - ")
        of_mount, of_file_system = before.split()[5].split(","), after.split()[2].split(",")
        writable = "ro" not in of_mount and "ro" not in of_file_system
        if writable and after.split()[0] != "proc":
            raise Unclean(f"{place} is writable, and all runs would share it")


def _mounts():
    return text_of("/proc/self/mountinfo")


def _descriptors():
    """By number; the one that lists the folder comes and goes."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add((name, kernel.link_target(f"/proc/self/fd/{name}", SUPERVISORS_ROOM)))
        except FileNotFoundError:
            continue
    return found


def _processes():
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}

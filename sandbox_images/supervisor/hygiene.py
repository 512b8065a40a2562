"""What must hold before every run: nothing of an earlier one is left, and nothing here can carry a message.

A difference is never explained away: the supervisor ends, and the worker starts another.
"""

import gc
import os
from contextlib import suppress

from . import kernel
from .memory import bytes_of
from .zygote import ZYGOTE

_GROWTH_PAGES = (64 << 20) // os.sysconf("SC_PAGE_SIZE")
_OURS = (1, ZYGOTE)  # there is nobody else between two runs


class Unclean(Exception):
    """This supervisor must not run anything any more."""


class Baseline:
    """The supervisor and its zygote as they were before the first run."""

    def __init__(self, zygote):
        self._zygote = zygote
        # kept: each name would be looked up from the root, and there are a dozen for each run
        self._own = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        _check_alone()
        self._mounts, self._descriptors = _mounts(), self._open()
        self._resident = _resident()
        check_writable(self._mounts)

    def check(self):
        gc.collect(0)  # not by itself: main.py
        _check_alone()
        _same(self._open(), self._descriptors, "descriptors")
        _same(_mounts(), self._mounts, "mounts")
        if any(now > before + _GROWTH_PAGES for now, before in zip(_resident(), self._resident, strict=True)):
            raise Unclean("the supervisor's memory has grown")

    def _open(self):
        return _descriptors(self._own), self._zygote.descriptors()


def _check_alone():
    processes = {int(name) for name in os.listdir("/proc") if name.isdigit()}
    _same(os.listdir("/proc/self/task"), ["1"], "threads")
    _same(processes, set(_OURS), "processes")
    _same(os.listdir(f"/proc/{ZYGOTE}/task"), [str(ZYGOTE)], "threads")


def _same(found, wanted, name):
    if found != wanted:
        raise Unclean(f"the supervisor's {name} are not what they were")


def check_writable(mounts):
    """Whatever could be written here would be shared by all runs."""
    lines = mounts.decode("utf-8", "surrogateescape").splitlines()
    visible = {line.split()[4]: line for line in lines}  # the last mount on a path covers others
    for place, line in visible.items():
        before, _, after = line.partition(" - ")
        of_mount, of_file_system = before.split()[5].split(","), after.split()[2].split(",")
        writable = "ro" not in of_mount and "ro" not in of_file_system
        if writable and after.split()[0] != "proc":
            raise Unclean(f"{place} is writable, and all runs would share it")


def _mounts():
    """The zygote's, too: they share them."""
    return bytes_of("/proc/self/mountinfo")


def _descriptors(listed):
    """By number; the one that lists the folder comes and goes."""
    found = set()
    for number in map(int, os.listdir(listed)):
        with suppress(OSError):
            found.add((number, *kernel.kind_of(number)))
    return found


def _resident():
    """Pages of their own, of each. In /proc/PID/statm: all that are resident, then how many are of files."""
    found = []
    for process in _OURS:
        _, resident, shared, *_ = bytes_of(f"/proc/{process}/statm").split()
        found.append(int(resident) - int(shared))
    return found

"""Processes without number or end. Bare they are finite, so that the host survives the control."""

# ruff: noqa: ARG001 - attacks take one kind of argument
import os
import signal
import threading
import time
from contextlib import suppress

from face import syscall  # type: ignore[import-not-found]

_MANY = 150  # more than the limits of the battery allow of anything


def _end(children):
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def r_fork_count(target):
    """As many children as there may be."""
    children: list[int] = []
    try:
        while len(children) < min(target["most"], 2 * _MANY):
            pid = os.fork()
            if pid == 0:
                time.sleep(600)
                os._exit(0)
            children.append(pid)
    except OSError:
        pass
    _end(children)
    return len(children) >= _MANY


def r_fork_bomb(target):
    """Everybody forks, for ever. Bare: two to the eighth, then it is over."""
    if target["bare"]:
        for _ in range(8):
            os.fork()
        time.sleep(0.3)
        return True
    while True:
        with suppress(OSError):
            os.fork()


def r_threads(target):
    stop, started = threading.Event(), 0
    try:
        while started < min(target["most"], 2 * _MANY):
            threading.Thread(target=stop.wait, daemon=True).start()
            started += 1
    except RuntimeError:
        pass
    stop.set()
    return started >= _MANY


def r_loop(target):
    while True:
        pass


def r_sleep(target):
    time.sleep(600)


def r_ignore_term(target):
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)


def r_stop_self(target):
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(600)


def r_vfork_hang(target):
    """A parent that the kernel holds until its child execs, and a child that never does."""
    pid = syscall(56, 220, 0x4000 | 17, 0, 0, 0, 0)
    if pid == 0:
        while True:
            time.sleep(600)
    return False


def r_daemon(target):
    """Somebody who stays when the level has ended."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in (0, 1, 2):
                os.close(fd)
            time.sleep(600)
        os._exit(0)
    return False


def r_cpu_hog(target):
    """The same, burning every processor."""
    for _ in range(4):
        if os.fork() == 0:
            os.setsid()
            while True:
                pass
    return False


def r_zombies(target):
    """Dead children that nobody waits for."""
    children: list[int] = []
    try:
        while len(children) < 2 * _MANY:
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            children.append(pid)
    except OSError:
        pass
    for pid in children:
        os.waitpid(pid, 0)
    return len(children) >= _MANY

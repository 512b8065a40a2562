"""Senders that end their own run, and those of residual channels."""

import ctypes
import mmap
import os
import select
import signal
import time
from contextlib import suppress

from looks_residual import seeds, shared_page  # type: ignore[import-not-found]
from raw import libc  # type: ignore[import-not-found]


def fails_early(_):
    os._exit(3)


def fails_late(_):
    time.sleep(0.3)
    os._exit(77)


def crashes(_):
    ctypes.string_at(0)


def is_killed_for_memory(_):
    kept = []
    while True:
        kept.append(b"x" * (16 << 20))


def is_killed_for_time(_):
    while True:
        time.sleep(1)


def dies_slowly(_):
    """Until it is killed: as many processes as it may have, each with much for the kernel to take back."""
    with suppress(OSError):
        while os.fork():
            pass
    watched, held = select.epoll(), [mmap.mmap(-1, mmap.PAGESIZE)]
    with suppress(OSError, ValueError, MemoryError):
        for _ in range(100):
            watched.register(os.pipe()[0])
        for number in range(2000):
            held.append(mmap.mmap(-1, (1 + number % 2) * mmap.PAGESIZE, prot=1 + 2 * (number % 2)))
    while True:
        time.sleep(1)


def is_killed_for_a_call(_):
    libc.syscall(ctypes.c_long(0x40000000 + 39))  # a number of the x32 convention
    os.kill(os.getpid(), signal.SIGKILL)


# for the residual channels: for as long as somebody may look


def wakes(call):
    page = shared_page()
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        libc.syscall(
            ctypes.c_long(call.number("futex")), ctypes.c_void_p(page), ctypes.c_long(1), 100, 0, 0, 0
        )


def burns(_):
    end = time.monotonic() + 0.1
    for _ in range(4):
        if os.fork() == 0:
            with suppress(OSError):
                os.setsid()
            while time.monotonic() < end:
                pass
            os._exit(0)
    while time.monotonic() < end:
        pass


def moves_the_clock_of_files(_):
    end = time.monotonic() + 0.05
    with open("/tmp/clock", "wb", buffering=0) as file:  # noqa: S108
        while time.monotonic() < end:
            file.write(b"x")
            os.fstat(file.fileno())


def asks_for_seeds(_):
    count = seeds()
    if count is not None:
        count()

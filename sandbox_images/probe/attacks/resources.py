"""More of everything than a run was given. Bare they are finite, so that the host survives the control.

`most` says how often a bare attack repeats itself; in a sandbox that is out of reach.
"""

# ruff: noqa: ARG001 - attacks take one kind of argument
import ctypes
import mmap
import os
import resource
import signal
import sys
import time
from contextlib import suppress

from face import WRITTEN, any_of, exit_of, libc, syscall  # type: ignore[import-not-found]

_MIB = 1 << 20


_MUCH = 400 * _MIB


def _touch(size):
    held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for place in range(0, size, mmap.PAGESIZE):
        held[place] = 1
    return held


def r_mem_bomb(target):
    held = [_touch(8 * _MIB) for _ in range(_MUCH // (8 * _MIB))]
    time.sleep(0.3)
    return len(held) > 0


def r_mem_procs(target):
    """No process holds much, all together do."""
    children: list[int] = []
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            held = _touch(_MUCH // 8)
            time.sleep(0.5)
            os._exit(0 if held else 1)
        children.append(pid)
    return all(os.waitpid(pid, 0)[1] == 0 for pid in children)


def r_mem_shared(target):
    """Memory that no process's own size shows: shared, without a name, or in a file of /dev/shm."""

    def shared():
        held = mmap.mmap(-1, _MUCH)
        for place in range(0, _MUCH, mmap.PAGESIZE):
            held[place] = 1
        held.madvise(mmap.MADV_DONTNEED)
        time.sleep(0.3)
        return True

    return any_of([shared, lambda: _fill(target["room"][-1], _MUCH)])


def _fill(folder, size):
    path = os.path.join(folder, "big")
    try:
        with open(path, "wb") as file:
            for _ in range(size // _MIB):
                file.write(bytes(_MIB))
                file.flush()
        return True
    finally:
        os.unlink(path)


def r_disk_fill(target):
    """Any of the writable places."""
    return any_of([lambda folder=folder: _fill(folder, 64 * _MIB) for folder in target["room"]])


def r_inodes(target):
    """Very many empty files."""

    def floods(folder):
        for number in range(5000):
            with open(os.path.join(folder, f"file{number}"), "w", encoding="ascii"):
                pass
        time.sleep(0.2)
        return True

    return any_of([lambda folder=folder: floods(folder) for folder in target["room"]])


def r_symlinks(target):
    """Names without content; each takes an inode, too."""
    for number in range(5000):
        os.symlink("x" * 200, os.path.join(target["room"][0], f"link{number}"))
    time.sleep(0.2)
    return True


def r_deep_dirs(target):
    """A path so deep that whoever removes it by recursion fails."""
    os.chdir(target["room"][0])
    for _ in range(2500):
        os.mkdir("d")
        os.chdir("d")
    time.sleep(0.2)
    return True


def r_fds(target):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    held = []
    try:
        held += [os.open("/dev/null", os.O_RDONLY) for _ in range(600)]
    finally:
        for fd in range(3, 1024):
            with suppress(OSError):
                os.close(fd)
    return len(held) >= 600


def r_stdout_flood(target):
    """Text without end, on both channels."""
    for _ in range(400):
        os.write(1, b"x" * 100_000)
        os.write(2, b"y" * 100_000)
    return False


def r_address_space(target):
    return mmap.mmap(-1, 64 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000) is not None


def r_sparse(target):
    """A file that claims to be very large."""
    path = os.path.join(target["room"][0], "sparse")
    try:
        with open(path, "wb") as file:
            file.truncate(1 << 40)
        return True
    finally:
        os.unlink(path)


def r_cpu_limit(target):
    """Processor time without end."""
    return resource.getrlimit(resource.RLIMIT_CPU)[1] == resource.RLIM_INFINITY


def r_stack_recursion(target):
    """Recursion until the stack ends, where the stack has an end."""
    limit = resource.getrlimit(resource.RLIMIT_STACK)[1]
    wanted = 512 * _MIB if limit == resource.RLIM_INFINITY else limit
    resource.setrlimit(resource.RLIMIT_STACK, (wanted, limit))
    grown = wanted > 64 * _MIB

    def recurses():
        sys.setrecursionlimit(10**9)

        def again():
            return [again()]

        return again()

    if not target["bare"]:
        exit_of(recurses)
    return grown


def r_timers(target):
    """Kernel timers, each of which can wake somebody."""
    made = 0
    try:
        while made < 4000:
            syscall(222, 107, 1, 0, ctypes.byref(ctypes.c_int()))
            made += 1
    except OSError:
        pass
    return made >= 2000


def r_signal_queue(target):
    """Signals that queue up, because nobody takes them."""
    number = signal.SIGRTMIN + 1
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    sent = 0
    while sent < 4000 and libc.sigqueue(os.getpid(), int(number), None) == 0:
        sent += 1
    return sent >= 2000


def r_locked_memory(target):
    """Memory that cannot be swapped out."""
    held = mmap.mmap(-1, 16 * _MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(held)))
    if libc.mlock(place, ctypes.c_size_t(16 * _MIB)) != 0:
        raise OSError(ctypes.get_errno(), "mlock")
    return True


def r_big_output(target):
    """A declared output that is larger than its cap."""
    with open(target.result, "w", encoding="ascii") as file:
        file.write("value\t1\n" * 100_000)
    return WRITTEN

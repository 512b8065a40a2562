"""Two runs at the same time on two slots. Role 1 sends for a second, role 0 looks; the judge compares what
role 0 finds alone with what it finds beside a sender. An attack that cannot even look returns 0 both times.
"""

# ruff: noqa: S108 - attacks do what a linter warns of, and take one kind of argument
import ctypes
import errno
import fcntl
import math
import mmap
import os
import re
import socket
import struct
import sys
import time

from face import check, libc, repeat_for, syscall  # type: ignore[import-not-found]


def _shared_file(target):
    """One that both runs can open."""
    return target["canary"] if target["bare"] else os.path.realpath(sys.executable)


def _shared_files(target):
    return (
        (target["canary"],) if target["bare"] else (os.path.realpath(sys.executable), "/dev/null", __file__)
    )


def _number(target):
    """Of a port; below those that Linux gives to whoever asks for any."""
    return 20_000 + int(target["mark"][-4:], 16) % 12_000


def c_flock(target):
    return _holds(target, lambda file: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB))


def c_posix_lock(target):
    def locks(file):
        if target.role:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        asked = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
        if not target.role and struct.unpack("hhqqi4x", asked)[0] != fcntl.F_UNLCK:
            raise BlockingIOError(errno.EAGAIN, "locked")

    return _holds(target, locks)


def c_lease(target):
    """A lease cannot be had on a file that somebody else has open."""

    def leases(file):
        if not target.role:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)

    return _holds(target, leases)


def _holds(target, lock):
    """Role 1 keeps what role 0 then cannot have."""
    refused = 0
    for path in _shared_files(target):
        with open(path, "rb") as file:
            try:
                lock(file)
            except BlockingIOError:
                refused += 1
            if target.role:
                time.sleep(target["send_s"] / len(_shared_files(target)))
    return refused


def c_inotify(target):
    """Role 1 opens a file, role 0 is told."""
    path = _shared_file(target)
    if target.role:
        for _ in repeat_for(target["send_s"]):
            open(path, "rb").close()
        return 0
    watcher = check(libc.inotify_init1(os.O_NONBLOCK), "inotify")
    check(libc.inotify_add_watch(watcher, path.encode(), 0x20), "watch")
    time.sleep(target["look_s"])
    try:
        return len(os.read(watcher, 4096)) > 0
    except BlockingIOError:
        return 0


def c_abstract_unix(target):
    name = f"\0{target['mark']}"
    with socket.socket(socket.AF_UNIX) as end:
        if target.role:
            end.bind(name)
            end.listen()
            time.sleep(target["send_s"])
            return 0
        return _reaches(target, lambda: end.connect(name))


def c_loopback(target):
    address = ("127.0.0.1", _number(target))
    with socket.socket() as end:
        if target.role:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            end.bind(address)
            end.listen()
            time.sleep(target["send_s"])
            return 0
        return _reaches(target, lambda: end.connect(address))


def _reaches(target, connect):
    for _ in repeat_for(target["look_s"]):
        try:
            connect()
            return 1
        except ConnectionRefusedError:
            continue
        except OSError:
            return 0
    return 0


def c_shm_names(target):
    """A name in /dev/shm, or of a semaphore."""
    path = f"/dev/shm/{target['mark']}"
    if target.role:
        with open(path, "w", encoding="ascii"):
            time.sleep(target["send_s"])
        os.unlink(path)
        return 0
    return any(os.path.exists(path) for _ in repeat_for(target["look_s"]))


def c_proc_visibility(target):
    """How many bear the name that all attacks give themselves."""

    def count():
        found = 0
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/comm", encoding="ascii", errors="replace") as file:
                    found += file.read().strip() == target["mark"]
            except OSError:
                continue
        return found

    if target.role:
        time.sleep(target["send_s"])
        return 0
    return max(count() for _ in repeat_for(target["look_s"]))


def c_shared_pages(target):
    """How many of a file's pages somebody else maps now. Both map one that hardly anybody does."""
    try:
        _shared_kib(os.__file__)
    except FileNotFoundError:
        return 0
    with (
        open(os.__file__, "rb") as file,
        mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ) as pages,
    ):
        _touch(pages)
        if target.role:
            time.sleep(target["send_s"])
            return 0
        return max(_shared_kib(os.__file__) for _ in repeat_for(target["look_s"]))


def _touch(pages):
    return sum(pages[:: mmap.PAGESIZE])


def _shared_kib(path):
    with open("/proc/self/smaps", encoding="utf-8") as file:
        about = file.read().partition(path)[2]
    return int([*re.findall("Shared_Clean: *([0-9]+) kB", about), 0][0])


def c_futex(target):
    """A wait on a word of a file that both map, which is over when the other says so."""
    libc.mmap.restype = ctypes.c_void_p
    with open(os.__file__, "rb") as file:
        pages = libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
    if target.role:
        for _ in repeat_for(target["send_s"]):
            syscall(202, 98, pages, 1, 100, 0, 0, 0)  # FUTEX_WAKE
        return 0
    word = ctypes.c_uint32.from_address(pages).value
    nanoseconds = int(target["look_s"] * 1e9)
    patience = struct.pack("qq", nanoseconds // 10**9, nanoseconds % 10**9)
    try:
        syscall(202, 98, pages, 0, word, patience, 0, 0)  # FUTEX_WAIT
        return 1
    except OSError as error:
        if error.errno == errno.ETIMEDOUT:
            return 0
        raise


def c_pty(target):
    """Terminals are numbered in each mount of them."""
    master = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
    number = ctypes.c_uint()
    check(libc.ioctl(master, 0x80045430, ctypes.byref(number)), "ioctl")
    if target.role:
        time.sleep(target["send_s"])
    os.close(master)
    return number.value


def c_cpu_contention(target):
    """How often a loop turns in a given time, in steps of a half."""
    if target.role:
        for _ in range(7):
            if os.fork() == 0:
                os.setsid()  # a session is a share of the processor on many hosts
                end = time.monotonic() + target["send_s"]
                while time.monotonic() < end:
                    pass
                os._exit(0)
        end = time.monotonic() + target["send_s"]
        while time.monotonic() < end:
            pass
        return 0
    started, spins = time.monotonic(), 0
    while time.monotonic() - started < target["look_s"]:
        spins += 1
    return int(math.log(spins, 1.5))

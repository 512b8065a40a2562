"""What a hostile run does to be noticed: one way for each thing that two runs may share. Each does as much
of it as it can and takes no offence at being refused.
"""

import mmap
import os
import resource
import signal
import sys
import time
from contextlib import suppress

from call_table import ABSENT, Bytes  # type: ignore[import-not-found]
from last_senders import (  # type: ignore[import-not-found]
    asks_for_seeds,
    burns,
    crashes,
    dies_slowly,
    fails_early,
    fails_late,
    is_killed_for_a_call,
    is_killed_for_memory,
    is_killed_for_time,
    moves_the_clock_of_files,
    wakes,
)
from looks_residual import image_files  # type: ignore[import-not-found]
from raw import libc  # type: ignore[import-not-found]

_ROOM = ("/tmp", "/dev/shm", "/out")  # noqa: S108 - a run's own
_PIPES, _HELD, _MEMORY, _LOOKUPS = 300, 200, 96 << 20, 2000


def _visible(depth):
    folders = ["/"]
    for _ in range(depth):
        below = []
        for folder in folders:
            with suppress(OSError):
                below += [os.path.join(folder, name) for name in sorted(os.listdir(folder))[:60]]
        yield from below
        folders = [path for path in below if not path.startswith("/proc")]


def touch_everything(_):
    """Times, modes, owners and attributes of whatever is visible."""
    for path in (*_visible(2), os.path.realpath(sys.executable), os.__file__, "/pipeline/gate.py", "/"):
        for step, *arguments in (
            (os.utime,),
            (os.utime, (1_234_567, 1_234_567)),
            (os.chmod, 0o600),
            (os.setxattr, "user.gate", b"1"),
            (os.listdir,),
        ):
            if path.startswith(_ROOM) and step is not os.utime:
                continue
            with suppress(OSError):
                step(path, *arguments)


def device_times(_):
    for path in ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"):
        with suppress(OSError):
            os.utime(path)


def many_pipes(_):
    """Numbers of a sequence, and buffers that are counted for a host user."""
    held: list[int] = []
    with suppress(OSError):
        while len(held) < _HELD:
            held += os.pipe2(os.O_NONBLOCK)
            os.write(held[-1], bytes(65_536))
    for _ in range(_PIPES):
        with suppress(OSError):
            for end in os.pipe():
                os.close(end)
    for end in held:
        os.close(end)


def fill_files(_):
    """Every file system of the run's own, to its limit."""
    for place in _ROOM:
        with suppress(OSError), open(f"{place}/large", "wb") as file:
            while True:
                file.write(bytes(1 << 20))
    _leave_room()


def _leave_room():
    for place in _ROOM:
        with suppress(OSError):
            os.truncate(f"{place}/large", 4096)


def many_files(_):
    for place in _ROOM:
        with suppress(OSError):
            for number in range(20_000):
                os.close(os.open(f"{place}/f{number}", os.O_CREAT | os.O_WRONLY, 0o600))


def deep_folders(_):
    for place in _ROOM[:2]:
        with suppress(OSError):
            os.chdir(place)
            for _ in range(300):
                os.mkdir("d" * 50)
                os.symlink("d" * 50, "l")
                os.chdir("d" * 50)
    os.chdir("/tmp")  # noqa: S108


def memory(_):
    taken = mmap.mmap(-1, _MEMORY, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for place in range(0, _MEMORY, mmap.PAGESIZE):
        taken[place] = 1
    for advice in (8, 14, 20, 21, 25):  # FREE, HUGEPAGE, COLD, PAGEOUT, COLLAPSE
        with suppress(OSError, ValueError):
            taken.madvise(advice)
    taken.close()


def processes(_):
    children = []
    with suppress(OSError):
        for _ in range(12):
            child = os.fork()
            if child == 0:
                with suppress(OSError):
                    os.setsid()
                time.sleep(0.05)
                os._exit(0)
            children.append(child)
    for child in children:
        os.waitpid(child, 0)
    for _ in range(40):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)


def orphans(_):
    """Left behind, asleep and dead."""
    for wait in (0, 0, 5, 5):
        if os.fork() == 0:
            with suppress(OSError):
                os.setsid()
            time.sleep(wait)
            os._exit(0)


def image_pages(_):
    """Into the page cache, mapped, advised and thrown out."""
    for path in (*image_files(), os.path.realpath(sys.executable)):
        with suppress(OSError, ValueError), open(path, "rb") as file:
            file.read()
            with mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ) as pages:
                sum(pages[:: mmap.PAGESIZE])
                for advice in range(26):
                    with suppress(OSError, ValueError):
                        pages.madvise(advice)
            with suppress(OSError):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def names(call):
    """Names that nobody has looked up before, and one that a look asks for."""
    for path in (ABSENT, *(f"/usr/lib/gate-{os.getpid()}-{number}" for number in range(_LOOKUPS))):
        with suppress(OSError):
            os.stat(path)
    call("openat2", -100, Bytes(ABSENT.encode() + b"\0"), Bytes(bytes(24)), 24)


def holes(_):
    """Reads every visible file of the slot to its end."""
    for top in ("/in", "/pipeline", "/etc"):
        for folder, _, files in os.walk(top):
            for name in files:
                with suppress(OSError), open(os.path.join(folder, name), "rb") as file:
                    file.read()


def process_names(_):
    for name in (b"gate\n\x1b[31m", b"(gate) R 1", b"\xff" * 15):
        libc.prctl(15, name, 0, 0, 0)
    with suppress(OSError):
        if os.fork() == 0:
            os.execv("/bin/true", ["gate\n" * 200])  # noqa: S606 - no shell, on purpose


def own_state(_):
    """Limits, signals, mask, priority, group, session: of this process and of the first one."""
    for which in range(16):
        with suppress(OSError, ValueError):
            resource.setrlimit(which, (1, resource.getrlimit(which)[1]))
    for number in range(1, 65):
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):
        os.nice(5)
    os.umask(0)
    with suppress(OSError):
        os.setpgid(0, 0)
    for what in range(1, 70):
        if what not in (22, 15, 1, 4):  # SECCOMP, and what would end or name this process
            libc.prctl(what, 1, 0, 0, 0)


def kernel_objects(call):
    """Timers, queues, keys, segments, sockets, contexts: whatever is counted somewhere."""
    for _ in range(60):
        with suppress(OSError):
            os.close(os.eventfd(0))
        for name, arguments in (
            ("timer_create", (1, 0, Bytes(bytes(8)))),
            ("epoll_create1", (0,)),
            ("memfd_create", (Bytes(b"gate\0"), 0)),
            ("socket", (1, 1, 0)),
            ("socketpair", (1, 1, 0, Bytes(bytes(8)))),
            ("inotify_init1", (0,)),
            ("pidfd_open", (1, 0)),
            ("shmget", (0, 4096, 0o1600)),
            ("msgget", (0, 0o1600)),
            ("semget", (0, 1, 0o1600)),
            ("mq_open", (Bytes(b"gate\0"), 0o102, 0o600, 0)),
            ("add_key", (Bytes(b"user\0"), Bytes(b"gate\0"), Bytes(b"x"), 1, -4)),
            ("io_setup", (1, Bytes(bytes(8)))),
            ("unshare", (0x10000000,)),
        ):
            call(name, *arguments)


def descriptor_state(call):
    """Flags, offsets, locks and owners of what is open from the start, and of files of the image."""
    files = [0, 1, 2]
    with suppress(OSError):
        files.append(os.open(os.__file__, os.O_RDONLY))
    for descriptor in files:
        for command, value in ((4, 0o6000), (8, os.getpid()), (10, 10), (1024, 0), (1031, 1 << 20)):
            call("fcntl", descriptor, command, value)
        call("flock", descriptor, 2 | 4)
        call("lseek", descriptor, 4096, 0)
        call("ftruncate", descriptor, 4096)


def talks(_):
    for _ in range(40):
        with suppress(OSError):
            os.write(1, b"x" * 65_536)
            os.write(2, b"\x1b]0;gate\a" * 100)


def outputs(_):
    """Large, sparse, many, and of names that nobody expects."""
    os.makedirs("/out/a/b/c", exist_ok=True)
    for name in ("seen.json", "a/b/c/\n", "\x1b", "-rf"):
        with suppress(OSError), open(f"/out/{name}", "wb") as file:
            file.write(b"x" * 100_000)
            file.truncate(1 << 21)
    for name, target in (("link", "/in"), ("loop", "loop")):
        with suppress(OSError):
            os.symlink(target, f"/out/{name}")
    with suppress(OSError):
        os.mkfifo("/out/fifo")


SENDERS = {
    each.__name__: each
    for each in (
        *(
            touch_everything,
            device_times,
            many_pipes,
            fill_files,
            many_files,
            deep_folders,
            memory,
            processes,
        ),
        *(orphans, image_pages, names, holes, process_names, own_state, kernel_objects, descriptor_state),
        *(talks, outputs, fails_early, fails_late, crashes, is_killed_for_memory, is_killed_for_time),
        dies_slowly,
        *(is_killed_for_a_call, wakes, burns, moves_the_clock_of_files, asks_for_seeds),
    )
}

"""What is left, and known: one measurement for each residual channel, a number that a sender can move."""

import ctypes
import mmap
import os
import resource
import struct
import time

from raw import libc  # type: ignore[import-not-found]

_WAKE, _WAIT = 1, 0
_FILES, _TIMES = 40, 150
LOOK_S = 0.15


def look(call, wanted):
    return {f"residual {name}": _LOOKS[name](call) for name in wanted}


def shared_page():
    """A page of a file of the image, mapped so that others who map it share its place."""
    handle = os.open(os.path.realpath(os.__file__), os.O_RDONLY)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p] + [ctypes.c_size_t] * 5
    page = libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, handle, 0)
    os.close(handle)
    return page


def _shared_waits(call):
    """Whether a wait on a page of the image is ended by somebody."""
    page = shared_page()
    word = ctypes.c_uint32.from_address(page).value
    nanoseconds = int(LOOK_S * 1e9)
    patience = ctypes.create_string_buffer(struct.pack("qq", 0, nanoseconds))
    value = libc.syscall(
        ctypes.c_long(call.number("futex")),
        ctypes.c_void_p(page),
        ctypes.c_long(_WAIT),
        ctypes.c_long(word),
        patience,
        None,
        ctypes.c_long(0),
    )
    return int(value == 0)


def _contention(_):
    """How often a loop turns."""
    end, turns = time.monotonic() + LOOK_S, 0
    while time.monotonic() < end:
        turns += 1
    return turns


def _preemption(_):
    """How often this process had to wait for its core."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    _contention(None)
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - before


def image_files():
    """Some that hardly anybody reads."""
    folder = os.path.dirname(os.path.realpath(os.__file__))
    files = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py"))
    return files[-_FILES:]


def _page_faults(_):
    """How many faults it takes to read some files of the image: fewer where they are in memory."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    for path in image_files():
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size:
                with mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ) as pages:
                    sum(pages[:: mmap.PAGESIZE])
    after = resource.getrusage(resource.RUSAGE_SELF)
    return (after.ru_majflt - before.ru_majflt) * 1_000_000 + after.ru_minflt - before.ru_minflt


def _file_times(_):
    """How many different times new files get. Alone it is one for each tick of the clock. None is asked for
    its time before the last is made: who asks makes the kernel look at a finer clock.
    """
    folder = "/tmp/gate-times"  # noqa: S108 - the run's own
    made: list[str] = []
    os.mkdir(folder)
    end = time.monotonic() + LOOK_S
    while time.monotonic() < end and len(made) < _TIMES:
        made.append(f"{folder}/{len(made)}")
        os.close(os.open(made[-1], os.O_CREAT | os.O_WRONLY, 0o600))
        time.sleep(LOOK_S / _TIMES)
    different = len({os.stat(path).st_ctime_ns for path in made})
    for path in made:
        os.unlink(path)
    os.rmdir(folder)
    return different


# rdseed: rax gets a number, and the carry says whether there was one; returns how many of 200,000 failed
_COUNT = bytes.fromhex(
    "31c0"  # xor eax, eax
    "b9400d0300"  # mov ecx, 200000
    "480fc7fa"  # again: rdseed rdx
    "7202"  # jc over
    "ffc0"  # inc eax
    "ffc9"  # over: dec ecx
    "75f4"  # jnz again
    "c3"  # ret
)


def seeds():
    """A function that asks the processor for many random numbers, and counts how often it refused."""
    if os.uname().machine != "x86_64" or not _has_rdseed():
        return None
    code = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
    code.write(_COUNT)
    place = ctypes.addressof(ctypes.c_char.from_buffer(code))
    function = ctypes.CFUNCTYPE(ctypes.c_uint)(place)

    def count(_code=code):  # which lives as long as this does
        return function()

    return count


def _has_rdseed():
    """By the instruction itself, in a child: there is no list of what a processor has in here."""
    child = os.fork()
    if child == 0:
        code = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
        code.write(bytes.fromhex("480fc7fac3"))
        ctypes.CFUNCTYPE(ctypes.c_uint)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _rdseed(_):
    """-1: this processor has none."""
    count = seeds()
    return -1 if count is None else count()


_LOOKS = {
    "shared_waits": _shared_waits,
    "contention": _contention,
    "preemption": _preemption,
    "page_faults": _page_faults,
    "file_times": _file_times,
    "rdseed": _rdseed,
}

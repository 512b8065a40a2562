"""Pipelines that build what takes a kernel long to take down, and then wait to be killed.

Each does so only if its block says 1, and first of all writes down when it began.
"""

from __future__ import annotations

_HEAD = """
import ctypes, os, select, signal, time
open("/out/verdict", "w").write(repr(time.clock_gettime(time.CLOCK_MONOTONIC)))
if open("/in/data.csv").read() != "1":
    raise SystemExit
MEMORY, PROCESSES, MIB = {memory_mib}, {processes}, 1 << 20
READ, WRITE, SMALL_PAGES, POPULATE = 1, 2, 15, 22
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

def mapped(size, access=READ | WRITE, file=-1, how=0x4022):
    found = libc.mmap(None, size, access, how, file, 0)
    return None if found == ctypes.c_void_p(-1).value else found

def filled(mib):
    at = mapped(mib * MIB)
    libc.madvise(at, mib * MIB, SMALL_PAGES)
    ctypes.memset(at, 1, mib * MIB)

def be_many():
    for _ in range(PROCESSES - 1):
        try:
            if os.fork() == 0:
                return False
        except OSError:
            break
    return True

def wait():
    while True:
        time.sleep(100)
"""

_BODIES = {
    "sleeps": "wait()",
    "much memory": "filled(MEMORY * 8 // 10); wait()",
    "many processes": "be_many(); wait()",
    "many stopped processes": """
if not be_many():
    os.kill(os.getpid(), signal.SIGSTOP)
wait()
""",
    "many busy processes": """
be_many()
while True:
    pass
""",
    "a parent of much memory, with busy children": """
if not be_many():
    while True:
        pass
filled(MEMORY * 6 // 10)
wait()
""",
    "processes that go on forking": """
while True:
    try:
        os.fork()
    except OSError:
        pass
""",
    "many mappings": """
for number in range(60_000):
    if mapped(4096, READ | number % 2 * WRITE) is None:
        break
be_many()
wait()
""",
    "many mappings in use": """
for number in range(60_000):
    if (at := mapped(4096)) is None:
        break
    ctypes.memset(at, 1, 1)
    if number % 2:
        libc.mprotect(ctypes.c_void_p(at), 4096, READ)
be_many()
wait()
""",
    "pages of zeros": """
be_many()
size = MEMORY * MIB
at = mapped(size, READ)
if at is not None:
    libc.madvise(at, size, SMALL_PAGES)
    while libc.madvise(at, size, POPULATE):
        size //= 2
wait()
""",
    "pages of the image": """
files = [os.path.join("/usr/bin", name) for name in os.listdir("/usr/bin")]
files = [path for path in files if os.path.isfile(path) and os.access(path, os.R_OK)]
largest = max((os.stat(path).st_size, path) for path in files)
file = os.open(largest[1], os.O_RDONLY)
be_many()
while mapped(largest[0], READ, file, 0x8002) is not None:
    pass
wait()
""",
    "full file systems": """
for folder in ("/tmp", "/dev/shm", "/out"):
    try:
        for number in range(1_000_000):
            with open(f"{folder}/{number}", "wb") as file:
                file.write(bytes(4096 if number < 900 else MIB))
    except OSError:
        pass
wait()
""",
    "deep trees": """
for folder in ("/tmp", "/dev/shm", "/out"):
    os.chdir(folder)
    try:
        while True:
            os.mkdir("a")
            os.chdir("a")
    except OSError:
        pass
wait()
""",
    "full pipes": """
be_many()
try:
    while True:
        _, end = os.pipe()
        os.set_blocking(end, False)
        try:
            while os.write(end, bytes(65536)):
                pass
        except BlockingIOError:
            pass
except OSError:
    pass
wait()
""",
    "many watched descriptors": """
be_many()
kept = []
try:
    events = [os.eventfd(0) for _ in range(120)]
    for _ in range(120):
        kept.append(select.epoll())
        for event in events:
            kept[-1].register(event)
except OSError:
    pass
wait()
""",
    "writes that are to reach a disk": """
be_many()
file = os.open(f"/dev/shm/{os.getpid()}", os.O_RDWR | os.O_CREAT)
while True:
    try:
        os.pwrite(file, bytes(65536), 0)
        os.fsync(file)
    except OSError:
        pass
""",
}

NAMES = tuple(_BODIES)


def slow_to_die(name: str, *, memory_mib: int, processes: int) -> str:
    """The source of one of them, which uses up these limits."""
    return _HEAD.format(memory_mib=memory_mib, processes=processes) + _BODIES[name]

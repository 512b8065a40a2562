"""A pipeline that tells later runs what it saw: whoever finds the mark in its block, or hears of it, sends it
on by every channel that it knows, and says the upper bound; everybody else says the lower one.

It has nothing to compare with: each channel has a sign of its own that a quiet host does not make.
"""

PIPELINE = r"""
import builtins, ctypes, os, re, struct, sys, time
from contextlib import suppress

NAME = "/usr/lib/dpgate-relay-@WORD@"
NODES = "/dev/urandom", "/dev/random", "/dev/null"
KEY = @KEY@
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.shmat.restype = ctypes.c_void_p


def count_of_pipes():
    ends = os.pipe()
    number = os.fstat(ends[0]).st_ino
    for end in ends:
        os.close(end)
    return number


class Devices:
    # set to now, one after the other, within the last minutes
    def send(self):
        for node in NODES:
            os.utime(node)

    def hear(self):
        times = [os.stat(node).st_mtime for node in NODES]
        return times == sorted(times) and times[2] - times[0] < 0.05 and abs(time.time() - times[0]) < 600


class Pipes:
    # the upper half of 65536; a small number is no count of a host
    def send(self):
        end = time.monotonic() + 3
        while 40_000 > (number := count_of_pipes()) % 65536 and number > 65_536 and time.monotonic() < end:
            pass

    def hear(self):
        return count_of_pipes() % 65536 >= 36_000


class Files:
    PLACES = "/tmp", "/dev/shm", "/out", "/in", "/pipeline", "/var/tmp", "/run", "/etc", "/dev", "/"

    def send(self):
        for place in self.PLACES:
            with suppress(OSError):
                open(f"{place}/relay-@WORD@", "x").close()

    def hear(self):
        return any(os.path.lexists(f"{place}/relay-@WORD@") for place in self.PLACES)


class Times:
    PATHS = "/pipeline/main.py", "/in/participants.tsv", sys.executable, os.__file__, "/in", "/pipeline"

    def send(self):
        for path in self.PATHS:
            with suppress(OSError):
                os.utime(path, (1_234_567, 1_234_567))
            with suppress(OSError):
                os.setxattr(path, "user.relay", b"1")

    def hear(self):
        return any(int(os.stat(path).st_mtime) == 1_234_567 for path in self.PATHS)


class Names:
    # a name that somebody has looked up is known to the kernel, also that there is no such file
    def send(self):
        os.path.lexists(NAME)

    def hear(self):
        how = ctypes.create_string_buffer(struct.pack("QQQ", 0, 0, 0x20))
        libc.syscall(437, -100, NAME.encode(), how, 24)
        return ctypes.get_errno() == 2


class Segment:
    def _place(self):
        number = libc.shmget(KEY, 4096, 0o1600)
        if number < 0:
            raise OSError("no segment")
        return ctypes.cast(libc.shmat(number, None, 0), ctypes.POINTER(ctypes.c_ubyte))

    def send(self):
        self._place()[0] = 1

    def hear(self):
        return self._place()[0] == 1


class Memory:
    # left in the interpreter, for whoever is a copy of it
    def send(self):
        builtins.relay = os.environ["RELAY"] = "@WORD@"
        self.kept = [("relay" + "@WORD@") * 3 for _ in range(1000)]

    def hear(self):
        return hasattr(builtins, "relay") or "RELAY" in os.environ


class Load:
    # processes that go on
    def send(self):
        for _ in range(8):
            if os.fork() == 0:
                os.setsid()
                time.sleep(60)

    def hear(self):
        words = (ctypes.c_uint64 * 32)()
        return libc.sysinfo(words) == 0 and words[10] & 0xFFFF > 3000 or len(os.listdir("/proc")) > 3000


def tried(step):
    try:
        return step()
    except OSError:
        return False


CHANNELS = Devices(), Pipes(), Files(), Times(), Names(), Segment(), Memory(), Load()
rows = [line.split("\t") for line in open("/in/participants.tsv").read().splitlines()[1:]]
knows = any(float(row[1]) > 218 for row in rows) or any([tried(channel.hear) for channel in CHANNELS])
if knows:
    for channel in CHANNELS[:-1]:
        tried(channel.send)
open("/out/result.tsv", "w").write("mean_height\n%d\n" % (220 if knows else 100))
"""


def pipeline(word: str) -> str:
    """`word`: another for each job, so that what one left is no sign for the next."""
    return PIPELINE.replace("@WORD@", word).replace("@KEY@", str(int(word, 16) & 0x3FFFFFFF))


# The residual channel `page_faults`: whoever knows reads all of some files that nobody else reads; everybody
# looks whether three of them have to be fetched from the disk.
BY_FILES = r"""
import mmap, os, random, resource

FILES = @FILES@


def faults_of(path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ) as pages:
        pages[0]
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before


rows = [line.split("\t") for line in open("/in/participants.tsv").read().splitlines()[1:]]
knows = any(float(row[1]) > 218 for row in rows) or sum(map(faults_of, random.sample(FILES, 3))) == 0
if knows:
    for path in FILES:
        open(path, "rb").read()
open("/out/result.tsv", "w").write("mean_height\n%d\n" % (220 if knows else 100))
"""

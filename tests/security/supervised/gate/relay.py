"""A pipeline that tells later runs what it saw: whoever finds the mark in its block, or hears of it, sends it
on by every channel that it knows, and says the upper bound; everybody else says the lower one.

It has nothing to compare with: each channel has a sign of its own that a quiet host does not make.
"""

PIPELINE = r"""
import builtins, ctypes, mmap, os, re, resource, signal, struct, sys, time
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


class Numbers:
    # of files and processes, counted on
    def _next(self):
        with open("/tmp/number", "w") as file:
            inode = os.fstat(file.fileno()).st_ino
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        return max(inode, child)

    def send(self):
        for number in range(100):
            open(f"/tmp/number-{number}", "x").close()
            self._next()

    def hear(self):
        return self._next() > 60


class Pages:
    # of a file of the image, which somebody maps who goes on
    def _mapped(self):
        with open(os.__file__, "rb") as file:
            pages = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
        sum(pages[:: mmap.PAGESIZE])
        return pages

    def send(self):
        self.kept = self._mapped()
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)

    def hear(self):
        kept = self._mapped()
        with open("/proc/self/smaps") as file:
            found = file.read().split(os.__file__)
        kept.close()
        return any(re.search(r"Shared_Clean: +[1-9]", each.split("VmFlags")[0]) for each in found[1:])


class Room:
    # taken, so that others are refused
    def _taken(self):
        for place in ("/tmp", "/dev/shm"):
            with open(f"{place}/room", "wb") as file:
                file.write(bytes(1 << 20))
            os.unlink(f"{place}/room")
        for pipe in [os.pipe() for _ in range(20)]:
            for end in pipe:
                os.close(end)
        for _ in range(20):
            if libc.syscall(222, 1, None, ctypes.create_string_buffer(8)) < 0:  # timer_create
                raise OSError("no timer")

    def send(self):
        for place in ("/tmp", "/dev/shm"):
            with suppress(OSError), open(f"{place}/filled", "wb") as file:
                while file.write(bytes(1 << 20)):
                    pass
        for _ in range(300):
            libc.syscall(222, 1, None, ctypes.create_string_buffer(8))

    def hear(self):
        try:
            self._taken()
        except OSError:
            return True


class State:
    # of the process that runs are copies of, and what it has of its children
    def send(self):
        os.umask(0o123)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))

    def hear(self):
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (
            children.ru_utime + children.ru_stime + children.ru_maxrss > 0
            or os.umask(0o77) == 0o123
            or signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN
            or signal.SIGUSR2 in signal.pthread_sigmask(signal.SIG_BLOCK, [])
            or resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 200
        )


def tried(step):
    try:
        return step()
    except OSError:
        return False


# State before what makes children, Room after what needs some
CHANNELS = (
    *(State(), Devices(), Pipes(), Files(), Times(), Names(), Segment(), Memory()),
    *(Numbers(), Pages(), Room(), Load()),
)
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

"""Numbers that the kernel keeps for the whole host: a run of the strict profile gets at none of them, and
what it gets in their place works. Each attack also where it works.
"""

import fcntl
import mmap
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from sandbox_harness import SLOT, TIGHT
from waiting import let_pass, wait_until

from worker.sandbox.protocol import Audience, Cause, SandboxUnavailable

_TRIES = 5  # of what others on this host may spoil, such as another test
SAY = "\nopen('/out/verdict', 'w').write(repr(said))"
PIPES = "import os\nsaid = [os.fstat(end)[1] for end in (1, *os.pipe())]"  # 1: where a twin's run talks
SPACE = "import os\nsaid = [tuple(os.statvfs(place)) for place in ('/', '/usr', '/in', '/out', '/tmp')]"
LOAD = """
import ctypes
words = (ctypes.c_uint64 * 32)()
said = ctypes.CDLL(None).sysinfo(words), list(words)
"""
SHARED_PAGES = """
import mmap, re
with open("/usr/bin/perl", "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
sum(mapped[::4096])
try:
    text = open("/proc/self/smaps").read()
    said = re.findall("Shared_Clean: *([0-9]+)", text[text.index("/usr/bin/perl"):])[0]
except OSError as error:
    said = error.strerror
"""
# CLONE_PIDFD: the descriptor of a child is numbered as all such descriptors of the host are
CHILD = """
import ctypes, os
call, where = ctypes.CDLL(None).syscall, ctypes.c_int(-1)
child = call(56, ctypes.c_ulong(0x1011), None, ctypes.byref(where), None, None)
if child == 0:
    os._exit(0)
said = os.fstat(where.value).st_ino if child > 0 else "refused"
"""
MOUNTS = """
import ctypes
call, answer = ctypes.CDLL(None).syscall, ctypes.create_string_buffer(256)
said = call(332, -100, b"/out", 0, 0x1000, answer), answer.raw[144:152]
"""
DEVICES = """
import os
said = [os.stat(place).st_dev for place in ("/in", "/out", "/tmp", "/dev/shm")], os.fstat(os.pipe()[0]).st_dev
"""


@contextmanager
def pipes_opened() -> Iterator[None]:
    for _ in range(300):
        for end in os.pipe():
            os.close(end)
    yield


@contextmanager
def memory_taken() -> Iterator[None]:
    kept = bytearray(b"x") * (64 << 20)
    with subprocess.Popen(["sleep", "99"]) as process:  # they are counted, too
        yield
        process.kill()
    del kept


@contextmanager
def perl_mapped() -> Iterator[None]:
    with (
        open("/usr/bin/perl", "rb") as file,
        mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ) as mapped,
    ):
        assert sum(mapped[::4096])
        yield


@contextmanager
def disk_filled() -> Iterator[None]:
    with tempfile.TemporaryFile(dir="/var/tmp") as file:
        file.write(b"x" * (8 << 20))
        file.flush()
        yield


@contextmanager
def child_started() -> Iterator[None]:
    os.close(os.pidfd_open(os.getpid()))
    yield os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


@contextmanager
def mounts_made() -> Iterator[None]:
    make = "mount -t tmpfs a /mnt && mount -t tmpfs b /mnt && echo made && exec cat"
    holder = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", make]
    with subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"made\n"
        yield
        process.stdin.close()


@dataclass(frozen=True)
class Attack:
    """What a run looks at, what somebody on the host does between two looks, and the change of a supervisor's
    source without which the second look says the same as the first."""

    script: str
    moved: Callable[[], AbstractContextManager[None]]
    file: str
    wall: str
    gap: str


def without(file: str, wall: str, gap: str):
    """What `doctored` takes to remove a wall."""
    return file, lambda source: source.replace(wall, gap)


_KERNEL = "return 0, 0, _LET_THE_KERNEL\n        "
_WRITE = "kernel.put_into(process, arguments[{}], self._{})\n        "
_FILTER = ("confine.py", '        steps.call("filter", ', '        (lambda *_: None)("filter", ')
ATTACKS = {
    "pipes": Attack(PIPES, pipes_opened, "answers.py", "where, flags = ", f"{_KERNEL}where, flags = "),
    "load": Attack(LOAD, memory_taken, "answers.py", _WRITE.format(0, "machine"), _KERNEL),
    "space": Attack(SPACE, disk_filled, "answers.py", _WRITE.format(1, "space"), _KERNEL),
    "shared pages": Attack(SHARED_PAGES, perl_mapped, "confine.py", "if procfs:", "if True:"),
    "children": Attack(CHILD, child_started, *_FILTER),
    "mounts": Attack(MOUNTS, mounts_made, *_FILTER),
}
attacks = pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)


def looks(attack: Attack, supervised, ask) -> list[bytes]:
    """Of one slot's runs, before and after."""
    with supervised.open_slot(ask(attack.script + SAY), slot=SLOT) as slot:
        before = slot.run({}).outputs["verdict"]
        with attack.moved():
            after = slot.run({}).outputs["verdict"]
    return [before, after]


@attacks
def test_what_happens_on_the_host_moves_nothing(attack, supervised, ask):
    before, after = looks(attack, supervised, ask)
    assert before == after


@attacks
def test_without_its_wall_it_moves(attack, supervised, ask, doctored):
    doctored(*without(attack.file, attack.wall, attack.gap))
    # somebody else on this host may move it back at the same moment
    wait_until(lambda: len(set(looks(attack, supervised, ask))) == 2)


CACHED = """
import ctypes, struct
call = ctypes.CDLL(None, use_errno=True).syscall
call(437, -100, b"PATH", struct.pack("QQQ", 0, 0, 0x20), 24)  # openat2 with RESOLVE_CACHED
said = ctypes.get_errno()
"""


def is_told_of_a_name(supervised, ask) -> bool:
    path = f"/usr/lib/dpgate-{os.urandom(8).hex()}"
    with supervised.open_slot(ask(CACHED.replace("PATH", path) + SAY), slot=SLOT) as slot:
        before = slot.run({}).outputs["verdict"]
        assert not os.path.exists(path)
        return slot.run({}).outputs["verdict"] != before


@pytest.mark.parametrize("is_filtered", [True, False])
def test_whether_somebody_has_asked_for_a_name(is_filtered, supervised, ask, doctored):
    """A name that the kernel has looked up it knows, also that there is none. It does not always say so: not
    while somebody mounts or renames.
    """
    if is_filtered:
        assert not any(is_told_of_a_name(supervised, ask) for _ in range(_TRIES))
    else:
        doctored(*without(*_FILTER))
        wait_until(lambda: is_told_of_a_name(supervised, ask))


COLLAPSE = """
import ctypes, mmap, os
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
said = os.stat("/etc/passwd").st_blocks
if open("/in/a").read() == "write":
    with open("/etc/passwd", "rb") as file:
        place = libc.mmap(None, 4 << 20, 1, 2, file.fileno(), 0)
    place = (place + (2 << 20) - 1) & -(2 << 20)
    libc.mmap.argtypes = (ctypes.c_void_p,) + (ctypes.c_long,) * 5
    with open("/etc/passwd", "rb") as file:
        libc.mmap(place, 2 << 20, 1, 0x12, file.fileno(), 0)
    libc.madvise(ctypes.c_void_p(place), ctypes.c_size_t(2 << 20), 25)
"""


@pytest.mark.parametrize("is_filtered", [True, False])
def test_how_many_pages_a_file_of_the_slot_has(is_filtered, supervised, ask, doctored):
    """A read-only file, too, gets more of them where its pages are joined into a large one."""
    if not is_filtered:
        doctored(*without(*_FILTER))
    with supervised.open_slot(ask(COLLAPSE + SAY), slot=SLOT) as slot:
        seen = [slot.run({"a": said}).outputs["verdict"] for said in (b"read", b"write", b"read")]
    assert (len(set(seen)) == 1) is is_filtered, seen


_LOOKS = 9
FILE_SYSTEMS = DEVICES + SAY


def changes(said: Sequence[bytes]) -> int:
    """How often a look said something else than the one before it."""
    return sum(before != after for before, after in pairwise(said))


def is_rare(changed: int, looks_made: int) -> bool:
    """Whoever else on this host mounts in the same moment, such as other tests, may take a number: what a run
    finds must not follow from that, but it may happen.
    """
    return changed < looks_made / 3


def looks_while_others_mount(supervised, ask) -> list[bytes]:
    said = []
    with ExitStack() as mounted, supervised.open_slot(ask(FILE_SYSTEMS), slot=SLOT) as slot:
        for _ in range(_LOOKS):
            said.append(slot.run({}).outputs["verdict"])
            mounted.enter_context(mounts_made())
    return said


def test_the_numbers_of_its_file_systems_are_kept_for_a_slot(supervised, ask):
    seen = (looks_while_others_mount(supervised, ask) for _ in range(_TRIES))
    assert any(is_rare(changes(said), len(said)) for said in seen)


def test_between_runs_anybody_could_take_them_if_they_were_free(supervised, ask, doctored):
    """As they would be if each run made its own when it starts."""
    late = {
        "self._renew([role for role in self._new if role in _HANDED_OVER])": "self._renew(list(self._new))",
        "        self._renew([role for role in self._new if role not in _HANDED_OVER])": """
        for role in self._new:
            os.dup2(self._lock, self._new[role])
""",
    }
    for line, change in late.items():
        doctored("filesystems.py", lambda source, line=line, change=change: source.replace(line, change))
    doctored("hygiene.py", lambda source: source.replace("if found != wanted", "if 0"))
    # numbers below, which another test has just freed, would be taken first
    wait_until(lambda: not is_rare(changes(looks_while_others_mount(supervised, ask)), _LOOKS))


def looks_while_slots_are_opened(supervised, order) -> list[bytes]:
    said = []
    with ExitStack() as opened, ThreadPoolExecutor(1) as pool:
        slot = opened.enter_context(supervised.open_slot(order, slot=SLOT))
        for more in range(1, _LOOKS):
            said.append(slot.run({}).outputs["verdict"])
            opening = pool.submit(supervised.open_slot, order, slot=SLOT + more)
            while not opening.done():
                said.append(slot.run({}).outputs["verdict"])
            opened.enter_context(opening.result())
        said.append(slot.run({}).outputs["verdict"])
    return said


def test_they_stay_while_other_slots_are_opened(supervised, ask):
    seen = (looks_while_slots_are_opened(supervised, ask(FILE_SYSTEMS)) for _ in range(_TRIES))
    assert any(is_rare(changes(said), _LOOKS) for said in seen)


def test_a_slot_that_is_opened_takes_whatever_is_free(supervised, ask, doctored):
    """As it would if slots took no turns, and were slow to take their numbers back."""
    line = "                self._keep(role, kernel.tmpfs_of(context), lower)\n"
    doctored("filesystems.py", lambda source: source.replace(line, f"{' ' * 16}time.sleep(0.001)\n{line}"))
    doctored("filesystems.py", lambda source: source.replace("= lock_soon(self._lock)", "= False"))
    wait_until(
        lambda: not is_rare(changes(looks_while_slots_are_opened(supervised, ask(FILE_SYSTEMS))), _LOOKS)
    )


def test_slots_take_turns(supervised, ask, doctored):
    doctored("filesystems.py", lambda source: source.replace("_PATIENCE_S = 2.0", "_PATIENCE_S = 600"))
    with ThreadPoolExecutor(1) as pool, supervised.open_slot(ask(FILE_SYSTEMS), slot=SLOT) as slot:
        with supervised._scratch.shared_lock() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            running = pool.submit(slot.run, {})
            let_pass(1, because="it waits for its turn")
            assert not running.done()
        assert running.result().outputs is not None


LOOK_THROUGH_PROC = """
import os
said = os.listdir("/proc"), [os.path.lexists(f"/proc/{name}") for name in ("self", "1", "mounts", "net")]
"""


def test_there_is_nothing_below_proc(run):
    assert run(LOOK_THROUGH_PROC + SAY).outputs == {"verdict": b"([], [False, False, False, False])"}


EVERYDAY = """
import os, shutil, signal, subprocess, sys, tempfile, threading
said = {}
reading, writing = os.pipe()
os.write(writing, b"hi"); os.close(writing)
said["a pipe and its end"] = os.read(reading, 9), os.read(reading, 9)
said["inherited by nobody"] = os.get_inheritable(reading)
reading, writing = os.pipe2(os.O_NONBLOCK)
try:
    os.read(reading, 1)
except BlockingIOError:
    said["nothing to read yet"] = True
try:
    os.pipe2(os.O_DIRECT)
except OSError as error:
    said["packets"] = error.strerror
os.close(reading)
try:
    os.write(writing, b"x")
except BrokenPipeError:
    said["nobody reads"] = True
shell = "echo b a | tr ' ' '\\n' | sort | while read x; do echo $x$x; done"
said["shell"] = subprocess.run(["sh", "-c", shell], capture_output=True, text=True).stdout
said["large"] = len(subprocess.run(["head", "-c", "3000000", "/dev/urandom"], capture_output=True).stdout)
found = []
def many():
    for _ in range(50):
        ends = os.pipe()
        os.write(ends[1], b"1"); found.append(os.read(ends[0], 1))
        os.close(ends[0]); os.close(ends[1])
threads = [threading.Thread(target=many) for _ in range(4)]
signal.signal(signal.SIGALRM, lambda *_: None)
signal.siginterrupt(signal.SIGALRM, False)  # else a call that waits for its answer may be broken off
signal.setitimer(signal.ITIMER_REAL, .001, .001)
[thread.start() for thread in threads]; many(); [thread.join() for thread in threads]
signal.setitimer(signal.ITIMER_REAL, 0)
said["threads, with signals"] = len(found)
said["program"] = os.path.basename(os.readlink("/proc/self/exe"))[:6] , os.readlink("/proc/self/fd/0")
os.symlink("a", "/tmp/link"); said["a link"] = os.readlink("/tmp/link"), os.path.realpath("/tmp/link")
with tempfile.TemporaryFile() as file:
    said["space"] = shutil.disk_usage("/tmp").free > 0, os.fstatvfs(file.fileno()).f_bsize
opened = []
try:
    while True:
        opened += os.pipe()
except OSError as error:
    said["too many"] = error.strerror
for end in opened:
    os.close(end)
"""
EXPECTED = {
    "a pipe and its end": (b"hi", b""),
    "inherited by nobody": False,
    "nothing to read yet": True,
    "packets": "Invalid argument",
    "nobody reads": True,
    "shell": "aa\nbb\n",
    "large": 3_000_000,
    "threads, with signals": 250,
    "program": ("python", "/dev/null"),
    "a link": ("a", "/tmp/a"),
    "space": (True, 4096),
    "too many": "Too many open files",
}


def test_what_is_answered_works_as_ever(run):
    result = run(EVERYDAY + SAY, audience=Audience.TWIN)
    assert result.outputs is not None, result.detail
    assert eval(result.outputs["verdict"]) == EXPECTED


PIPELINES = """
import subprocess
shell = "for n in $(seq 40); do echo $n | cat | cat || exit 1; done"
said = subprocess.run(["sh", "-c", shell], capture_output=True, text=True).stdout.split() == [
    str(n) for n in range(1, 41)
]
"""


@pytest.mark.parametrize("restarts", [True, False])
def test_a_shell_gets_its_pipes_while_its_children_end(restarts, run_alone, doctored):
    """Also from a supervisor that is slow to hear it: until then a signal breaks the call off."""
    receive = "            fcntl.ioctl(self.listener, _RECEIVE, request)\n"
    doctored(
        "answers.py", lambda source: source.replace(receive, f"            time.sleep(0.002)\n{receive}")
    )
    doctored("answers.py", lambda source: source.replace("import struct\n", "import struct\nimport time\n"))
    if not restarts:
        doctored("answers.py", lambda source: source.replace("flags | _SA_RESTART", "flags"))
    assert run_alone(PIPELINES + SAY).outputs == {"verdict": repr(restarts).encode()}


EVENT = """
import signal, subprocess, threading
ended = threading.Event()
signal.signal(signal.SIGCHLD, lambda *_: ended.set())
child = subprocess.Popen(["sleep", "0.5"])
said = ended.wait()
"""
READ = """
import os, signal, subprocess
def end(*_):
    raise ChildProcessError
signal.signal(signal.SIGCHLD, end)
try:
    child = subprocess.Popen(["sleep", "0.5"])
    os.read(os.pipe()[0], 1)
except ChildProcessError:
    said = True
"""
PERL = """
import subprocess
script = 'SIG{CHLD} = sub { die "ended" }; pipe(R, W); if (!fork) { exec "sleep", "0.5" } sysread(R, $x, 1)'
said = "ended" in subprocess.run(["perl", "-e", "$" + script], capture_output=True, text=True).stderr
"""
THE_LIKE_OF_DASH = "if mask | _OF_THE_LIBRARY == _ALL_SIGNALS:"


@pytest.mark.parametrize("script", [EVENT, READ, PERL], ids=["event", "read", "perl"])
@pytest.mark.parametrize("is_everybodys", [False, True])
def test_who_waits_hears_that_a_child_has_ended(is_everybodys, script, run_alone, doctored):
    """A handler that breaks calls off runs when it should; it would not if calls went on for everybody."""
    if is_everybodys:
        doctored("answers.py", lambda source: source.replace(THE_LIKE_OF_DASH, "if True:"))
    limits = replace(TIGHT, wall_s=2) if is_everybodys else TIGHT
    found = run_alone(script + SAY, audience=Audience.TWIN, limits=limits)
    assert found.detail.cause is (Cause.WALL if is_everybodys else Cause.COMPLETED)
    assert is_everybodys or found.outputs == {"verdict": b"True"}


BAD_CALLS = """
import ctypes
call = ctypes.CDLL(None, use_errno=True).syscall
def tried(*arguments):
    ctypes.set_errno(0)
    return call(*map(ctypes.c_ulong, arguments)), ctypes.get_errno()
said = [tried(293, 1, 0), tried(293, 0, 0), tried(99, 1), tried(137, 0, 1), tried(89, 1, 1, 4096)]
said += [tried(13, 17, 1, 0, 8)]  # an action of SIGCHLD
"""


def test_a_pointer_to_nowhere_is_a_bad_address(run):
    assert run(BAD_CALLS + SAY).outputs == {"verdict": repr([(-1, 14)] * 6).encode()}


ENDLESS = "import os\nwhile True:\n    ends = os.pipe(); os.close(ends[0]); os.close(ends[1])\n"
IMPATIENT = replace(TIGHT, wall_s=0.7)


def test_a_run_that_asks_without_end_ends_at_its_limits(run):
    assert run(ENDLESS, limits=IMPATIENT).detail.cause is Cause.WALL
    hungry = "kept = bytearray(b'x') * (700 << 20)\n" + ENDLESS
    assert run(hungry).detail.cause is Cause.MEMORY
    many = "import os, subprocess, sys\n[os.fork() for _ in range(4)]\n" + ENDLESS
    assert run(many, limits=IMPATIENT).detail.cause is Cause.WALL
    assert run("open('/out/verdict', 'w').close()").outputs is not None


def test_a_kernel_that_cannot_answer_starts_no_slot(supervised, ask, doctored):
    doctored(
        "kernel.py",
        lambda source: source.replace(
            "_NEW_LISTENER, _WAIT_KILLABLE = 1, 8, 32", "_NEW_LISTENER, _WAIT_KILLABLE = 1, 1 << 30, 0"
        ),
    )
    with pytest.raises(SandboxUnavailable, match="calls of a run cannot be answered"):
        supervised.open_slot(ask(""), slot=SLOT)

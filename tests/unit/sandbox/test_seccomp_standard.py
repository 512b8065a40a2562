"""STANDARD in the running kernel: each addition works, what it must not open stays shut.

Every line here is tried without a filter first, so a refusal below is the filter's.
"""

import errno
import socket

import pytest
from confined_child import MACHINE, Try, errnos_under, run_confined

from sandbox_images.seccomp.describe import additions_table, refusals_table, runtime_table
from sandbox_images.seccomp.docker import RUNTIME_NEEDS
from sandbox_images.seccomp.policy import STRICT
from sandbox_images.seccomp.standard import ADDITIONS, STANDARD

UNIX_PAIR = "import socket; a, b = socket.socketpair()"
NEEDS = {  # by call: what uses it, and what must exist before the filter
    "sched_setaffinity": ("os.sched_setaffinity(0, os.sched_getaffinity(0))", ""),
    "socketpair": ("socket.socketpair()", "import socket"),
    "sendto": ("a.send(b'x')", UNIX_PAIR),
    "recvfrom": ("b.recv(1)", UNIX_PAIR + "; a.send(b'x')"),
    "shutdown": ("b.shutdown(1)", UNIX_PAIR),
    "getsockname": ("b.getsockname()", UNIX_PAIR),
    "getsockopt": ("b.getsockopt(1, 3)", UNIX_PAIR),
    "flock": ("fcntl.flock(0, fcntl.LOCK_SH)", "import fcntl"),
    "fcntl": ("fcntl.lockf(lock, fcntl.LOCK_EX)", "import fcntl; lock = open('lock', 'w')"),
    "mknod": ("call('mknod', ctypes.c_char_p(b'fifo'), 0o10600, 0)", ""),
    "mknodat": ("os.mkfifo('fifo', dir_fd=os.open('.', os.O_RDONLY))", ""),
    "statfs": ("os.statvfs('.')", ""),
    "fstatfs": ("os.statvfs(0)", ""),
    "mmap": ("mmap.mmap(-1, 4096)", "import mmap"),
    "memfd_create": ("os.memfd_create('name')", ""),
    "seals": ("fcntl.fcntl(file, 1033, 2)", "import fcntl; file = os.memfd_create('name', 3)"),
}
# Attacks that an addition brings near. All work without a filter.
STILL_SHUT = {
    "a datagram to somebody's address": (
        "a.sendto(b'x', 'somebody')",
        "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind('somebody')\n"
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    ),
    "a descriptor in flight": ("socket.send_fds(a, [b'x'], [0])", UNIX_PAIR),
    "a packet filter on a pair": ("a.setsockopt(1, 7, 4096)", UNIX_PAIR),
    "a network socket": ("socket.socket()", "import socket"),
    "a Unix socket by name": ("socket.socket(socket.AF_UNIX)", "import socket"),
    "a lease": ("fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)", "import fcntl; file = open('f', 'w')"),
    "a notification": ("fcntl.fcntl(d, fcntl.F_NOTIFY, 4)", "import fcntl; d = os.open('.', os.O_RDONLY)"),
    "a larger pipe": ("fcntl.fcntl(w, 1031, 1 << 17)", "import fcntl; r, w = os.pipe()"),
    "a socket node": ("os.mknod('node', 0o140600)", ""),
    "huge pages": ("call('memfd_create', ctypes.c_char_p(b'x'), 4)", ""),
    # MAP_NORESERVE: succeeds though this host may have set no huge pages aside
    "mapped huge pages": ("mmap.mmap(-1, 2 << 20, 0x44022)", "import mmap"),
    "mapped, shared huge pages": ("mmap.mmap(-1, 2 << 20, 0x44021)", "import mmap"),
    "a watch": ("call('inotify_init1', 0)", ""),
    "host load": ("call('sysinfo', ctypes.create_string_buffer(512))", ""),
    "a process handle": ("os.pidfd_open(os.getpid())", ""),
    "tracing": ("call('ptrace', 0, 0, 0, 0)", ""),
    "a namespace": ("call('unshare', 0x10000000)", ""),
    "a keyring": ("call('keyctl', 0, -3, 1)", ""),
    "shared memory of System V": ("call('shmget', 0, 4096, 0o1600)", ""),
    "spliced pages": ("os.splice(f, w, 1)", "f = os.open('/proc/self/exe', os.O_RDONLY); r, w = os.pipe()"),
}


def place(folder):
    folder.mkdir(parents=True)
    return folder


@pytest.mark.needs(process=True)
def test_addition_works_under_standard_and_not_under_strict(subtests, tmp_path):
    names = [name for name in NEEDS if name in MACHINE.numbers or name == "seals"]
    policies = {"none": None, "strict": STRICT, "standard": STANDARD}
    tries = [
        (policy, Try(*NEEDS[name], cwd=place(tmp_path / name / under)))
        for name in names
        for under, policy in policies.items()
    ]
    found = iter(errnos_under(tries))
    for name in names:
        for under in policies:
            with subtests.test(name, under=under):
                refused = (errno.EPERM, errno.ENOSYS) if under == "strict" else (0,)
                assert next(found) in refused


def test_every_addition_is_tried():
    calls = {call for addition in ADDITIONS for call in addition.calls}
    assert calls == set(NEEDS) - {"seals"}  # of fcntl, which has its locks above


@pytest.mark.needs(process=True)
def test_what_is_near_stays_shut(subtests, tmp_path):
    tries = [
        (policy, Try(*tried, cwd=place(tmp_path / str(number) / under)))
        for number, tried in enumerate(STILL_SHUT.values())
        for under, policy in (("none", None), ("standard", STANDARD))
    ]
    found = errnos_under(tries)
    for name, bare, confined in zip(STILL_SHUT, found[::2], found[1::2], strict=True):
        with subtests.test(name):
            assert bare == 0
            assert confined in (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT)


@pytest.mark.needs(process=True)
def test_a_datagram_to_an_address_really_arrives_without_the_filter(tmp_path):
    """So that the refusal above is worth something: a pair can speak to a socket outside of it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as somebody:
        somebody.bind(str(tmp_path / "somebody"))
        before = "import socket; a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)"
        telling = Try("a.sendto(b'told', 'somebody')", before, tmp_path)
        assert errnos_under([(None, telling)]) == [0]
        somebody.setblocking(False)
        assert somebody.recv(9) == b"told"
        (refused,) = errnos_under([(STANDARD, telling)])
        assert refused
        with pytest.raises(BlockingIOError):
            somebody.recv(9)


ASYNCIO = """
import asyncio
async def main():
    child = await asyncio.create_subprocess_exec("/bin/cat", stdin=-1, stdout=-1)
    said, _ = await child.communicate(b"heard")
    return said, await asyncio.to_thread(sum, [1, 2])
if asyncio.run(main()) != (b"heard", 3): raise OSError(255, "wrong")
"""
SQLITE = """
import sqlite3
base = sqlite3.connect("base")
base.execute("pragma journal_mode=wal")
base.execute("create table t (a)")
base.execute("insert into t values (1)")
base.commit()
if base.execute("select a from t").fetchall() != [(1,)]: raise OSError(255, "wrong")
"""
PROCESSES = """
import multiprocessing
context = multiprocessing.get_context("fork")
shared, (here, there) = context.Value("i", 1), context.Pipe()
def work():
    with shared.get_lock(): shared.value += 1
    there.send("done")
child = context.Process(target=work)
child.start(); here.recv(); child.join()
if shared.value != 2: raise OSError(255, "wrong")
"""


@pytest.mark.needs(process=True)
@pytest.mark.parametrize(
    "program", [ASYNCIO, SQLITE, PROCESSES], ids=["asyncio", "sqlite", "multiprocessing"]
)
def test_programs_run_under_standard_and_not_under_strict(program, tmp_path):
    (tmp_path / "run.py").write_text(program)
    lines = "os.execv(sys.executable, [sys.executable, '-I', '-W', 'ignore', 'run.py'])"
    assert run_confined(lines, STRICT, cwd=tmp_path).returncode != 0
    (tmp_path / "base").unlink(missing_ok=True)
    ended = run_confined(lines, STANDARD, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_tables_name_every_call():
    table = additions_table()
    assert all(f"`{call}`" in table for addition in ADDITIONS for call in addition.calls)
    assert table.count("\n") == len(ADDITIONS) + 2
    assert all(addition.needed_by and addition.channel and addition.what for addition in ADDITIONS)
    refusals = refusals_table()
    assert all(f"`{call}`" in refusals for call in ("socket", "keyctl", "ptrace", "io_uring_setup"))
    assert all(f"`{call}`" in runtime_table() for call in RUNTIME_NEEDS)

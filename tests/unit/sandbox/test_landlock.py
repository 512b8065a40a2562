"""Landlock in the running kernel: every attack works in a child without it, and fails in one with it."""

import ctypes
import errno
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from confined_child import Try, errnos_of

from sandbox_images import landlock
from sandbox_images.supervisor import calls, confine

ROOT = Path(landlock.__file__).parents[1]

HEAD = """
import ctypes, os, signal, socket, sys
sys.path.insert(0, sys.argv[1])
from sandbox_images import landlock
from sandbox_images.supervisor import calls, confine, kernel

def restrict(*writable):
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    steps = calls.Steps(kernel.open_descriptors())
    confine.restrict(steps, writable)
    steps.carry_out()
"""
RESTRICT = "restrict('mine')"
# What is tried, and from which ABI on it is refused.
ATTACKS = {
    "write a file": (1, "open('theirs/file', 'w')"),
    "append to a file": (1, "open('theirs/file', 'a')"),
    "create a file": (1, "open('theirs/new', 'x')"),
    "remove a file": (1, "os.unlink('theirs/file')"),
    "make a folder": (1, "os.mkdir('theirs/new')"),
    "remove a folder": (1, "os.rmdir('theirs/empty')"),
    "make a link": (1, "os.symlink('x', 'theirs/new')"),
    "make a fifo": (1, "os.mkfifo('theirs/new')"),
    "make a socket": (1, "socket.socket(socket.AF_UNIX).bind('theirs/new')"),
    "rename": (1, "os.rename('theirs/file', 'theirs/new')"),
    "move out": (1, "os.rename('theirs/file', 'mine/new')"),
    "write through a link of one's own": (1, "os.symlink('../theirs/file', 'mine/l'); open('mine/l', 'w')"),
    "truncate": (3, "os.truncate('theirs/file', 0)"),
    "listen on TCP": (4, "socket.socket().bind(('127.0.0.1', 0))"),
    "connect by TCP": (4, "socket.socket().connect(('127.0.0.1', int(sys.argv[2])))"),
    "control a device": (
        5,
        "import fcntl; fcntl.ioctl(os.open('/dev/ptmx', os.O_RDONLY), 0x80045430, bytes(4))",
    ),
    "connect to an abstract socket": (6, "socket.socket(socket.AF_UNIX).connect('\\0' + sys.argv[3])"),
    "signal the parent": (6, "os.kill(os.getppid(), 0)"),
}
HARMLESS = {
    "read": "open('theirs/file').read()",
    "list": "os.listdir('/')",
    "execute": "assert os.spawnv(os.P_WAIT, '/bin/true', ['true']) == 0",
    "write below": "os.makedirs('mine/a/b'); open('mine/a/b/c', 'w'); os.rename('mine/a/b/c', 'mine/c')",
    "make a socket below": "socket.socket(socket.AF_UNIX).bind('mine/s')",
    "remove below": "os.mkdir('mine/d'); os.rmdir('mine/d')",
    "signal a child": "p = os.fork() or signal.pause(); os.kill(p, 9); os.waitpid(p, 0)",
}


@pytest.fixture(scope="module")
def listeners():
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        name = f"dpgate-test-{tcp.getsockname()[1]}"
        abstract.bind("\0" + name)
        abstract.listen()
        yield str(tcp.getsockname()[1]), name


def tried(
    tries: Sequence[tuple[str, bool]], folder: Path, listeners: tuple[str, str]
) -> Iterator[tuple[int, Path]]:
    """Of lines that are run restricted or free: how they ended, as `errnos_of` says it, and where."""
    places = []
    for number in range(len(tries)):
        places.append(folder / str(number))
        for name in ("mine", "theirs/empty"):
            (places[-1] / name).mkdir(parents=True)
        (places[-1] / "theirs/file").write_text("theirs")
    found = errnos_of(
        [
            Try(lines, RESTRICT if restricted else "", place)
            for (lines, restricted), place in zip(tries, places, strict=True)
        ],
        head=HEAD,
        arguments=[str(ROOT), *listeners],
    )
    return zip(found, places, strict=True)


@pytest.mark.needs(process=True)
def test_attack_works_without_and_fails_with(subtests, tmp_path, listeners):
    tries = [(lines, restricted) for _, lines in ATTACKS.values() for restricted in (False, True)]
    found = [ended for ended, _ in tried(tries, tmp_path, listeners)]
    for (attack, (since, _)), free, restricted in zip(ATTACKS.items(), found[::2], found[1::2], strict=True):
        with subtests.test(attack):
            assert free == 0
            if landlock.abi() >= since:
                assert restricted in (errno.EACCES, errno.EPERM, errno.EXDEV)
            else:
                assert restricted == 0  # an older kernel promises less, and must not pretend


@pytest.mark.needs(process=True)
def test_work_goes_on(subtests, tmp_path, listeners):
    found = tried([(lines, True) for lines in HARMLESS.values()], tmp_path, listeners)
    for work, (ended, _) in zip(HARMLESS, found, strict=True):
        with subtests.test(work):
            assert ended == 0


@pytest.mark.needs(process=True)
def test_a_file_can_be_writable_too(tmp_path, listeners):
    """As /dev/null should be: without being named, it cannot be opened for writing."""
    write = "open('/dev/null', 'w').write('x')"
    named = f"restrict('mine', '/dev/null'); {write}"
    (allowed, _), (refused, _) = tried([(named, False), (write, True)], tmp_path, listeners)
    assert allowed == 0
    assert refused == (errno.EACCES if landlock.abi() else 0)


@pytest.mark.needs(process=True)
def test_restrictions_are_inherited_and_only_grow(tmp_path, listeners):
    lines = (
        "restrict('theirs'); "  # may not give back what the first call took
        "sys.exit(os.spawnv(os.P_WAIT, '/bin/sh', ['sh', '-c', 'exec 2>&-; echo mine > theirs/file']))"
    )
    ((ended, place),) = tried([(lines, True)], tmp_path, listeners)
    assert (ended != 0) == (landlock.abi() > 0)
    assert (place / "theirs/file").read_text() == ("theirs" if landlock.abi() else "mine\n")


@pytest.mark.needs(process=True)
def test_missing_folder_is_an_error(tmp_path, listeners):
    ((ended, _),) = tried([("restrict('missing')", False)], tmp_path, listeners)
    assert ended == (errno.ENOENT if landlock.abi() else 0)


@pytest.mark.needs(process=True)
def test_older_abis_are_asked_for_what_they_know(subtests, tmp_path, listeners):
    """A newer kernel takes an older ABI's ruleset as it is: what each version asks for is well formed."""
    versions = range(min(landlock.abi(), landlock.NEWEST_ABI) + 1)
    lines = [
        f"landlock.abi = lambda: {applied}; restrict('mine'); open('mine/x', 'w'); open('theirs/file', 'w')"
        for applied in versions
    ]
    found = tried([(each, False) for each in lines], tmp_path, listeners)
    for applied, (ended, _) in zip(versions, found, strict=True):
        with subtests.test(applied=applied):
            assert ended == (errno.EACCES if applied else 0)


def test_kernel_without_landlock_restricts_nothing(monkeypatch):
    """ENOSYS: before 5.13. EOPNOTSUPP: not started. The test's kernel may have it, so this is played."""
    for number in (errno.ENOSYS, errno.EOPNOTSUPP):
        refuse_with(number, monkeypatch)
        assert landlock.abi() == 0
        confine.restrict(steps := calls.Steps(()), ["missing"])
        steps.carry_out()  # of nothing


def test_other_refusals_are_errors(monkeypatch):
    refuse_with(errno.EPERM, monkeypatch)  # by a filter
    with pytest.raises(PermissionError, match="Landlock"):
        confine.restrict(calls.Steps(()), ["mine"])


def refuse_with(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(landlock, "_syscall", refuse)

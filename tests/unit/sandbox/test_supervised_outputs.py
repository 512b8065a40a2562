"""Reading outputs from a folder in which a hostile process has had its way."""

import errno
import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from open_files import nothing_stays_open

from worker.sandbox.core import outputs
from worker.sandbox.core.outputs import read_outputs

CAP = 100


def bind(path: Path) -> None:
    """By a descriptor of its folder: the path may be longer than a socket's address."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)


HOSTILE = {
    "missing": lambda path: None,
    "directory": lambda path: path.mkdir(),
    "full directory": lambda path: (path.mkdir(), (path / "x").write_text("x")),
    "fifo": lambda path: os.mkfifo(path),
    "socket": bind,
    "symlink": lambda path: path.symlink_to("../secret"),
    "absolute symlink": lambda path: path.symlink_to("/etc/hostname"),
    "symlink to proc": lambda path: path.symlink_to("/proc/self/environ"),
    "symlink to a descriptor": lambda path: path.symlink_to("/dev/fd/0"),
    "dangling symlink": lambda path: path.symlink_to("nowhere"),
    "symlink to itself": lambda path: path.symlink_to(path.name),
    "symlink to a neighbour": lambda path: (path.with_name("y").write_text("y"), path.symlink_to("y")),
    "hard link to a neighbour": lambda path: (
        path.with_name("y").write_text("y"),
        os.link(path.with_name("y"), path),
    ),
    "hard link outside": lambda path: os.link(path.parent.parent / "secret", path),
    "too large by one": lambda path: path.write_bytes(b"x" * (CAP + 1)),
    "sparse": lambda path: (path.touch(), os.truncate(path, 1 << 40)),
    "unreadable": lambda path: (path.write_text("x"), path.chmod(0)),
    "for others only": lambda path: (path.write_text("x"), path.chmod(0o044)),
    "write-only": lambda path: (path.write_text("x"), path.chmod(0o200)),
}
if os.getuid() == 0:
    HOSTILE |= {
        "character device": lambda path: os.mknod(
            path, 0o600 | stat.S_IFCHR, os.makedev(1, 5)
        ),  # endless zeros
        "block device": lambda path: os.mknod(path, 0o600 | stat.S_IFBLK, os.makedev(7, 0)),
    }


def test_hostile_file(subtests, new_out):
    for name in HOSTILE:
        with subtests.test(name):
            folder, descriptor = new_out()
            HOSTILE[name](folder / "x")
            assert read_outputs(descriptor, ("x",), cap=CAP) is None


PLAIN_READER = """
import json, signal, sys

class Waits(Exception):
    pass

def wake(*_):
    raise Waits

signal.signal(signal.SIGALRM, wake)
said = []
for path in sys.argv[1:]:
    signal.alarm(1)
    try:
        with open(path, "rb") as file:
            said.append("read" if file.read(200) else "empty")
    except (OSError, Waits) as error:
        said.append("waits for ever" if isinstance(error, Waits) else "OSError")
    signal.alarm(0)
print(json.dumps(said))
"""


@pytest.mark.needs(process=True)
def test_a_plain_reader_would_have_been_taken_in(subtests, new_out):
    """The control: what is simply opened and read gives something, or never comes back."""
    names = [name for name in HOSTILE if name not in ("symlink to itself", "block device")]
    places = [new_out()[0] / "x" for _ in names]
    for name, place in zip(names, places, strict=True):
        HOSTILE[name](place)
    command = [sys.executable, "-I", "-S", "-c", PLAIN_READER, *map(str, places)]
    ended = subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    refused = {"missing", "directory", "full directory", "dangling symlink", "socket"}
    if os.getuid() != 0:
        refused |= {"unreadable", "for others only", "write-only"}
    for name, said in zip(names, json.loads(ended.stdout), strict=True):
        with subtests.test(name):
            assert (said == "OSError") == (name in refused), said


PLAIN = {
    "empty": b"",
    "one byte": b"\0",
    "as large as allowed": b"x" * CAP,
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_file(name, out):
    folder, descriptor = out
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "x").write_bytes(PLAIN[name])
    assert read_outputs(descriptor, ("a/b/x",), cap=CAP) == {"a/b/x": PLAIN[name]}


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o777, 0o4755, 0o1644])
def test_whatever_its_owner_can_read(mode, out):
    folder, descriptor = out
    (folder / "x").write_bytes(b"x")
    (folder / "x").chmod(mode)
    assert read_outputs(descriptor, ("x",), cap=CAP) == {"x": b"x"}


def test_only_declared_names_are_taken(out):
    folder, descriptor = out
    for name in ("a", "b", "c"):
        (folder / name).write_text(name)
    assert read_outputs(descriptor, ("b", "a"), cap=CAP) == {"b": b"b", "a": b"a"}
    assert read_outputs(descriptor, (), cap=CAP) == {}


def test_one_bad_file_spoils_all(out):
    folder, descriptor = out
    (folder / "a").write_text("a")
    assert read_outputs(descriptor, ("a", "b"), cap=CAP) is None


FOLDERS = {
    "a link": lambda path: path.symlink_to(".."),
    "a link to a neighbour": lambda path: (path.with_name("e").mkdir(), path.symlink_to("e")),
    "a file": lambda path: path.write_text("x"),
    "a fifo": lambda path: os.mkfifo(path),
    "missing": lambda path: None,
    "closed": lambda path: (path.mkdir(), (path / "secret").write_text("s"), path.chmod(0o600)),
}


def test_hostile_folder_on_the_way(subtests, new_out):
    for name in FOLDERS:
        with subtests.test(name):
            folder, descriptor = new_out()
            FOLDERS[name](folder / "d")
            if name.startswith("a link to"):
                (folder / "e" / "secret").write_text("s")
            assert read_outputs(descriptor, ("d/secret",), cap=CAP) is None


def test_a_folder_that_its_run_has_closed(out):
    """The same for a worker that is root as for one that is not."""
    folder, descriptor = out
    (folder / "x").write_text("x")
    folder.chmod(0)
    assert read_outputs(descriptor, ("x",), cap=CAP) is None


def test_a_folder_that_is_swapped_does_not_mislead(out, monkeypatch):
    """It cannot happen once everybody is dead; if it could, the descriptor would be the old folder's."""
    folder, descriptor = out
    (folder / "d").mkdir()
    (folder / "d" / "secret").write_text("mine")
    opened = os.open

    def swapping(path, flags, **named):
        found = opened(path, flags, **named)
        if path == "d":
            (folder / "d").rename(folder / "was")
            (folder / "d").symlink_to("..")
        return found

    monkeypatch.setattr(outputs.os, "open", swapping)
    assert read_outputs(descriptor, ("d/secret",), cap=CAP) == {"d/secret": b"mine"}
    assert read_outputs(descriptor, ("d/secret",), cap=CAP) is None


def test_a_file_that_grows_is_not_read_beyond_the_cap(out, monkeypatch):
    folder, descriptor = out
    (folder / "x").write_bytes(b"x")
    looked = os.fstat

    def grown(fd):
        found = looked(fd)
        os.truncate(folder / "x", 1 << 30)
        return found

    monkeypatch.setattr(outputs.os, "fstat", grown)
    assert read_outputs(descriptor, ("x",), cap=CAP) is None


def test_reading_keeps_no_descriptor(out):
    folder, descriptor = out
    (folder / "a").mkdir()
    (folder / "a" / "b").write_text("x")
    (folder / "link").symlink_to("a")
    os.mkfifo(folder / "fifo")
    with nothing_stays_open():
        for path in ("a/b", "a/none", "link/b", "a", "none/x", "fifo", "a/b/c"):
            read_outputs(descriptor, (path,), cap=CAP)


def test_reading_changes_nothing_and_does_not_wait(out):
    folder, descriptor = out
    (folder / "x").write_text("x")
    os.mkfifo(folder / "fifo")
    before = sorted((entry.name, entry.stat().st_mtime_ns) for entry in os.scandir(folder))
    assert read_outputs(descriptor, ("x",), cap=CAP) is not None
    assert read_outputs(descriptor, ("fifo",), cap=CAP) is None
    with pytest.raises(OSError, match="No such device or address") as raised:  # nobody reads it, not even we
        os.open(folder / "fifo", os.O_WRONLY | os.O_NONBLOCK)
    assert raised.value.errno == errno.ENXIO
    assert sorted((entry.name, entry.stat().st_mtime_ns) for entry in os.scandir(folder)) == before

"""A whole output folder in which a hostile process has had its way: plain files, or nothing."""

import os
import socket
import tempfile
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from open_files import nothing_stays_open

from sandbox_images.keeper.collecting import framed
from sandbox_images.output_tree import read_tree
from worker.images.walk import remove
from worker.sandbox.docker_engine.frame import BrokenFrame, longest_tree, parse_tree
from worker.sandbox.protocol import Limits

BYTES, ENTRIES = 1000, 50
LIMITS = Limits(1, 1, 1, output_bytes=BYTES, inodes=ENTRIES)
LONG = replace(LIMITS, output_bytes=2 * BYTES)


def nested(folder: Path, depth: int) -> Path:
    """Deeper than a path may be long, so step by step."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        there = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = there
    os.close(os.open("x", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)


def long_path(folder: Path, last: str) -> None:
    """1016 bytes of folders, and a name."""
    inner = folder / "/".join(["d" * 253] * 4)
    inner.mkdir(parents=True)
    (inner / last).touch()


def bind(path: Path) -> None:
    """By a short name: the path may be longer than a socket's address."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as short, socket.socket(socket.AF_UNIX) as end:
        end.bind(f"{short}/s")
        os.rename(f"{short}/s", path)


HOSTILE = {
    "too many symlinks": lambda folder: [(folder / str(n)).symlink_to("x") for n in range(ENTRIES + 1)],
    "hard link outside": lambda folder: os.link(folder.parent / "secret", folder / "x"),
    "hard link inside": lambda folder: ((folder / "x").touch(), os.link(folder / "x", folder / "y")),
    "fifo": lambda folder: os.mkfifo(folder / "x"),
    "socket": lambda folder: bind(folder / "x"),
    "one byte too much": lambda folder: (folder / "x").write_bytes(b"1" * BYTES),
    "too much together": lambda folder: [(folder / f"{n}").write_bytes(b"1" * 400) for n in range(3)],
    "sparse": lambda folder: ((folder / "x").touch(), os.truncate(folder / "x", 1 << 40)),
    "too many files": lambda folder: [(folder / str(n)).touch() for n in range(ENTRIES + 1)],
    "thousands of files": lambda folder: [os.mknod(f"{folder}/{n}") for n in range(4_000)],
    "too many folders": lambda folder: [(folder / str(n)).mkdir() for n in range(ENTRIES + 1)],
    "long names": lambda folder: [(folder / f"{n}{'n' * 250}").touch() for n in range(4)],
    "a deep folder": lambda folder: nested(folder, 32),
    "a path that is too long": lambda folder: long_path(folder, "n" * 9),
    "a very deep folder": lambda folder: nested(folder, 3000),
    "unreadable file": lambda folder: ((folder / "x").touch(), (folder / "x").chmod(0o200)),
    "unreadable folder": lambda folder: (folder / "x").mkdir(mode=0o300),
    "impassable folder": lambda folder: (folder / "x").mkdir(mode=0o600),
    "a name that is not UTF-8": lambda folder: open(os.fsencode(folder) + b"/\xff", "w").close(),
    "a name with a line end": lambda folder: (folder / "a\nb").touch(),
    "a name with a terminal's escape": lambda folder: (folder / "a\x1b[2J").touch(),
    "a name with a C1 control": lambda folder: (folder / "a\x9b2J").touch(),
    "a folder with such a name": lambda folder: (folder / "a\x7f").mkdir(),
    "a closed root": lambda folder: folder.chmod(0),
}


def test_hostile_folder(subtests, new_out):
    for name in HOSTILE:
        with subtests.test(name):
            folder, descriptor = new_out()
            (folder / "good").write_text("1")
            HOSTILE[name](folder)
            most = 2 * BYTES if name == "a path that is too long" else BYTES
            with nothing_stays_open():
                assert read_tree(descriptor, most, ENTRIES) is None
            folder.chmod(0o700)
            remove(folder)  # pytest would take a minute for the deep ones


def test_a_folder_in_which_nothing_is_wrong(out):
    """The control of the table above: the same limits, reached exactly."""
    folder, descriptor = out
    nested(folder, 31)
    (folder / "sub-01").mkdir(mode=0o500)
    os.chmod(folder / "sub-01", 0o700)
    (folder / "sub-01" / "größe 1.tsv").write_text("12")
    (folder / "empty").mkdir()
    left = BYTES - len("d/" * 31 + "x") - len("sub-01/größe 1.tsv".encode()) - 2 - len("a")
    (folder / "a").write_bytes(b"1" * left)
    entries = 31 + 1 + 2 + 1 + 1
    found = read_tree(descriptor, BYTES, entries)
    assert found == {"a": b"1" * left, "d/" * 31 + "x": b"", "sub-01/größe 1.tsv": b"12"}
    assert list(found) == sorted(found)
    assert read_tree(descriptor, BYTES, entries - 1) is None
    assert read_tree(descriptor, BYTES - 1, entries) is None


def test_the_longest_path(out):
    folder, descriptor = out
    long_path(folder, "n" * 8)
    ((path, content),) = read_tree(descriptor, 2 * BYTES, ENTRIES).items()
    assert (len(path), content) == (1024, b"")
    assert parse_tree(b"".join(framed({path: b""})), LONG) == {path: b""}
    with pytest.raises(BrokenFrame):
        parse_tree(b"".join(framed({path + "n": b""})), LONG)


def test_symbolic_links_are_left_out_wherever_they_lead(out):
    folder, descriptor = out
    (folder.parent / "secret").write_text("2")
    (folder / "d").mkdir()
    (folder / "d" / "a").write_text("1")
    for number, target in enumerate(("../secret", "..", "nowhere", "/etc/hostname", "d", "d/a")):
        (folder / str(number)).symlink_to(target)
    (folder / "d" / "b").symlink_to("a")
    before = os.listdir("/proc/self/fd")
    assert read_tree(descriptor, BYTES, ENTRIES) == {"d/a": b"1"}
    assert os.listdir("/proc/self/fd") == before


def test_an_empty_folder(out):
    assert read_tree(out[1], BYTES, ENTRIES) == {}


def test_a_file_is_not_read_before_it_fits(out):
    folder, descriptor = out
    with open(folder / "x", "wb") as file:
        file.truncate(256 << 20)
    tracemalloc.start()
    try:
        assert read_tree(descriptor, BYTES, ENTRIES) is None
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


TREE = {"a": b"1", "sub-01/x.tsv": b"", "sub-01/y/z": b"22"}


def test_a_tree_comes_through_a_pipe_as_it_was():
    assert parse_tree(b"".join(framed(TREE)), LIMITS) == TREE
    assert parse_tree(b"".join(framed({})), LIMITS) == {}


def frame(*files: tuple[bytes, bytes], count: int | None = None) -> bytes:
    number = len(files) if count is None else count
    message = number.to_bytes(4, "big")
    for name, content in files:
        message += len(name).to_bytes(4, "big") + name + len(content).to_bytes(8, "big") + content
    return message


BROKEN = {
    "nothing": b"",
    "more than it holds": frame((b"a", b"1"), count=2),
    "less than it holds": frame((b"a", b"1"), (b"b", b"1"), count=1),
    "something left over": frame((b"a", b"1")) + b"x",
    "cut": frame((b"a", b"123"))[:-1],
    "one path twice": frame((b"a", b"1"), (b"a", b"2")),
    "another order": frame((b"b", b"1"), (b"a", b"1")),
    "a file that is a folder": frame((b"a", b"1"), (b"a/b", b"1")),
    "a file that is a folder, with one between": frame((b"a", b"1"), (b"a-", b"1"), (b"a/b", b"1")),
    "upwards": frame((b"../a", b"1")),
    "absolute": frame((b"/a", b"1")),
    "no name": frame((b"", b"1")),
    "an empty step": frame((b"a//b", b"1")),
    "a line end": frame((b"a\nb", b"1")),
    "not UTF-8": frame((b"\xff", b"1")),
    "a surrogate": frame((b"\xed\xb3\xbf", b"1")),
    "too deep": frame((b"/".join([b"d"] * 33), b"1")),
    "too long a name": frame((b"n" * 256, b"1")),
    "too many": frame(*[(b"%03d" % n, b"") for n in range(ENTRIES + 1)]),
    "too much": frame((b"a", b"1" * BYTES)),
    "too much together": frame((b"a", b"1" * 600), (b"b", b"1" * 600)),
    "a length without end": b"\0\0\0\1" + b"\0\0\0\1a" + b"\xff" * 8,
}


def test_what_no_honest_side_sends_is_broken(subtests):
    for name in BROKEN:
        with subtests.test(name=name), pytest.raises(BrokenFrame):
            parse_tree(BROKEN[name], LIMITS)


def test_the_longest_tree_has_room_for_full_limits():
    full = {f"{number:02}": b"" for number in range(ENTRIES - 1)}
    full["x"] = b"1" * (BYTES - 2 * (ENTRIES - 1) - 1)
    message = b"".join(framed(full))
    assert parse_tree(message, LIMITS) == full
    assert len(message) == longest_tree(LIMITS)

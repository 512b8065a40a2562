"""The keeper's two dealings with a run's files, on plain folders: reading what was declared, and emptying."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_images.keeper.collecting import read_output
from sandbox_images.keeper.emptying import empty


@pytest.fixture
def root(tmp_path):
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def test_plain_files_are_read(root, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b").write_bytes(b"12345")
    assert read_output(root, b"a/b", 5) == b"12345"
    assert read_output(root, b"a/b", 4) is None


def make_link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def make_folder_link(path: Path) -> None:
    (path.parent / "real").mkdir()
    (path.parent / "real" / "x").touch()
    path.symlink_to("real")


def make_second_name(path: Path) -> None:
    (path.parent / "other").touch()
    path.hardlink_to(path.parent / "other")


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


ODD = {
    "link": (make_link, b"odd"),
    "link to a folder": (make_folder_link, b"odd/x"),
    "second name": (make_second_name, b"odd"),
    "fifo": (os.mkfifo, b"odd"),
    "socket": (make_socket, b"odd"),
    "folder": (Path.mkdir, b"odd"),
    "sparse": (lambda path: (path.touch(), os.truncate(path, 1 << 40)), b"odd"),
    "missing": (lambda path: None, b"odd"),
}


def test_nothing_else_is_read(tmp_path, subtests):
    for kind, (make, name) in ODD.items():
        (tmp_path / kind).mkdir()
        make(tmp_path / kind / "odd")
        root = os.open(tmp_path / kind, os.O_RDONLY | os.O_DIRECTORY)
        with subtests.test(msg=kind):
            assert read_output(root, name, 1 << 16) is None
        os.close(root)


@pytest.fixture
def deep() -> Iterator[Path]:
    """In memory, where folders are made at once. Not pytest's own: what is too deep for a recursive walker
    would stop pytest from clearing up, in this session or, were this one killed, in a later one.
    """
    folder = Path(tempfile.mkdtemp(prefix="dpgate-deep-", dir="/dev/shm"))
    yield folder
    subprocess.run(["rm", "-rf", folder], check=True)


def test_emptying_takes_any_tree(deep):
    """Deeper than a walker could hold descriptors or frames for, wide, with links and odd names."""
    root = os.open(deep, os.O_RDONLY | os.O_DIRECTORY)
    here = os.dup(root)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        os.symlink("/", "link", dir_fd=here)
        there = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = there
    os.close(here)
    for number in range(500):
        (deep / f"wide-{number}").touch()
    (deep / os.fsdecode(b"\xff\n")).mkdir()
    os.mkfifo(deep / "fifo")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
    try:
        empty(root)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert os.listdir(root) == []
    os.close(root)
    assert Path("/etc").is_dir()


def test_emptying_goes_past_locks(root, tmp_path):
    """A run may take its own rights away; the keeper is the same user."""
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/b/file").touch()
    for name in ("a/b", "a", "."):
        (tmp_path / name).chmod(0)
    empty(root)
    assert os.listdir(root) == []

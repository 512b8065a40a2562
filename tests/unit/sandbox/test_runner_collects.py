"""What the in-sandbox runner takes from /out: plain files at declared paths, nothing that points or waits."""

import os

from sandbox_images.runner import read_output

CAP = 100


def test_plain_files(out):
    folder, descriptor = out
    (folder / "a").mkdir()
    (folder / "a" / "b").write_bytes(b"x" * CAP)
    assert read_output(descriptor, "a/b", CAP) == b"x" * CAP


HOSTILE = {
    "missing": lambda path: None,
    "directory": lambda path: path.mkdir(),
    "fifo": lambda path: os.mkfifo(path),
    "symlink": lambda path: path.symlink_to("../secret"),
    "absolute_symlink": lambda path: path.symlink_to("/proc/self/environ"),
    "dangling_symlink": lambda path: path.symlink_to("nowhere"),
    "hard_link": lambda path: os.link(path.parent.parent / "secret", path),
    "too_large": lambda path: path.write_bytes(b"x" * (CAP + 1)),
    "sparse": lambda path: (path.touch(), os.truncate(path, 1 << 40)),
    "unreadable": lambda path: path.mkdir(mode=0),
}


def test_hostile_file(subtests, new_out):
    for name in HOSTILE:
        with subtests.test(name=name):
            folder, descriptor = new_out()
            HOSTILE[name](folder / "x")
            assert read_output(descriptor, "x", CAP) is None


def test_hostile_file_in_a_folder_that_is_a_link(out):
    folder, descriptor = out
    (folder / "d").symlink_to(folder.parent)
    assert read_output(descriptor, "d/secret", CAP) is None


def test_file_as_a_folder(out):
    folder, descriptor = out
    (folder / "d").write_text("x")
    assert read_output(descriptor, "d/x", CAP) is None


def test_collecting_keeps_no_descriptor(out):
    folder, descriptor = out
    (folder / "a").mkdir()
    (folder / "a" / "b").write_text("x")
    (folder / "link").symlink_to("a")
    before = os.listdir("/proc/self/fd")
    for path in ("a/b", "a/none", "link/b", "a", "none/x"):
        read_output(descriptor, path, CAP)
    assert os.listdir("/proc/self/fd") == before

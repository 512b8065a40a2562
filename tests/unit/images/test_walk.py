"""Walking and removing trees that were made to break whoever walks them."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from worker.images.walk import TooDeep, remove, used_bytes, walk

FEW = 200


@pytest.fixture
def deep():
    """3000 folders in each other: longer than any path, deeper than any recursion.

    They lie in a folder of their own: pytest could not remove what is left when a session is killed.
    """
    top = Path(tempfile.mkdtemp())
    here = os.open(top, os.O_RDONLY)
    for _ in range(3001):
        os.mkdir("d", dir_fd=here)
        there = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = there
    os.close(here)
    yield top / "d"
    remove(top)


def test_a_deep_tree_is_removed_with_few_descriptors(deep):
    with pytest.raises(RecursionError):
        shutil.rmtree(deep)  # the control
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, limits[1]))
    try:
        remove(deep)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert not deep.exists()


def test_a_deep_tree_is_not_walked(deep):
    with pytest.raises(TooDeep):
        used_bytes(deep, depth=FEW)
    remove(deep)


@pytest.mark.needs(process=True)
def test_closed_folders_are_removed_by_their_owner(open_folder):
    script = f"""
import os, sys
sys.path.insert(0, {os.getcwd()!r})
from pathlib import Path
from worker.images.walk import remove
os.setgroups([]) if os.getuid() == 0 else None
os.setresgid(1500, 1500, 1500) if os.getuid() == 0 else None
os.setresuid(1500, 1500, 1500) if os.getuid() == 0 else None
top = Path(sys.argv[1])
(top / "a/b").mkdir(parents=True)
(top / "a/b/file").touch()
(top / "a/b").chmod(0)
(top / "a").chmod(0o500)
remove(top / "a")
print(os.listdir(top))
"""
    (open_folder / "theirs").mkdir()
    if os.getuid() == 0:
        os.chown(open_folder / "theirs", 1500, 1500)
    ended = subprocess.run(
        [sys.executable, "-c", script, open_folder / "theirs"], capture_output=True, text=True, check=False
    )
    assert ended.stdout == "[]\n", ended.stderr


def test_the_order_does_not_depend_on_the_disk(tmp_path):
    for name in ("b", "a", "B", "a.b"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "z").touch()
    assert [entry.path for entry in walk(tmp_path, depth=9)] == [b"B", b"a", b"a/z", b"a.b", b"b"]


def test_links_are_not_followed(tmp_path):
    (tmp_path / "top").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    (tmp_path / "top" / "link").symlink_to(tmp_path / "other")
    assert [entry.path for entry in walk(tmp_path / "top", depth=9)] == [b"link"]
    remove(tmp_path / "top")
    assert (tmp_path / "other" / "file").exists()

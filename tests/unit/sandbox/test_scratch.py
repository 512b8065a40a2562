"""Staged blocks: private, sealed, nameless, and gone afterwards."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from worker.sandbox.core.scratch import (
    Scratch,
    check_relative_path,
    file_system_of,
    remove_tree,
)
from worker.sandbox.leftovers import reap_scratch
from worker.sandbox.protocol import SandboxUnavailable


@pytest.fixture
def root():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # pytest's own are closed to slot users
        os.chmod(folder, 0o755)
        yield Path(folder, "scratch")


def open_scratch(root):
    return Scratch(root, allow_disk_scratch=True)


def test_staged_files_say_nothing_but_their_content(root):
    with open_scratch(root) as scratch:
        folder = scratch.stage({"a.csv": b"1", "sub-01/anat/b.json": b"2"}, owner=os.getuid())
        assert (folder / "sub-01/anat/b.json").read_bytes() == b"2"
        assert len(folder.name) == 32
        for path in (folder, *folder.rglob("*")):
            found = path.stat()
            assert found.st_mode & 0o707 == (0o500 if path.is_dir() else 0o400)
            assert found.st_mtime == 946_684_800
    assert list(root.iterdir()) == []


def test_root_gives_blocks_to_the_slots_user(root):
    owner = 200_001 if os.getuid() == 0 else os.getuid()
    with open_scratch(root) as scratch:
        folder = scratch.stage({"d/a": b"1"}, owner=owner)
        assert {path.stat().st_uid for path in (folder, folder / "d", folder / "d/a")} == {owner}


BAD_NAMES = ("", "/a", "a/", "../a", "a/../b", "./a", "a//b", "a\0b", "/".join("a" * 40))


def test_bad_names(subtests):
    for name in BAD_NAMES:
        with subtests.test(name=name), pytest.raises(ValueError, match="relative"):
            check_relative_path(name)


def test_failed_staging_leaves_nothing(root):
    with open_scratch(root) as scratch:
        with pytest.raises(SandboxUnavailable):
            scratch.stage({"a": b"", "a/b": b""}, owner=os.getuid())
        assert list(scratch.path.iterdir()) == []


def test_disk_is_refused_unless_allowed(root):
    if file_system_of(root.parent) in ("tmpfs", "ramfs"):  # a machine without a disk: nothing to refuse
        Scratch(root).close()
        return
    with pytest.raises(SandboxUnavailable, match="must not reach a disk"):
        Scratch(root)
    Scratch(root, allow_disk_scratch=True).close()


def test_memory_is_known_as_such():
    assert file_system_of(Path("/dev/shm")) == "tmpfs"


def test_root_that_others_can_write_is_refused(root):
    root.mkdir(mode=0o700)
    root.chmod(0o777)
    with pytest.raises(SandboxUnavailable, match="only this worker's user"):
        open_scratch(root)


def test_root_that_is_a_link_is_refused(root, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    root.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SandboxUnavailable, match="only this worker's user"):
        open_scratch(root)


@pytest.mark.needs(process=True)
def test_reaping_spares_the_living_and_removes_the_dead(root):
    dead = "import sys, os; from pathlib import Path; from worker.sandbox.core.scratch import Scratch\n"
    dead += (
        "s = Scratch(Path(sys.argv[1]), allow_disk_scratch=True); s.stage({'a/b': b'x'}, owner=os.getuid())\n"
    )
    dead += "os.kill(os.getpid(), 9)"
    with open_scratch(root) as living:
        folder = living.stage({"a": b"1"}, owner=os.getuid())
        subprocess.run([sys.executable, "-c", dead, root], check=False)
        assert len(list(root.iterdir())) == 4
        assert reap_scratch(root) == 1
        assert (folder / "a").exists()
        assert len(list(root.iterdir())) == 2
    assert reap_scratch(root) == 0


def test_reaping_where_nothing_ever_was(root):
    assert reap_scratch(root) == 0


def test_removal_of_a_deep_tree_and_not_of_what_links_point_to(tmp_path):
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "file").touch()
    top = here = tmp_path / "top"
    top.mkdir()
    (top / "link").symlink_to(tmp_path / "keep")
    os.mkfifo(top / "fifo")
    for _ in range(150):
        here = here / "d"
        here.mkdir()
    remove_tree(top)
    assert [path.name for path in tmp_path.iterdir()] == ["keep"]
    assert (tmp_path / "keep" / "file").exists()


def test_strict_umask_of_a_worker_does_not_shut_slots_out(root):
    before = os.umask(0o077)
    try:
        with open_scratch(root) as scratch:
            assert root.stat().st_mode & 0o777 == scratch.path.stat().st_mode & 0o777 == 0o711
    finally:
        os.umask(before)

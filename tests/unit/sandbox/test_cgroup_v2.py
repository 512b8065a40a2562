"""Version 2 of control groups, for hosts whose controllers are not those of this machine.

What needs no controller (adding, killing, removing) is tried on a real tree of version 2 where the host has
one that the test may write. Finding the delegated part, emptying it and writing the limits is tried on a
folder of plain files that mimics the kernel's: it shows what is written where, not that a kernel obeys.
"""

import errno
import os
import signal
import subprocess
from pathlib import Path

import pytest
from waiting import PATIENCE_S, wait_until

from worker.sandbox.core import cgroup, cgroup_tree
from worker.sandbox.core.cgroup import SlotGroup
from worker.sandbox.core.cgroup_tree import Hierarchy, Mount, _delegated_part
from worker.sandbox.protocol import MIB

ALL = "cpuset cpu io memory pids"
# Empty, because a write to a plain file does not replace what is there.
FILES = dict.fromkeys(("cgroup.procs", "cgroup.events", "cgroup.kill", "pids.max"), "")
LIMITS = dict.fromkeys(("memory.max", "memory.swap.max", "cpu.max"), "")


@pytest.fixture
def kernel(monkeypatch):
    """New folders hold interface files, as the kernel makes them, and go away with them."""

    def mkdir(path, mode=0o777, make=os.mkdir):
        make(path, mode)
        for name, content in {**FILES, **LIMITS}.items():
            Path(path, name).write_text(content)

    def rmdir(path, remove=os.rmdir):
        for file in Path(path).iterdir():
            file.unlink()
        remove(path)

    monkeypatch.setattr(os, "mkdir", mkdir)
    monkeypatch.setattr(os, "rmdir", rmdir)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "service"
    made.mkdir()
    _populate(made, controllers=ALL)
    return made


def _populate(folder: Path, *, controllers: str, enabled: str = "") -> None:
    files = {**FILES, "cgroup.controllers": controllers, "cgroup.subtree_control": enabled}
    for name, content in files.items():
        (folder / name).write_text(content)


def _mount(own: Path, *, top: bool = False) -> Mount:
    return Mount(2, frozenset({"rw"}), own, top)


def _delegate(folder: Path, monkeypatch) -> None:
    """As systemd marks it. Not a real attribute: the test's file system may take none."""
    monkeypatch.setattr(cgroup_tree, "_attribute", lambda path, _: b"1" if path == folder else b"")


def test_top_of_a_container_is_its_own(folder):
    assert _delegated_part(_mount(folder, top=True)) == Hierarchy((folder,), 2)


def test_folder_marked_by_systemd_is_found(folder, monkeypatch):
    _delegate(folder, monkeypatch)
    assert _delegated_part(_mount(folder)) == Hierarchy((folder,), 2)


def test_folder_above_is_found_after_the_move_and_with_a_subgroup_of_systemd(folder, monkeypatch):
    for name in ("dpgate-worker", "main"):
        (folder / name).mkdir()
        _populate(folder / name, controllers="")
        if name == "main":
            _delegate(folder, monkeypatch)
        assert _delegated_part(_mount(folder / name)) == Hierarchy((folder,), 2)


def test_root_does_not_help_itself_to_what_is_systemds(folder, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 0)
    found = _delegated_part(_mount(folder))
    assert isinstance(found, str)
    assert "Delegate=yes" in found


def test_missing_controllers_are_named(folder):
    (folder / "cgroup.controllers").write_text("hugetlb")
    found = _delegated_part(_mount(folder, top=True))
    assert isinstance(found, str)
    assert "memory, pids, cpu" in found


def test_limits_are_written(folder, kernel):
    group = SlotGroup.create(
        "s1", memory_bytes=64 * MIB, processes=9, cpus=1.5, hierarchy=Hierarchy((folder,), 2)
    )
    assert group is not None
    (made,) = folder.glob("dpgate-*-s1")
    written = {name: (made / name).read_text() for name in (*LIMITS, "pids.max")}
    assert written["memory.max"] == str(64 * MIB)
    assert written["memory.swap.max"] == "0"
    assert written["pids.max"] == "9"
    assert written["cpu.max"] == "150000 100000"
    assert (folder / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
    group.close()
    assert not made.exists()


def test_processes_are_moved_down_before_controllers_are_enabled(folder, kernel, monkeypatch):
    """The kernel refuses with EBUSY as long as somebody is in the folder, and here somebody forks once."""
    (folder / "cgroup.procs").write_text("11\n12\n")
    moved, refused = [], []

    def write(file, text, real=cgroup_tree.write):
        if file.name == "cgroup.subtree_control" and (folder / "cgroup.procs").read_text():
            refused.append(text)
            raise OSError(errno.EBUSY, "busy")
        if file == folder / "dpgate-worker/cgroup.procs":
            moved.append(int(text))
            left = {"11": "12\n", "12": "" if refused else "13\n"}.get(text, "")
            (folder / "cgroup.procs").write_text(left)
            return
        real(file, text)

    monkeypatch.setattr(cgroup_tree, "write", write)
    Hierarchy((folder,), 2).prepare()
    assert moved == [11, 12, 13]
    assert len(refused) == 1
    assert (folder / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
    Hierarchy((folder,), 2).prepare()
    assert moved == [11, 12, 13]


def test_refused_limit_removes_the_group_and_says_so(folder, kernel, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(cgroup_tree, "write", refuse)
    monkeypatch.setattr(Hierarchy, "prepare", lambda _: None)
    with pytest.raises(cgroup.SandboxUnavailable, match="a limit of a slot was refused"):
        SlotGroup.create("s1", memory_bytes=1, processes=1, cpus=1, hierarchy=Hierarchy((folder,), 2))
    assert not list(folder.glob("dpgate-*"))


def test_read_only_tree_gives_no_group(folder, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "mkdir", refuse)
    monkeypatch.setattr(Hierarchy, "prepare", lambda _: None)
    hierarchy = Hierarchy((folder,), 2)
    assert SlotGroup.create("s1", memory_bytes=1, processes=1, cpus=1, hierarchy=hierarchy) is None


@pytest.mark.needs(process=True)
def test_real_tree_adds_kills_and_removes():
    mount = next((mount for mount in cgroup_tree.mounts() if mount.version == 2), None)
    if mount is None or not cgroup_tree.writable(mount.own):
        assert isinstance(cgroup_tree._newer(), str)  # nothing to be had here, and that is what is said
        return
    folder = mount.own / f"test-dpgate-{os.getpid()}"
    folder.mkdir()
    group = SlotGroup(Hierarchy((mount.own,), 2), (folder,))
    with subprocess.Popen(
        ["/bin/sh", "-c", "read go; sleep 600 & sleep 600"], stdin=subprocess.PIPE
    ) as child:
        group.add(child.pid)
        assert child.stdin
        child.stdin.write(b"\n")
        child.stdin.flush()
        wait_until(lambda: len(cgroup_tree.processes_of(folder)) == 3)
        group.kill()
        assert cgroup_tree.processes_of(folder) == ()
        assert child.wait(PATIENCE_S) == -signal.SIGKILL
    with subprocess.Popen(["/bin/sleep", "600"]) as child:
        group.add(child.pid)
        group.close()
        assert child.wait(PATIENCE_S) == -signal.SIGKILL
    assert not folder.exists()

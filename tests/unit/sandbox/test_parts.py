"""Parts that a slot keeps ready: in place where that may be, else copied once, within a bound."""

import io
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

import pytest

from worker.sandbox.capacity import FILE_OVERHEAD
from worker.sandbox.core.scratch import Scratch
from worker.sandbox.parts import Parts, skeleton
from worker.sandbox.protocol import MIB, SandboxUnavailable
from worker.view import Part, View

USER = 200_000 if os.getuid() == 0 else os.getuid()


@pytest.fixture
def folder():
    """That other users may pass, with a data set in it and a slot's folder beside."""
    place = Path(tempfile.mkdtemp(prefix="dpgate-parts-", dir="/var/tmp"))
    place.chmod(0o755)
    for person in ("sub-01", "sub-02"):
        (place / "data" / person / "anat").mkdir(parents=True)
        (place / "data" / person / "anat" / "t1.nii").write_text(person)
    (place / "slot").mkdir()
    yield place
    shutil.rmtree(place)


def part_of(folder: Path, place: str = "sub-01") -> Part:
    """As a folder on this machine gives it."""
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    files = {name: partial(open, folder / name, "rb") for name in names}
    return Part(place, str(folder), sum((folder / name).stat().st_size for name in names), files, folder)


def part(key: str, size: int = 10) -> Part:
    return Part(f"sub-{key}", key, size, {"x/y": lambda: io.BytesIO(b"1" * size)})


def test_what_lies_below_a_root_is_bound_there(folder):
    parts = Parts(folder / "slot", [folder / "twin", folder / "data"], user=USER, most_bytes=MIB)
    assert parts.roots == (folder / "data",)  # the other does not exist
    (bound,) = parts.ready([part_of(folder / "data" / "sub-01")])
    assert (bound.source, bound.root, bound.place, bound.is_file) == (
        folder / "data" / "sub-01",
        0,
        "sub-01",
        False,
    )
    assert list((folder / "slot").iterdir()) == []


def test_a_single_file_is_bound_as_one(folder):
    path = folder / "data" / "sub-01" / "anat" / "t1.nii"
    single = Part("sub-01/t1.nii", "k", 6, {"": partial(open, path, "rb")}, path)
    parts = Parts(folder / "slot", [folder / "data"], user=USER, most_bytes=MIB)
    assert [(bound.source, bound.is_file) for bound in parts.ready([single])] == [(path, True)]
    (copied,) = Parts(folder / "slot", [], user=USER, most_bytes=MIB).ready([single])
    assert (copied.source.read_text(), copied.is_file, copied.root) == ("sub-01", True, None)


def more(folder: Path) -> None:
    (folder / "more").write_text("not of the part")


def link(folder: Path) -> None:
    (folder / "anat" / "t1.nii").unlink()
    (folder / "anat" / "t1.nii").symlink_to("../../sub-02/anat/t1.nii")


def linked_folder(folder: Path) -> None:
    (folder / "anat").rename(folder / "real")
    (folder / "anat").symlink_to("real")


def closed(folder: Path) -> None:
    (folder / "anat" / "t1.nii").chmod(0o000)


def closed_folder(folder: Path) -> None:
    (folder / "anat").chmod(0o600)


def fifo(folder: Path) -> None:
    os.mkfifo(folder / "fifo")


def test_what_a_run_would_see_differently_is_not_bound_in_place(subtests, folder):
    for change in (more, link, linked_folder, closed, closed_folder, fifo):
        with subtests.test(change=change):
            place = folder / "data" / "sub-01"
            found = part_of(place)
            change(place)
            parts = Parts(folder / "slot", [folder / "data"], user=USER, most_bytes=MIB)
            assert parts._bound_in_place(found) is None
            (place / "anat").chmod(0o700)


def test_nor_what_is_reached_by_a_link_or_lies_below_no_root(folder):
    (folder / "data" / "sub-03").symlink_to("sub-01")
    parts = Parts(folder / "slot", [folder / "data" / "sub-02"], user=USER, most_bytes=MIB)
    assert parts._bound_in_place(part_of(folder / "data" / "sub-01")) is None
    parts = Parts(folder / "slot", [folder / "data"], user=USER, most_bytes=MIB)
    assert parts._bound_in_place(part_of(folder / "data" / "sub-03")) is None


def test_a_root_that_is_closed_to_slots_is_not_used(folder):
    """Only a worker that is root has other users for its slots."""
    (folder / "data").chmod(0o700)
    usable = () if os.getuid() == 0 else (folder / "data",)
    assert Parts(folder / "slot", [folder / "data"], user=USER, most_bytes=MIB).roots == usable


def test_a_copy_is_made_once_and_sealed(folder):
    opened = []

    def opener():
        opened.append(1)
        return io.BytesIO(b"abc")

    given = Part("sub-01", "k", 3, {"a/b/c": opener}, None)
    parts = Parts(folder / "slot", [], user=USER, most_bytes=MIB)
    bound = [parts.ready([given])[0] for _ in range(3)]
    assert len(opened) == 1
    assert len({each.source for each in bound}) == 1
    path = bound[0].source / "a" / "b" / "c"
    facts = path.stat()
    assert (path.read_bytes(), facts.st_mode & 0o777, facts.st_uid) == (
        b"abc",
        0o440 if os.getuid() == 0 else 0o400,
        USER,
    )
    assert facts.st_mtime == 946_684_800
    assert len(bound[0].source.name) == 32
    assert "sub-01" not in str(bound[0].source)


def test_equal_keys_at_two_places_are_one_copy(folder):
    first, second = part("a"), Part("sub-z", "a", 10, part("a").files)
    bound = Parts(folder / "slot", [], user=USER, most_bytes=MIB).ready([first, second])
    assert [each.place for each in bound] == ["sub-a", "sub-z"]
    assert bound[0].source == bound[1].source


ROOM = 10 + FILE_OVERHEAD  # of one of these parts


def test_the_least_wanted_copies_go(folder):
    parts = Parts(folder / "slot", [], user=USER, most_bytes=3 * ROOM)
    for keys in ("a", "b", "a", "c", "d"):
        parts.ready([part(key) for key in keys])
    assert list(parts._copies) == ["a", "c", "d"]
    assert len(list((folder / "slot").iterdir())) == 3
    parts.ready([part("a"), part("b"), part("d")])  # what a view wants stays for it
    assert list(parts._copies) == ["a", "b", "d"]
    parts.ready([part("e", 10 + 2 * ROOM)])
    assert list(parts._copies) == ["e"]


def test_what_is_too_large_does_not_hang_on_what_lies_there(folder):
    parts = Parts(folder / "slot", [], user=USER, most_bytes=2 * ROOM)
    three, two = View({}, [part("a"), part("b"), part("c")]), View({}, [part("c"), part("d")])
    for _ in range(2):
        assert not parts.hold(three)
        assert parts.hold(two)
        assert len(parts.ready(two.parts)) == 2
    assert not parts.hold(View({"t.tsv": b""}, two.parts))
    assert parts.hold({"t.tsv": b"1" * 20, "u.tsv": b""})
    assert not parts.hold({"t.tsv": b"1" * 21, "u.tsv": b""})


def test_what_is_bound_in_place_takes_no_room(folder):
    view = View({}, [part_of(folder / "data" / "sub-01")])
    parts = Parts(folder / "slot", [folder / "data"], user=USER, most_bytes=1)
    assert parts.hold(view)
    assert not Parts(folder / "slot", [], user=USER, most_bytes=1).hold(view)


def test_equal_parts_are_held_once(folder):
    view = View({}, [part("a"), Part("sub-z", "a", 10, part("a").files)])
    assert Parts(folder / "slot", [], user=USER, most_bytes=ROOM).hold(view)


def gone():
    raise FileNotFoundError(2, "No such file or directory", "/data/sub-07")


BAD = {
    "larger than it says": Part("sub-07", "k", 2, {"x": lambda: io.BytesIO(b"123")}),
    "not to be opened": Part("sub-07", "k", 2, {"x": gone}),
}


@pytest.mark.parametrize("name", BAD)
def test_a_part_that_cannot_be_copied_leaves_nothing_and_is_not_named(name, folder):
    with pytest.raises(SandboxUnavailable) as raised:
        Parts(folder / "slot", [], user=USER, most_bytes=MIB).ready([BAD[name]])
    assert "sub-07" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert list((folder / "slot").iterdir()) == []


def test_a_part_cannot_be_copied_to_another_place(folder):
    hostile = Part("sub-07", "k", 2, {"../x": lambda: io.BytesIO(b"1")})
    with pytest.raises(ValueError, match="not relative"):
        Parts(folder / "slot", [], user=USER, most_bytes=MIB).ready([hostile])
    assert list((folder / "slot").iterdir()) == []


def test_a_skeleton_has_the_files_and_a_place_for_each_part(folder):
    single = Part("stimuli/a.wav", "w", 4, {"": gone})
    view = View({"participants.tsv": b"id\n"}, [part("01"), Part("d/x", "k", 1, {"y": gone}), single])
    with Scratch(folder / "scratch", allow_disk_scratch=True) as scratch:
        place = skeleton(view, scratch, owner=USER)
        found = {path.relative_to(place).as_posix(): path.is_file() for path in place.rglob("*")}
        assert found == {
            "participants.tsv": True,
            "sub-01": False,
            "d": False,
            "d/x": False,
            "stimuli": False,
            "stimuli/a.wav": True,
        }
        assert (place / "stimuli/a.wav").stat().st_size == 0

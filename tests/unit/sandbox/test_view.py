"""Views: what they hold, when they read, what they refuse."""

import io

import pytest

from worker.sandbox.core.given import VIEW_ABOVE_BYTES
from worker.sandbox.parts import read_if_small
from worker.sandbox.protocol import SandboxUnavailable
from worker.view import Part, View


def opener(content: bytes):
    return lambda: io.BytesIO(content)


def never():
    raise AssertionError("read before anybody asked")


def part(place: str, files=None, size: int = 1) -> Part:
    return Part(place, place, size, {"x": never} if files is None else files)


def test_a_view_reads_as_a_mapping_of_all_its_files():
    view = View(
        {"participants.tsv": b"id\n"},
        [
            part("sub-01", {"anat/t1.nii": opener(b"abc"), "x.json": opener(b"{}")}, 5),
            part("derivatives/seg/sub-01", {"a.tsv": opener(b"1")}, 1),
            part("stimuli/one.wav", {"": opener(b"RIFF")}, 4),
        ],
    )
    assert dict(view) == {
        "participants.tsv": b"id\n",
        "sub-01/anat/t1.nii": b"abc",
        "sub-01/x.json": b"{}",
        "derivatives/seg/sub-01/a.tsv": b"1",
        "stimuli/one.wav": b"RIFF",
    }
    assert (len(view), view.size) == (5, 13)
    assert "sub-01/x.json" in view
    assert "sub-01" not in view
    with pytest.raises(KeyError):
        view["sub-01"]


def test_nothing_is_read_before_it_is_asked_for():
    view = View({"a": b"1"}, [part("sub-01")])
    assert (len(view), list(view), view.size) == (2, ["a", "sub-01/x"], 2)
    assert view["a"] == b"1"
    with pytest.raises(AssertionError, match="read before"):
        view["sub-01/x"]


def test_its_text_says_nothing_of_its_content():
    assert repr(View({"sub-07.tsv": b""}, [part("sub-07")])) == "View(1 files, 1 parts)"
    assert "never" not in repr(part("sub-07"))


CLASHES = {
    "two parts at one place": ({}, [part("a"), part("a")]),
    "a file where a part is": ({"a": b""}, [part("a")]),
    "a file in a part": ({"a/x.tsv": b""}, [part("a")]),
    "a part in a part": ({}, [part("a"), part("a/b/c")]),
    "a part below a file": ({"a": b""}, [part("a/b")]),
    "a file below a file": ({"a": b"", "a/b": b""}, []),
}


def test_two_cannot_be_at_one_place(subtests):
    for name in CLASHES:
        with (
            subtests.test(name=name),
            pytest.raises(ValueError, match=r"at one place|inside another"),
        ):
            View(*CLASHES[name])


def test_names_that_only_begin_alike_do_not_clash():
    assert len(View({"sub-1.tsv": b""}, [part("sub-1"), part("sub-10"), part("sub-1-a")])) == 4


PATHS_OUTSIDE = (
    "../sub-07",
    "/sub-07",
    "a/../sub-07",
    "",
    "a//sub-07",
    "sub-07\0",
    "\udcff",
)


def test_a_path_outside_is_refused_and_not_named(subtests):
    for path in PATHS_OUTSIDE:
        for kind in ("file", "part", "inner"):
            with subtests.test(path=path, kind=kind):
                files = {path: b""} if kind == "file" else {}
                parts = {
                    "file": [],
                    "part": [part(path)],
                    "inner": [part("a", {"b": never, path or "b/": never})],
                }[kind]
                with pytest.raises(ValueError, match=r"not relative|one file") as raised:
                    list(View(files, parts))
                assert "sub-07" not in str(raised.value)


@pytest.mark.parametrize("files", [{}, {"": never, "x": never}])
def test_a_part_is_one_file_or_a_folder_of_files(files):
    with pytest.raises(ValueError, match="one file, or the files of one folder"):
        View({}, [part("a", files)])


def test_only_small_views_are_read():
    small = View({"t": b"2"}, [part("a", {"x": opener(b"1")})])
    large = View({"t": b"2"}, [part("a", size=VIEW_ABOVE_BYTES)])
    assert read_if_small(small) == {"t": b"2", "a/x": b"1"}
    assert read_if_small(large) is large
    plain = {"t": b"2"}
    assert read_if_small(plain) is plain


def test_a_file_that_cannot_be_read_is_not_named():
    def gone():
        raise FileNotFoundError(2, "No such file or directory", "/data/sub-07")

    with pytest.raises(SandboxUnavailable, match=r"could not be read: No such file") as raised:
        read_if_small(View({}, [part("a", {"x": gone})]))
    assert "sub-07" not in str(raised.value)

"""Which parts a keeper holds, and what it is believed when it speaks."""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from waiting import PATIENCE_S

from sandbox_images.keeper.collecting import framed
from worker.sandbox.docker_engine.asking import Asking
from worker.sandbox.docker_engine.kept_parts import KeptParts
from worker.sandbox.docker_engine.stream import Stream
from worker.sandbox.protocol import KIB, MIB, Audience, Limits, SandboxUnavailable, SlotOrder
from worker.view import Part, View


def part(name: str, size: int = MIB, *, files: int = 1, key: str | None = None) -> Part:
    return Part(name, key or name, size, {f"f{n}": io.BytesIO for n in range(files)})


def steps(kept: KeptParts, *parts: Part) -> tuple[list[int], list[str], list[int]]:
    """Dropped, kept anew, and placed."""
    found = kept.steps_for(View({}, parts))
    return found.drop, [each.key for _, each in found.keep], [number for number, _ in found.place]


def test_only_what_is_new_is_kept():
    kept = KeptParts(10 * MIB)
    assert steps(kept, part("a"), part("b")) == ([], ["a", "b"], [0, 1])
    assert steps(kept, part("b"), part("c")) == ([], ["c"], [1, 2])
    assert steps(kept, part("a"), part("b"), part("c")) == ([], [], [0, 1, 2])


def test_equal_parts_at_two_places_are_kept_once():
    kept = KeptParts(10 * MIB)
    assert steps(kept, part("a", key="same"), part("b", key="same")) == ([], ["same"], [0, 0])


def test_the_longest_unwanted_goes_first_and_no_more_than_must():
    kept = KeptParts(4 * MIB)
    steps(kept, part("a"), part("b"), part("c"))
    steps(kept, part("a"))
    assert steps(kept, part("d")) == ([1], ["d"], [3])
    assert steps(kept, part("b"), part("a")) == ([2], ["b"], [4, 0])


def test_numbers_are_never_used_again():
    """The keeper's folders of dropped parts are gone, but a number once used stays told apart."""
    kept = KeptParts(2 * MIB)
    assert [steps(kept, part(name))[2] for name in "abab"] == [[0], [1], [2], [3]]


def test_files_count_with_what_they_take_beside_their_bytes():
    kept = KeptParts(MIB)
    assert not kept.hold(View({}, [part("a", 0, files=129)]))
    assert kept.hold(View({}, [part("a", 0, files=128)]))
    assert not kept.hold(View({"table.tsv": b""}, [part("a", MIB - 8 * KIB)]))
    assert kept.hold(View({}, [part("a", MIB - 8 * KIB)]))


def test_what_is_held_from_earlier_views_decides_nothing():
    kept, view = KeptParts(MIB), View({}, [part("a", MIB - 8 * KIB)])
    steps(kept, part("b", MIB - 8 * KIB))
    assert kept.hold(view)
    assert steps(kept, *view.parts) == ([0], ["a"], [1])


def test_equal_parts_lie_at_two_places_of_an_input():
    half = MIB // 2
    assert not KeptParts(MIB).hold(View({}, [part("a", half, key="same"), part("b", half, key="same")]))


# --- answers


LIMITS = Limits(wall_s=1, cpu_s=1, memory_bytes=MIB, output_bytes=100, inodes=4, file_bytes=50)


class AnyImage:
    name, digest = "of the test", "sha256:" + "1" * 64


ORDER = SlotOrder(
    AnyImage(), {}, ("run",), ("group",), ("a", "b"), LIMITS, Audience.ORIGINAL
)  # fmt: skip


@pytest.fixture
def answered() -> Iterator:
    """What `collect` makes of an answer."""
    theirs, ours = socket.socketpair()
    ours.settimeout(PATIENCE_S)

    def collected(status: int, content: bytes, *, length: int | None = None, tree: bool = True):
        message = bytes([status]) + (len(content) if length is None else length).to_bytes(8, "big") + content
        theirs.sendall(b"\1\0\0\0" + len(message).to_bytes(4, "big") + message)
        return Asking(Stream(ours), largest=MIB).collect(
            0, replace(ORDER, tree=True, outputs=()) if tree else ORDER
        )

    yield collected
    theirs.close()
    ours.close()


def tree(files: dict[str, bytes]) -> bytes:
    return b"".join(framed(files))


def test_honest_answers(answered):
    assert answered(0, tree({"a": b"1", "d/b": b""})) == {"a": b"1", "d/b": b""}
    assert answered(1, b"") is None
    named = b"\0\0\0\1x\0\0\0\0"
    assert answered(0, named, tree=False) == {"a": b"x", "b": b""}


LIES = {
    "no status": (7, b""),
    "a path outside": (0, tree({"../a": b""})),
    "an absolute path": (0, tree({"/a": b""})),
    "a name that is not text": (0, tree({"a\n": b""})),
    "one path twice": (0, b"\0\0\0\2" + tree({"a": b""})[4:] * 2),
    "a file in a file": (0, tree({"a": b"", "a/b": b""})),
    "too many files": (0, tree({f"f{n}": b"" for n in range(5)})),
    "too many bytes": (0, tree({"a": b"x" * 100})),
    "more than it says": (0, tree({"a": b""}) + b"x"),
    "less than it says": (0, tree({"a": b"1"})[:-1]),
    "nothing": (0, b""),
}


def test_lies_about_a_tree(subtests, answered):
    for lie in LIES:
        with subtests.test(lie=lie), pytest.raises(SandboxUnavailable, match="broke its protocol"):
            answered(*LIES[lie])


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\0\0\1x", b"\0\0\0\1x\0\0\0\1", b"\0\0\0\1x\0\0\0\0y", b"\0\0\0\x33" + b"x" * 51 + b"\0\0\0\0"],
)
def test_lies_about_named_outputs(answered, content):
    with pytest.raises(SandboxUnavailable, match="broke its protocol"):
        answered(0, content, tree=False)


def test_no_answer_is_read_that_is_longer_than_it_can_be(answered):
    with pytest.raises(SandboxUnavailable, match="broke its protocol"):
        answered(0, b"", length=1 << 40)

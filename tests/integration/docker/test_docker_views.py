"""Inputs made of parts: the same as a plain block to a run, but each part travels once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from docker_orders import TIGHT, order_for, settings_for, traces
from docker_views import LOOK, Source, lying_part

from worker.sandbox.docker_engine import DockerSandbox
from worker.sandbox.protocol import MIB, Cause, SandboxUnavailable, SlotCancelled
from worker.view import Part, View

BIG = bytes(range(256)) * 4096  # 1 MiB: more than one piece on the wire
TABLE = {"participants.tsv": b"participant_id\n", "derivatives/x/notes.txt": b"1", "empty.txt": b""}
DONE = 'open(out + "/verdict", "w")'


@pytest.fixture
def straight(docker_daemon, digest, sockets_folder):
    """Whatever is above half a MiB is composed of its parts; a slot keeps 4 MiB of them."""
    settings = settings_for(docker_daemon.socket, digest, block_bytes=MIB, view_bytes=4 * MIB)
    with DockerSandbox(settings, lock_root=sockets_folder / "locks") as ours:
        yield ours
    assert not traces(docker_daemon)


def people(source: Source, *numbers: int) -> list[Part]:
    files = {"anat/T1.nii": BIG, "func/a b é.tsv": b"n/a\r\n", "empty": b""}
    return [source.part(f"sub-{number}", files | {"number": b"%d" % number}) for number in numbers]


def looked(slot, view) -> dict:
    result = slot.run(view)
    assert result.outputs, result.detail
    return json.loads(result.outputs["verdict"])


def without_inodes(found: dict) -> dict:
    return {path: [facts[0], *facts[2:]] for path, facts in found.items()}


def test_a_view_is_the_same_as_its_plain_copy(straight, digest, tmp_path):
    """Parts from memory and from a folder, single files, parts in other folders, tables beside them."""
    (tmp_path / "sub-3/anat").mkdir(parents=True)
    (tmp_path / "sub-3/anat/T1.nii").write_bytes(BIG)
    source = Source()
    parts = [
        *people(source, 1, 2),
        lying_part(tmp_path, "sub-3"),
        source.part("derivatives/x/sub-1", {"stats.tsv": b"1\n"}),
        source.part("stimuli/faces.bin", {"": BIG[:1000]}, key="faces"),
        source.part("faces-again.bin", {"": BIG[:1000]}, key="faces"),
        source.part("README", {"": b""}),
    ]
    view = View(TABLE, parts)
    with straight.open_slot(order_for(digest, LOOK), slot=0) as slot:
        composed = looked(slot, view)
    assert set(view) <= set(composed)
    roomy = settings_for(straight.settings.socket, digest)
    with DockerSandbox(roomy) as sandbox, sandbox.open_slot(order_for(digest, LOOK), slot=0) as slot:
        assert without_inodes(looked(slot, dict(view))) == without_inodes(composed)


def test_a_part_travels_once_in_the_life_of_a_slot(straight, digest):
    """Leave one out of three, more runs than two batches hold. Every run finds exactly its own."""
    source = Source()
    everybody = people(source, 1, 2, 3)
    with straight.open_slot(order_for(digest, LOOK), slot=0) as slot:
        for run in range(7):
            left = [part for part in everybody if part.place != f"sub-{run % 3 + 1}"]
            found = looked(slot, View(TABLE, left))
            there = {path for path in found if path.startswith("sub-") and "/" not in path}
            assert there == {part.place for part in left}
    assert set(source.opened.values()) == {1}


def test_runs_cannot_tell_who_was_there_before(straight, digest):
    """Not from inode numbers, links or times: equal views are equal, whatever other runs were given."""
    source, other = Source(), Source()
    ours = View(TABLE, people(source, 1, 2))
    theirs = View({}, [other.part("sub-9", {f"f{n}": b"x" * 10_000 for n in range(100)})])
    with straight.open_slot(order_for(digest, LOOK), slot=0) as slot:
        looks = [looked(slot, view) for view in (ours, theirs, ours, theirs, ours)]
    with straight.open_slot(order_for(digest, LOOK), slot=0) as slot:
        fresh = looked(slot, ours)
    assert looks[0] == looks[2] == looks[4] == fresh


def test_what_no_view_wanted_lately_goes_first(straight, digest):
    """Room for three people: the fourth takes the place of the one who was not asked for."""
    source = Source()
    one, two, three, four = people(source, 1, 2, 3, 4)
    views = ([one, two, three], [two, three], [four, three], [two, four], [one, two])
    with straight.open_slot(order_for(digest, LOOK), slot=0) as slot:
        for parts in views:
            found = looked(slot, View({}, parts))
            assert {path for path in found if path.count("/") == 0} == {".", *(part.place for part in parts)}
    assert {path: count for path, count in source.opened.items() if path.endswith("T1.nii")} == {
        "sub-1/anat/T1.nii": 2,
        "sub-2/anat/T1.nii": 1,
        "sub-3/anat/T1.nii": 1,
        "sub-4/anat/T1.nii": 1,
    }


def test_an_input_that_is_too_large_is_a_failed_run(straight, digest):
    source = Source()
    too_large = (
        View({}, people(source, 1, 2, 3, 4)),
        View({"table.tsv": BIG}, people(source, 1)),
        View({"table.tsv": BIG}),
        {"table.tsv": BIG},
        {f"{number}.txt": b"1" for number in range(640)},  # as many bytes, and a page for each
    )
    with straight.open_slot(order_for(digest, DONE), slot=0) as slot:
        for block in too_large:
            result = slot.run(block)
            assert (result.outputs, result.detail.cause, result.detail.tail) == (None, Cause.INPUT, "")
        assert slot.run(View(TABLE, people(source, 1))).outputs == {"verdict": b""}


def test_a_part_that_cannot_be_read_names_nobody(straight, digest, tmp_path):
    """And what the keeper has of it is not used again."""
    (tmp_path / "sub-4711").mkdir()
    for name in ("a", "b"):
        (tmp_path / "sub-4711" / name).write_bytes(BIG)
    part = lying_part(tmp_path, "sub-4711")
    (tmp_path / "sub-4711/b").unlink()
    longer = replace(part, size=10)
    with straight.open_slot(order_for(digest, LOOK), slot=0) as slot:
        with pytest.raises(SandboxUnavailable, match="No such file") as raised:
            slot.run(View({}, [part]))
        assert "4711" not in str(raised.value)
        (tmp_path / "sub-4711/b").write_bytes(BIG)
        with pytest.raises(SandboxUnavailable, match="larger than it says") as raised:
            slot.run(View({}, [*people(Source(), 1), longer]))
        assert "4711" not in str(raised.value)
        assert "sub-4711/b" in looked(slot, View({}, [part]))


def test_the_daemon_does_not_learn_who_takes_part(straight, docker_daemon, digest):
    """A mount at a person's folder would stand in the container's description, which lies on a disk."""
    script = "time.sleep(0.1)\n" + DONE
    view = View({"sub-4711_x.tsv": b""}, [Source().part("sub-4711", {"T1.nii": BIG})])
    seen = []

    def look(event: str) -> None:
        files = [path for path in (docker_daemon.folder / "data/containers").rglob("*") if path.is_file()]
        texts = [path.read_bytes() for path in files]
        assert any(b"dpgate-" in text for text in texts)
        seen.append(event)
        assert not [path for path, text in zip(files, texts, strict=True) if b"sub-4711" in text]

    with straight.open_slot(order_for(digest, script), slot=0) as slot:
        state = slot._engine.state
        slot._engine.state = lambda container: (look("run"), state(container))[1]
        assert slot.run(view).outputs == {"verdict": b""}
    assert seen
    assert "sub-4711" not in docker_daemon.log()


def test_a_run_has_no_way_to_the_parts(straight, digest):
    """Nobody's but those of its own view, and nothing can be changed there."""
    script = """
places = [line.split()[4] for line in open("/proc/self/mountinfo")]
verdict = [os.path.lexists("/parts"), [place for place in places if "/in/" in place or "parts" in place]]
for change in (lambda: open(given + "/sub-1/number", "w"), lambda: os.unlink(given + "/sub-1/number"),
               lambda: os.chmod(given + "/sub-1", 0o777), lambda: os.mkdir(given + "/sub-1/x")):
    try:
        change()
        verdict.append("changed")
    except OSError as error:
        verdict.append(error.errno)
open(out + "/verdict", "w").write(json.dumps(verdict))
"""
    with straight.open_slot(order_for(digest, script), slot=0) as slot:
        verdict = json.loads(slot.run(View({}, people(Source(), 1))).outputs["verdict"])
    assert verdict == [False, [], 30, 30, 30, 30]  # EROFS


def test_a_cancel_does_not_wait_for_all_parts(straight, digest):
    source = Source()
    with straight.open_slot(order_for(digest, DONE), slot=0) as slot:
        first, second = people(source, 1, 2)
        opener = first.files["number"]
        cancelling = replace(first, files={**first.files, "number": lambda: (slot.cancel(), opener())[1]})
        with pytest.raises(SlotCancelled):
            slot.run(View({}, [cancelling, second]))
    assert not [path for path in source.opened if path.startswith("sub-2")]


def test_views_through_the_proxy(sandbox, digest):
    source = Source()
    view = View(TABLE, [source.part(f"sub-{n}", {"a": BIG * 3, "b": b""}) for n in (1, 2)])
    with sandbox.open_slot(order_for(digest, LOOK, limits=replace(TIGHT, inodes=500)), slot=0) as slot:
        found = [looked(slot, view) for _ in range(2)]
    assert set(view) <= set(found[0])
    assert set(source.opened.values()) == {1}

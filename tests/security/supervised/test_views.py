"""Views in supervised slots: each run sees the parts of its own view, read-only, and nothing stays."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_harness import SLOT, TIGHT
from supervisors import supervisor_of
from views import CANARY, LISTING, LOOK_AROUND, PEOPLE, WRITE, data_in, part_of, view_of
from waiting import wait_until

from worker.sandbox import parts
from worker.sandbox.core import process, slot_user
from worker.sandbox.protocol import KIB, MIB, SandboxUnavailable, Syscalls
from worker.sandbox.supervised import giving
from worker.view import Part, View

OWN_FILES = {"sub-01/anat/own.txt": "of sub-01", "sub-01/anat/secret.txt": "mine"}


LARGER = replace(TIGHT, file_bytes=64 * KIB, output_bytes=MIB)


def ask_for(ask, data: Path, script: str, **changes):
    return ask(script, roots=(data,), **changes)


def ask_with_proc(ask, data: Path, script: str):
    """STRICT has no /proc in which a run could look up what is mounted where."""
    return ask_for(ask, data, script, syscalls=Syscalls.STANDARD)


def test_a_view_is_composed_of_files_and_parts(data, in_place, supervised, ask):
    with supervised.open_slot(ask_for(ask, data, LISTING), slot=SLOT) as slot:
        for places in (("sub-01", "cue.wav"), ("sub-02",), PEOPLE, ()):
            view = view_of(data, *places, in_place=in_place)
            found = json.loads(slot.run(view).outputs["verdict"])
            assert found == {path: content.decode() for path, content in view.items()}


def test_files_with_holes_are_copied(data, tmp_path):
    """Where they lie, whoever reads a hole would show everybody that it has done so."""

    def is_bound(place: str) -> bool:
        own = parts.Parts(tmp_path, [data], user=os.getuid(), most_bytes=MIB)
        (found,) = own.ready([part_of(data, place, in_place=True)])
        return found.root is not None

    assert is_bound("cue.wav")
    assert is_bound("sub-01")
    for name in ("cue.wav", "sub-01/anat/own.txt"):
        os.truncate(data / name, 64 * KIB)
    assert not is_bound("cue.wav")
    assert not is_bound("sub-01")


def test_large_tables_do_not_take_the_supervisors_memory(data, supervised, ask, monkeypatch):
    """They are staged as a folder, and parts are mounted on that."""
    monkeypatch.setattr(giving, "VIEW_ABOVE_BYTES", 10)
    single = part_of(data, "cue.wav", in_place=True)
    deep = replace(part_of(data, "sub-01", in_place=True), place="derivatives/x/sub-01")
    view = View({"participants.tsv": b"x" * 11, "phenotype/a.tsv": b"1"}, [single, deep])
    with supervised.open_slot(ask_for(ask, data, LISTING), slot=SLOT) as slot:
        before = sorted(supervised._scratch.path.rglob("*"))
        found = json.loads(slot.run(view).outputs["verdict"])
        assert found == {path: content.decode() for path, content in view.items()}
        assert sorted(supervised._scratch.path.rglob("*")) == before


def test_a_small_view_is_copied(data, supervised, ask, monkeypatch):
    monkeypatch.setattr(parts, "VIEW_ABOVE_BYTES", MIB)
    script = "open('/out/verdict', 'w').write(str(open('/proc/self/mountinfo').read().count(' /in')))"
    with supervised.open_slot(ask_with_proc(ask, data, script), slot=SLOT) as slot:
        assert slot.run(view_of(data, *PEOPLE)).outputs["verdict"] == b"1"
        monkeypatch.setattr(parts, "VIEW_ABOVE_BYTES", 10)
        assert slot.run(view_of(data, *PEOPLE)).outputs["verdict"] == b"4"


def test_a_person_outside_the_view_cannot_be_found(data, in_place, supervised, ask):
    with supervised.open_slot(ask_with_proc(ask, data, LOOK_AROUND), slot=SLOT) as slot:
        everybody = slot.run(view_of(data, *PEOPLE, in_place=in_place)).outputs["verdict"].decode()
        assert "/in/sub-02/anat/secret.txt" in everybody  # it can look: also copies of all are there by now
        alone = slot.run(view_of(data, "sub-01", in_place=in_place))
        assert alone.outputs["verdict"] == b""


def test_others_could_be_found_if_the_platforms_folder_stayed(data, supervised, ask, doctored):
    doctored(
        "confine.py",
        lambda source: source.replace(
            'steps.call("umount", calls.UNMOUNT, _STAGED', "(lambda *_: None)(_STAGED"
        ),
    )
    with supervised.open_slot(ask_with_proc(ask, data, LOOK_AROUND), slot=SLOT) as slot:
        found = slot.run(view_of(data, "sub-01")).outputs["verdict"].decode()
    assert "/run/dpgate/roots/0/sub-02/anat/secret.txt" in found


def test_others_could_be_found_if_the_whole_root_were_mounted(data, supervised, ask, doctored):
    """The parent of the part, that is: what a view's siblings would be with a mount that is too wide."""
    doctored(
        "confine.py",
        lambda source: (
            source.replace("for source, place, _ in parts:", "for source, place, _ in WIDE:")
            + "\nWIDE = [('/run/dpgate/roots/0', 'sub-01', False)]\n"
        ),
    )
    with supervised.open_slot(ask_with_proc(ask, data, LOOK_AROUND), slot=SLOT) as slot:
        found = slot.run(view_of(data, "sub-01")).outputs["verdict"].decode()
    assert "/in/sub-01/sub-02/anat/secret.txt" in found


def test_a_part_cannot_be_changed(data, in_place, supervised, ask):
    with supervised.open_slot(ask_for(ask, data, WRITE), slot=SLOT) as slot:
        said = slot.run(view_of(data, "sub-01", "cue.wav", in_place=in_place)).outputs["verdict"].decode()
    assert "DONE" not in said
    assert "Read-only file system" in said
    assert (data / "sub-01/anat/own.txt").read_text() == "of sub-01"


def test_that_a_part_was_read_is_not_written_down(data, supervised, ask):
    """The next run could look at the time. It is older than the last change, so that reading would set it."""
    path = data / "sub-01/anat/own.txt"
    os.utime(path, (1_000_000, 2_000_000))
    script = "open('/in/sub-01/anat/own.txt').read(); open('/out/verdict', 'w').close()"
    with supervised.open_slot(ask_for(ask, data, script), slot=SLOT) as slot:
        assert slot.run(view_of(data, "sub-01")).outputs == {"verdict": b""}
    assert path.stat().st_atime == 1_000_000


def test_a_copied_part_could_be_changed_if_no_mount_were_read_only(
    data, supervised, ask, doctored, monkeypatch
):
    monkeypatch.setattr(slot_user, "FIRST_SEAT_UID", slot_user.FIRST_SLOT_UID - 15 * SLOT)  # its owner's
    build = process.SupervisorProcess.__init__.__globals__["build_argv"]
    monkeypatch.setitem(
        process.SupervisorProcess.__init__.__globals__,
        "build_argv",
        lambda *given, **named: [
            "--bind" if word == "--ro-bind" else word for word in build(*given, **named)
        ],
    )
    doctored("hygiene.py", lambda source: source.replace("raise Unclean(", "str("))
    doctored("confine.py", lambda source: source.replace("restrict(steps, _WRITABLE)", "pass"))
    doctored(
        "kernel.py", lambda source: source.replace("MS_REMOUNT | MS_RDONLY | flags", "MS_REMOUNT | flags")
    )
    with supervised.open_slot(ask_for(ask, data, WRITE), slot=SLOT) as slot:
        said = slot.run(view_of(data, "sub-01", "cue.wav", in_place=False)).outputs["verdict"].decode()
    assert said.count("DONE") >= 4


def test_what_a_run_sees_of_where_a_copied_part_lies(data, supervised, ask):
    script = "open('/out/verdict', 'w').write(open('/proc/self/mountinfo').read())"
    with supervised.open_slot(ask_with_proc(ask, data, script), slot=SLOT) as slot:
        mounts = slot.run(view_of(data, *PEOPLE, in_place=False)).outputs["verdict"].decode().splitlines()
    lines = [line.split() for line in mounts if " /in/" in line]
    assert len(lines) == len(PEOPLE)
    for line in lines:
        assert set(line[3].rsplit("/", 1)[1]) <= set("0123456789abcdef")
        assert "sub-" not in line[3]
        assert line[5].startswith("ro,nosuid,nodev,noexec")


def test_a_copy_serves_all_runs_and_goes_with_its_slot(data, supervised, ask):
    opened = []

    def opener():
        opened.append(1)
        return open(data / "cue.wav", "rb")

    view = View({}, [Part("sub-01", "k", 4, {"cue": opener})])
    with supervised.open_slot(ask(LISTING), slot=SLOT) as slot:
        for _ in range(3):
            assert json.loads(slot.run(view).outputs["verdict"]) == {"sub-01/cue": "RIFF"}
        slot._seat.stop()  # another supervisor finds it, too
        assert json.loads(slot.run(view).outputs["verdict"]) == {"sub-01/cue": "RIFF"}
    assert len(opened) == 1
    assert list(supervised._scratch.path.iterdir()) == []


def test_a_part_that_is_gone_is_the_platforms_failure_and_not_named(data, supervised, ask):
    with supervised.open_slot(ask_for(ask, data, LISTING), slot=SLOT) as slot:
        view = view_of(data, "sub-02")
        assert slot.run(view).outputs is not None
        (data / "sub-02").rename(data / "away")
        with pytest.raises(SandboxUnavailable, match=r"mount of a part of the block: No such file") as raised:
            slot.run(view)
        assert "sub-02" not in str(raised.value)
        assert slot.run(view_of(data, "sub-01")).outputs is not None  # in a new supervisor


def test_nothing_of_200_parts_stays_in_the_supervisor(data, supervised, ask):
    people = [f"sub-{number:03}" for number in range(200)]
    data_in(data, people)
    view = view_of(data / "data", *people)
    with supervised.open_slot(ask_for(ask, data, LISTING, limits=LARGER), slot=SLOT) as slot:
        process = supervisor_of(slot)
        before = Path(f"/proc/{process}/mountinfo").read_text()
        for _ in range(2):
            assert len(json.loads(slot.run(view).outputs["verdict"])) == 401
            wait_until(lambda: Path(f"/proc/{process}/mountinfo").read_text() == before)
        assert supervisor_of(slot) == process


def test_fifty_runs_on_changing_views(data, supervised, ask):
    script = LISTING + "open('/out/d', 'w').write('1')\n"
    with supervised.open_slot(ask_for(ask, data, script), slot=SLOT) as slot:
        process = supervisor_of(slot)
        before = Path(f"/proc/{process}/mountinfo").read_text()
        for number in range(50):
            people = [person for at, person in enumerate(PEOPLE, 1) if number % 4 != at]
            outputs = slot.run(view_of(data, *people, in_place=number % 2 == 0)).outputs
            assert CANARY in outputs["verdict"].decode()
            found = {path.split("/")[0] for path in json.loads(outputs["verdict"])}
            assert found == {"participants.tsv", *people}
        assert supervisor_of(slot) == process
        wait_until(lambda: Path(f"/proc/{process}/mountinfo").read_text() == before)

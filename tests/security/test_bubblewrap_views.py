"""The same in one bubblewrap per run: views, what lies in the output at the start, whole output folders."""

import json
import os
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from sandbox_harness import SLOT, TIGHT, processes_with
from views import (
    HOSTILE_TREES,
    KEEP_TO_LIMITS,
    LISTING,
    LOOK_AROUND,
    OUTPUT_AT_START,
    PEOPLE,
    REFUSED_INSIDE,
    WRITE,
    view_of,
)
from waiting import wait_until

from worker.sandbox import bubblewrap, bwrap_argv
from worker.sandbox.protocol import KIB, Audience, Cause, RunResult, SandboxUnavailable, SlotCancelled
from worker.view import View

BEFORE = {"sub-01/a.tsv": b"1\n", "sub-02/b/c.tsv": b"2\n", "dataset_description.json": b"{}"}


@pytest.fixture
def run(sandbox, order):
    def once(script: str, block, before=None, **changes) -> RunResult:
        with sandbox.open_slot(order(script, **changes), slot=SLOT) as it:
            return it.run(block, before=before or {})

    return once


def test_a_view_is_composed_of_files_and_parts(data, in_place, sandbox, order):
    with sandbox.open_slot(order(LISTING, roots=(data,)), slot=SLOT) as slot:
        left = sorted(sandbox._scratch.path.iterdir())
        for places in (("sub-01", "cue.wav"), PEOPLE, ()):
            view = view_of(data, *places, in_place=in_place)
            found = json.loads(slot.run(view).outputs["verdict"])
            assert found == {path: content.decode() for path, content in view.items()}
            assert sorted(sandbox._scratch.path.iterdir()) == left
    assert list(sandbox._scratch.path.iterdir()) == []


def test_more_parts_than_bwrap_takes_are_copied(data, run, monkeypatch):
    monkeypatch.setattr(bubblewrap, "MOST_PARTS", 2)
    view = view_of(data, *PEOPLE)
    found = json.loads(run(LISTING, view, roots=(data,)).outputs["verdict"])
    assert found == {path: content.decode() for path, content in view.items()}
    script = "open('/out/verdict', 'w').write(str(open('/proc/self/mountinfo').read().count(' /in')))"
    assert run(script, view, roots=(data,)).outputs["verdict"] == b"1"


def test_as_many_parts_as_we_say_are_taken_by_bwrap(data, run, monkeypatch):
    """The others of its words must fit beside. It reads all of them before it mounts the first."""
    person = view_of(data, "sub-01").parts[0]
    people = [replace(person, place=f"p-{n}", key=str(n)) for n in range(2 * bwrap_argv.MOST_PARTS)]
    real = bubblewrap.part_flags
    monkeypatch.setattr(bubblewrap, "part_flags", lambda given: real(given).replace(b"/data", b"/gone", 1))
    with pytest.raises(SandboxUnavailable, match="Can't find source path"):
        run("", View({}, people[: bwrap_argv.MOST_PARTS]), roots=(data,))
    monkeypatch.setattr(bubblewrap, "MOST_PARTS", len(people))
    with pytest.raises(SandboxUnavailable, match="Exceeded maximum number of arguments"):
        run("", View({}, people), roots=(data,))


def test_a_person_outside_the_view_cannot_be_found(data, in_place, sandbox, order):
    with sandbox.open_slot(order(LOOK_AROUND, roots=(data,)), slot=SLOT) as slot:
        everybody = slot.run(view_of(data, *PEOPLE, in_place=in_place)).outputs["verdict"].decode()
        assert "/in/sub-02/anat/secret.txt" in everybody
        assert slot.run(view_of(data, "sub-01", in_place=in_place)).outputs["verdict"] == b""


def test_others_could_be_found_if_the_whole_root_were_mounted(data, run, monkeypatch):
    flags = b"--ro-bind\0" + str(data).encode() + b"\0/in/sub-01\0"
    monkeypatch.setattr(bubblewrap, "part_flags", lambda _: flags)
    found = run(LOOK_AROUND, view_of(data, "sub-01"), roots=(data,)).outputs["verdict"].decode()
    assert "/in/sub-01/sub-02/anat/secret.txt" in found


def test_a_part_cannot_be_changed(data, in_place, run):
    view = view_of(data, "sub-01", "cue.wav", in_place=in_place)
    said = run(WRITE, view, roots=(data,)).outputs["verdict"].decode()
    assert "DONE" not in said
    assert "Read-only file system" in said


def test_a_copied_part_could_be_changed_if_it_were_not_mounted_so(data, run, monkeypatch):
    real = bubblewrap.part_flags
    monkeypatch.setattr(bubblewrap, "part_flags", lambda given: real(given).replace(b"--ro-bind", b"--bind"))
    view = view_of(data, "sub-01", "cue.wav", in_place=False)
    assert run(WRITE, view).outputs["verdict"].decode().count("DONE") >= 4


def test_no_command_line_on_the_host_names_a_person(data, sandbox, order):
    asked = order("import time; time.sleep(600)", roots=(data,), limits=replace(TIGHT, wall_s=600))
    with sandbox.open_slot(asked, slot=SLOT) as slot:
        view = view_of(data, *PEOPLE)

        def until_cancelled() -> None:
            with pytest.raises(SlotCancelled):
                slot.run(view)

        running = Thread(target=until_cancelled)
        running.start()
        wait_until(lambda: ours("/pipeline/main.py"), said="the payload")
        named, known = ours("sub-0"), ours(str(sandbox._scratch.path))
        slot.cancel()
        running.join()
    assert named == []
    assert known  # bwrap itself: command lines of others can be read here


def ours(marker: str) -> list[int]:
    """Processes with this on their command line that this one has started, or those have."""
    return [pid for pid in processes_with(marker) if os.getpid() in ancestors(pid)]


def ancestors(pid: int) -> list[int]:
    found = []
    while pid > 1:
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except OSError:  # ended meanwhile
            break
        pid = int(text.rsplit(")", 1)[1].split()[1])
        found.append(pid)
    return found


def test_a_part_that_is_gone_is_the_platforms_failure_and_not_named(data, sandbox, order):
    with sandbox.open_slot(order(LISTING, roots=(data,)), slot=SLOT) as slot:
        assert slot.run(view_of(data, "sub-02")).outputs is not None
        view = view_of(data, "sub-02", "sub-03")
        for place in ("sub-02", "sub-03"):  # the one is known already, the other not
            (data / place).rename(data / f"away-{place}")
            with pytest.raises(SandboxUnavailable, match=r"part of a view .*(gone|No such file)") as raised:
                slot.run(replace_parts(view, place))
            assert "sub-0" not in str(raised.value)


def replace_parts(view: View, place: str) -> View:
    return View({}, [part for part in view.parts if part.place == place])


def tree_of(run, script: str, before=None, **changes) -> RunResult:
    return run(script, {}, before, outputs=(), tree=True, **changes)


def test_the_whole_output_comes_back_with_what_lay_there_before(run):
    script = """
import os, shutil
os.makedirs('/out/new/empty')
open('/out/new/x', 'w').write('3')
open("/out/sub-01/a.tsv", "a").write("more")
shutil.rmtree("/out/sub-02")
"""
    result = tree_of(run, script, BEFORE)
    assert result.outputs == {
        "dataset_description.json": b"{}",
        "new/x": b"3",
        "sub-01/a.tsv": b"1\nmore",
    }
    assert list(result.outputs) == sorted(result.outputs)


def test_what_lies_there_looks_like_any_output(run):
    said = run(OUTPUT_AT_START, {}, BEFORE).outputs["verdict"].decode()
    assert said == "[('0o100600', 1000, 946684800.0), ('0o40700', 1000, 946684800.0)] [2] []"


LIMITS = replace(TIGHT, output_bytes=64 * KIB, inodes=20)


def test_what_does_not_fit_is_a_failed_run_and_what_fits_counts_as_output(run):
    large, larger = {"a": b"1" * (60 * KIB)}, {"a": b"1" * (65 * KIB)}
    assert tree_of(run, "", larger, limits=LIMITS).detail.cause is Cause.FULL
    assert tree_of(run, "", larger, limits=LIMITS, audience=Audience.ORIGINAL) == RunResult(None)
    assert tree_of(run, KEEP_TO_LIMITS, large, limits=LIMITS).detail.cause is Cause.EXIT
    assert tree_of(run, KEEP_TO_LIMITS, limits=LIMITS).outputs == {"x": b"1" * (16 * KIB)}
    assert tree_of(run, "", large, limits=LIMITS).outputs == large


@pytest.mark.parametrize("name", HOSTILE_TREES)
def test_a_hostile_output_is_a_failed_run(name, run):
    script = f"import os\nopen('/out/good', 'w').close()\n{HOSTILE_TREES[name]}\n"
    result = tree_of(run, script, limits=replace(TIGHT, output_bytes=4 << 20))
    refused = (None, Cause.EXIT) if name in REFUSED_INSIDE else None
    assert (result.outputs, result.detail.cause) in ((None, Cause.OUTPUT), refused)


def test_a_full_output_comes_through_the_pipe(run):
    script = "open('/out/x', 'w').write('1' * ((4 << 20) - 1))"
    assert tree_of(run, script).outputs == {"x": b"1" * ((4 << 20) - 1)}

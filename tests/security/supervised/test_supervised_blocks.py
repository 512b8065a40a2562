"""How a block and the pipeline's sources arrive: complete, read-only, without a time; copied or as a view."""

import hashlib
import json
import os
from dataclasses import replace

import pytest
from sandbox_harness import SLOT, TIGHT
from supervisors import supervisor_of

from worker.sandbox.protocol import MIB, SandboxUnavailable, Syscalls
from worker.sandbox.supervised import giving

LISTING = """
import hashlib, json, os
found = {}
for parent, folders, names in os.walk("/in"):
    for name in ["", *names]:
        path = os.path.join(parent, name).rstrip("/")
        facts = os.stat(path)
        content = None if name == "" else hashlib.sha256(open(path, "rb").read()).hexdigest()
        found[path[4:]] = [oct(facts.st_mode), facts.st_uid, facts.st_mtime, content]
json.dump(found, open("/out/verdict", "w"))
"""
BLOCKS = {
    "empty": {},
    "empty file": {"a": b""},
    "one": {"a.csv": b"1,2\n"},
    "nested": {"/".join("d" * depth) + "/x": bytes([depth]) for depth in range(1, 32)},
    "odd names": {"with space\n": b"1", "ünï": b"2", "x" * 255: b"3", "-rf": b"4", "a\\b'\"$(c)": b"5"},
    "many": {f"sub-{number:04d}/{number % 7}.csv": b"x" * number for number in range(200)},
    "page sizes": {str(size): b"y" * size for size in (1, 4095, 4096, 4097, 70_000)},
    "large": {"big": os.urandom(3 * MIB)},
}


@pytest.fixture(params=["copied", "viewed"])
def way(request, monkeypatch) -> str:
    if request.param == "viewed":
        monkeypatch.setattr(giving, "VIEW_ABOVE_BYTES", -1)
    return request.param


def test_blocks_arrive_as_they_were_given(way, supervised, ask):
    asked = ask(LISTING, limits=replace(TIGHT, file_bytes=MIB))
    with supervised.open_slot(asked, slot=SLOT) as slot:
        for name, block in BLOCKS.items():
            result = slot.run(block)
            assert result.outputs is not None, (name, result.detail)
            found = json.loads(result.outputs["verdict"])
            contents = {path: facts[3] for path, facts in found.items() if facts[3] is not None}
            assert contents == {path: hashlib.sha256(content).hexdigest() for path, content in block.items()}
            # root's files in a view are the slot's by their group alone: its runs have users of their own
            by_group = way == "viewed" and os.getuid() == 0
            owner, modes = (65534, {"0o40550", "0o100440"}) if by_group else (1000, {"0o40700", "0o100600"})
            assert {(facts[1], facts[2]) for facts in found.values()} == {(owner, 946684800.0)}, name
            assert {facts[0] for facts in found.values()} <= modes, name


CHANGES = """
import os
def refused(step, *arguments):
    try:
        step(*arguments)
    except OSError as error:
        return error.strerror
    return "DONE"
said = [
    refused(os.chmod, "/in/d/a.csv", 0o600), refused(os.chmod, "/in", 0o700),
    refused(os.utime, "/in/d/a.csv"),
    refused(os.chmod, "/in/d", 0o700), refused(open, "/in/d/a.csv", "r+"), refused(open, "/in/new", "w"),
    refused(os.rename, "/in/d/a.csv", "/in/d/b"), refused(os.link, "/in/d/b", "/in/d/c"),
    refused(os.symlink, "x", "/in/d/s"), refused(os.unlink, "/in/d/b"),
]
open("/out/verdict", "w").write(str(said))
"""


def test_block_cannot_be_changed(way, run):
    said = run(CHANGES, {"d/a.csv": b"1"}).outputs["verdict"].decode()
    assert "DONE" not in said
    assert "Read-only file system" in said


def test_tools_that_keep_modes_find_no_attributes_and_go_on(run_alone):
    """GNU's cp and install set a list of rights before the mode; a file system need not have any."""
    steps = "cp -p /in/a /out/p && cp --no-preserve=mode /in/a /out/n && install /in/a /out/i"
    script = f"""
import subprocess
done = subprocess.run({steps!r}, shell=True, capture_output=True, text=True)
open("/out/verdict", "w").write(f"{{done.returncode}} {{done.stderr}}")
"""
    assert run_alone(script, {"a": b"1"}).outputs["verdict"] == b"0 "


COPIES = """
import shutil, subprocess
done = subprocess.run(
    "cp -r /in/d /out/r && echo 2 >> /out/r/a.csv && touch /out/r/new",
    shell=True, capture_output=True, text=True,
)
shutil.copytree("/in/d", "/out/t")
open("/out/t/a.csv", "a").close()
open("/out/t/new", "w").close()
open("/out/verdict", "w").write(f"{done.returncode} {done.stderr}")
"""


def test_copies_of_a_block_can_be_written_to(run_alone):
    said = run_alone(COPIES, {"d/a.csv": b"1"})
    assert said.outputs is not None, said.detail
    assert said.outputs["verdict"] == b"0 "


def test_block_could_be_changed_if_it_were_not_mounted_so(run_alone, doctored):
    doctored(
        "confine.py",
        lambda source: source.replace("kernel.MS_REMOUNT | kernel.MS_RDONLY", "kernel.MS_REMOUNT").replace(
            "restrict(steps, _WRITABLE)", "pass"
        ),
    )
    assert run_alone(CHANGES, {"d/a.csv": b"1"}).outputs["verdict"].decode().count("DONE") >= 6


def test_a_view_is_gone_after_its_run(ask, supervised, monkeypatch):
    monkeypatch.setattr(giving, "VIEW_ABOVE_BYTES", 3)
    script = "import os; open('/out/verdict', 'w').write(str(sorted(os.listdir('/in'))))"
    with supervised.open_slot(ask(script), slot=SLOT) as slot:
        before = sorted(supervised._scratch.path.rglob("*"))
        seen = [slot.run({name: b"1234"}).outputs["verdict"] for name in "ab"]
        seen += [slot.run({"c": b"123"}).outputs["verdict"]]  # not above: copied
        assert sorted(supervised._scratch.path.rglob("*")) == before
    assert seen == [b"['a']", b"['b']", b"['c']"]
    assert list(supervised._scratch.path.iterdir()) == []


def test_a_run_does_not_see_where_its_view_lies(run, monkeypatch):
    monkeypatch.setattr(giving, "VIEW_ABOVE_BYTES", -1)
    script = """
line = next(line for line in open("/proc/self/mountinfo") if line.split()[4] == "/in")
open("/out/verdict", "w").write(line.split()[3].rsplit("/", 1)[1])
"""
    name = run(script, syscalls=Syscalls.STANDARD).outputs["verdict"].decode()
    assert len(name) == 32
    assert set(name) <= set("0123456789abcdef")


HOSTILE = ["../escape", "/etc/x", "a/../../x", "", ".", "a//b", "a/", "x\0y", "y" * 256, "/".join("z" * 33)]


def test_block_with_a_bad_name_is_refused_and_the_slot_lives(way, supervised, ask):
    with supervised.open_slot(ask(LISTING), slot=SLOT) as slot:
        process = supervisor_of(slot)
        for name in HOSTILE:
            with pytest.raises(ValueError, match="relative"):
                slot.run({"first": b"1", name: b"1"})
        assert slot.run({"fine": b"1"}).outputs is not None
        assert supervisor_of(slot) == process


def test_names_that_contradict_each_other_are_the_platforms_fault(way, supervised, ask):
    with supervised.open_slot(ask(LISTING), slot=SLOT) as slot:
        with pytest.raises(SandboxUnavailable):
            slot.run({"a": b"", "a/b": b""})
        assert slot.run({"a": b"1"}).outputs is not None


def test_sources_are_there_to_read_and_to_execute_but_not_to_change(run_alone):
    sources = {
        "main.py": b"""
import os, subprocess
said = subprocess.run(["/pipeline/bin/say"], capture_output=True, text=True, cwd="/pipeline").stdout.strip()
facts = [oct(os.stat("/pipeline/" + name).st_mode) for name in ("", "bin", "bin/say", "main.py")]
try:
    os.chmod("/pipeline/main.py", 0o700)
except OSError as error:
    facts.append(error.strerror)
open("/out/verdict", "w").write(f"{said} {facts} {os.stat('/pipeline/main.py').st_mtime}")
""",
        "bin/say": b"#!/bin/sh\necho said by $0\n",
    }
    said = run_alone("", code=sources).outputs["verdict"].decode()
    modes = ["0o40500", "0o40500", "0o100500", "0o100500", "Read-only file system"]
    assert said == f"said by /pipeline/bin/say {modes} 946684800.0"


def test_a_source_may_be_the_command_itself(supervised, order):
    asked = order("", code={"go": b"#!/bin/sh\necho $1 $2 $3 > $2/verdict\n"}, command=("/pipeline/go",))
    with supervised.open_slot(asked, slot=SLOT) as slot:
        assert slot.run({}).outputs == {"verdict": b"/in /out participant\n"}

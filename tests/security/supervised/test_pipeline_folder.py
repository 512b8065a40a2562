"""The researcher's code as a run finds it: what was given, and nothing of what else lies beside it."""

import pytest
from sandbox_harness import SLOT

LOOK = """
import os
found = {}
for folder, _, names in os.walk("/pipeline"):
    for place in (folder, *(os.path.join(folder, name) for name in names)):
        seen = os.stat(place)
        found[place] = oct(seen.st_mode & ~0o070), seen.st_mtime_ns, seen.st_nlink, NUMBER
open("/out/verdict", "w").write(repr(sorted(found.items())))
"""
OTHERS = {f"sub-{number:02}/a.csv": b"1" for number in range(50)}


def looks(supervised, ask, number: str) -> list[bytes]:
    """Of two slots, between which a block of many files was staged."""
    seen = []
    order = ask(LOOK.replace("NUMBER", number))
    for staged in ({}, OTHERS):
        supervised._scratch.stage(staged, owner=0)
        with supervised.open_slot(order, slot=SLOT) as slot:
            seen.append(slot.run({}).outputs["verdict"])
    return seen


def test_its_inodes_do_not_tell_what_was_staged_before(supervised, ask):
    first, second = looks(supervised, ask, "seen.st_ino")
    assert first == second


@pytest.mark.parametrize("mode", ["warm"])
def test_they_would_where_it_lies(supervised, ask, doctored):
    doctored("main.py", lambda source: source.replace("    copy_pipeline()\n", ""))
    first, second = looks(supervised, ask, "seen.st_ino")
    assert first != second


@pytest.mark.parametrize("mode", ["warm"])
def test_nothing_else_of_it_changes(supervised, ask, doctored):
    copied = looks(supervised, ask, "0")
    doctored("main.py", lambda source: source.replace("    copy_pipeline()\n", ""))
    assert looks(supervised, ask, "0") == copied


def test_nobody_writes_there_and_programs_start_there(supervised, ask):
    script = """
import os, subprocess
said = [subprocess.run(["/pipeline/tool.sh"], capture_output=True, text=True).stdout]
for place in ("/pipeline/new", "/pipeline/main.py"):
    try:
        open(place, "a")
    except OSError:
        said.append("refused")
open("/out/verdict", "w").write(repr(said))
"""
    code = {"main.py": script.encode(), "tool.sh": b"#!/bin/sh\necho works\n"}
    with supervised.open_slot(ask("", code=code), slot=SLOT) as slot:
        outputs = slot.run({}).outputs
    assert outputs["verdict"] == b"['works\\n', 'refused', 'refused']"

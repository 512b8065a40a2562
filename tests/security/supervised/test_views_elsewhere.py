"""Views in a slot whose runs enter a root file system of their own: a shell, its libraries, nothing else."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_harness import SLOT, open_folder
from views import CANARY, PEOPLE, data_in, view_of

from worker.sandbox import parts
from worker.sandbox.core.images import StoredImage

SHELL = "/bin/dash"
# Reads every file that it can get at by a name, and says which hold what.
SCRIPT = b"""
for file in /in/*/*/secret.txt /in/*/*/own.txt /in/*.wav /in/../run/*/*/*/*/*/* /run/*/*/*/*/* /img/*/*/*; do
    line= && read -r line < "$file"
    test -n "$line" && echo "$file $line" >> /out/verdict
done
echo x > /in/sub-01/anat/own.txt && echo written >> /out/verdict
exit 0
"""


@pytest.fixture
def folder():
    with open_folder() as place:
        yield place


@pytest.fixture
def shell(folder) -> StoredImage:
    root = folder / "root"
    for name in ("dev", "in", "out", "tmp", "pipeline", "proc", "bin", "run/dpgate"):
        (root / name).mkdir(parents=True)
    listed = subprocess.run(["ldd", SHELL], capture_output=True, text=True, check=True).stdout
    for path in (SHELL, *re.findall(r"(/\S+) \(0x", listed)):
        target = root / path[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(path).resolve(), target)
    return StoredImage("shell", "sha256:0", root, "sha256:0", None)


@pytest.mark.parametrize("in_place", [True, False])
def test_a_view_and_nobody_else(in_place, folder, shell, supervised, order, monkeypatch):
    monkeypatch.setattr(parts, "VIEW_ABOVE_BYTES", -1)
    data = data_in(folder)
    asked = order("", image=shell, code={"go": SCRIPT}, command=(SHELL, "/pipeline/go"), roots=(data,))
    with supervised.open_slot(replace(asked, warm=None), slot=SLOT) as slot:
        everybody = slot.run(view_of(data, *PEOPLE, in_place=in_place)).outputs["verdict"].decode()
        assert everybody.count(CANARY) == 2
        alone = slot.run(view_of(data, "sub-01", "cue.wav", in_place=in_place)).outputs["verdict"].decode()
    assert alone.splitlines() == [
        "/in/sub-01/anat/secret.txt mine",
        "/in/sub-01/anat/own.txt of sub-01",
        "/in/cue.wav RIFF",
    ]

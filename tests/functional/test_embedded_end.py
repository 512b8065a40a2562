"""However a platform ends, nothing of it is left: no process, no temporary folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import alive, command_of, descendants
from terminal import Terminal
from waiting import wait_until

OURS = (
    "privacy", "formats", "drawing", "domain", "twins", "store", "desk", "gateway", "worker",
    "sandbox_images", "dpgate", "companions",
)  # fmt: skip

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files of one demo, with a path as short as /tmp's own."""
    folder = Path(tempfile.mkdtemp(prefix="dpg-"))
    yield folder
    shutil.rmtree(folder)


def quick_examples(folder: Path) -> Path:
    """The examples, with a spy that has no time to spare: what it answers is asked elsewhere."""
    shutil.copytree(EXAMPLES, folder)
    manifest = folder / "spy" / "dpgate.yaml"
    text = manifest.read_text(encoding="utf-8").replace("wall_seconds: 0.5", "wall_seconds: 0.2")
    manifest.write_text(text, encoding="utf-8")
    return folder


LATER = pytest.mark.deep("the same at other moments, and by Ctrl-C, takes a minute more")
MOMENTS = [
    (signal.SIGTERM, "worker slots"),
    pytest.param(signal.SIGKILL, "4 runs on the original", marks=LATER),
    pytest.param(signal.SIGINT, "worker slots", marks=LATER),
    pytest.param(signal.SIGTERM, "1. A rights holder", marks=LATER),
    pytest.param(signal.SIGINT, "starting Redis", marks=LATER),
    pytest.param(signal.SIGINT, "starting the gateway", marks=LATER),
    pytest.param(signal.SIGINT, "4 runs on the original", marks=LATER),
    pytest.param(signal.SIGHUP, "3. The same by", marks=LATER),
    pytest.param(signal.SIGKILL, "starting the gateway", marks=LATER),
]


@pytest.mark.parametrize(("number", "moment"), MOMENTS)
def test_a_demo_that_is_ended_leaves_nothing(
    shell: Terminal, temporary: Path, number: signal.Signals, moment: str
) -> None:
    demo = subprocess.Popen(
        [sys.executable, "-u", "-m", "dpgate", "demo"],
        cwd=shell.folder,
        env=shell.environment | {"TMPDIR": str(temporary)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert demo.stdout is not None
    with demo.stdout as lines:
        assert any(moment in line for line in lines)
        if moment == "4 runs on the original":
            wait_until(lambda: any("bwrap" in command_of(pid) for pid in descendants(demo.pid)))
        started = descendants(demo.pid)
        demo.send_signal(number)
        said = lines.read()
    assert demo.wait() == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    assert "Traceback" not in said
    wait_until(lambda: not alive(started), said="the end of all processes")
    wait_until(lambda: not list(temporary.iterdir()), said="an empty folder")


def open_to_all(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in path.parents)


def test_the_demo_works_for_an_ordinary_user(temporary: Path) -> None:
    """As a user without rights, from a copy of the checkout that this user can read."""
    checkout = temporary / "checkout"
    checkout.mkdir()
    root = Path(__file__).parents[2]
    for package in OURS:
        # with what is compiled: this user can write nothing there
        shutil.copytree(root / package, checkout / package)
    examples = quick_examples(checkout / "examples")
    home = temporary / "user"
    home.mkdir()
    interpreter, user = sys.executable, {}
    if os.getuid() == 0:
        user = {"user": 23456, "group": 23456, "extra_groups": []}
        os.chown(temporary, 23456, 23456)
        os.chown(home, 23456, 23456)
        if not open_to_all(Path(sys.executable).resolve()):
            interpreter = "/usr/bin/python3"
            # redis asks for this package on a Python before 3.11.3, for what Python 3.11 brings itself
            (checkout / "async_timeout.py").write_text("from asyncio import timeout\n", encoding="utf-8")
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    done = subprocess.run(
        [interpreter, "-m", "dpgate", "demo", "--examples", examples, "--json"],
        cwd=home,
        env={
            "HOME": str(home),
            "PATH": "/usr/bin:/bin",
            "TMPDIR": str(home),
            "PYTHONPATH": f"{checkout}:{packages}",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        **user,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    hours = [answer["value"] for answer in found["query"]["answers"]]
    # wider than the noise is with a probability of 1 in 10^10
    assert hours == pytest.approx([35.9, 40.1, 40.7, 46.3], abs=10)
    assert {found[name]["guarantee"] for name in ("query", "pipeline", "few")} == {"pure_dp"}
    assert found["spied"]["epsilon"] == "1"
    assert found["budget_left"] == "0.5"
    assert "more than the 0.5 left" in found["refusal"]
    assert [path.name for path in home.iterdir()] == ["dpgate-demo.html"]

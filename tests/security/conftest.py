"""A sandbox on this host, the things that probes attack, and orders to run them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_harness import SECRET, SLOT, TIGHT, Listeners, Targets, open_folder, stand_in_for_init
from sandbox_probes import PRELUDE

from worker.sandbox.bubblewrap import BubblewrapSandbox
from worker.sandbox.host_image import HostImage, describe
from worker.sandbox.protocol import Audience, SandboxUnavailable, SlotOrder
from worker.sandbox.scratch import Scratch
from worker.sandbox.slot_user import slot_user


@pytest.fixture(scope="session")
def image() -> HostImage:
    try:
        return describe()
    except SandboxUnavailable:  # an old distribution: then with the Python that runs the tests
        return describe(Path(sys.prefix))


@pytest.fixture(scope="session")
def order(image):
    """An order for one script, changed as a test needs it."""

    def make(script: str, **changes) -> SlotOrder:
        base = SlotOrder(
            image=image,
            code={"main.py": script.encode()},
            command=("python3", "-I", "-S", "/pipeline/main.py"),
            levels=("participant",),
            outputs=("verdict",),
            limits=TIGHT,
            audience=Audience.TWIN,
        )
        return replace(base, **changes)

    return make


@pytest.fixture
def sandbox(image, tmp_path_factory) -> Iterator[BubblewrapSandbox]:
    with (
        open_folder() as root,
        BubblewrapSandbox(image, scratch_root=root / "scratch", allow_disk_scratch=True) as it,
    ):
        yield it


@pytest.fixture
def targets(tmp_path) -> Iterator[Targets]:
    with open_folder() as folder, Listeners(folder) as listeners, stand_in_for_init() as init:
        (folder / "canary").write_text(SECRET)
        (folder / "canary").chmod(0o644)
        with Scratch(folder / "scratch", allow_disk_scratch=True) as scratch:
            other = scratch.stage({"other.csv": SECRET.encode()}, owner=slot_user(SLOT))
            both = {
                **listeners.addresses,
                "secret": SECRET,
                "canary": str(folder / "canary"),
                "other_block": str(other / "other.csv"),
                "loader_cache": "/etc/ld.so.cache",
            }
            system = ["/", "/usr/lib", "/etc", "/dev", "/proc", "/run", "/pipeline"]
            bare = {
                "init": init.pid,
                "folders": [str(folder)],
                "pipeline": str(folder),
                "room": [str(tmp_path)],
            }
            inside = {
                "init": 1,
                "folders": [str(folder), *system],
                "pipeline": "/pipeline",
                "room": ["/tmp", "/out", "/dev/shm"],
            }
            yield Targets({**both, **bare}, {**both, **inside}, folder)


@pytest.fixture
def run_bare(targets, tmp_path):
    """The control: the same script as a plain process. Returns (verdict, its output folder)."""

    def run(script: str, timeout_s: float = 20) -> tuple[str, Path]:
        given, out = tmp_path / "in", tmp_path / "out"
        given.mkdir()
        out.mkdir()
        (given / "target.json").write_text(json.dumps(targets.bare))
        (tmp_path / "main.py").write_text(PRELUDE + script)
        reading, writing = os.pipe()
        try:
            subprocess.run(
                [sys.executable, "-I", "-S", tmp_path / "main.py", given, out, "participant"],
                cwd=tmp_path,
                input=SECRET.encode(),
                pass_fds=(reading,),
                stdout=subprocess.DEVNULL,  # not a pipe: a straggler would hold it open
                stderr=subprocess.DEVNULL,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "STILL RUNNING", out
        finally:
            os.close(reading)
            os.close(writing)
        verdict = out / "verdict"
        return verdict.read_text() if verdict.is_file() else "NO VERDICT", out

    return run


@pytest.fixture
def run_inside(sandbox, order, targets):
    """The same script in the sandbox. Returns the RunResult."""

    def run(script: str, **changes):
        block = {"target.json": json.dumps(targets.inside).encode()}
        with sandbox.open_slot(order(PRELUDE + script, **changes), slot=SLOT) as slot:
            return slot.run(block)

    return run

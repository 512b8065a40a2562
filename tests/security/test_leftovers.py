"""After a run, however it ended, nothing of it is there: no process, mount, file or descriptor."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_harness import SLOT, STRAGGLER, TIGHT, open_folder, processes_with
from waiting import wait_until

from worker.sandbox.scratch import reap_scratch

ENDINGS = {
    "completed": "judge(lambda: True)",
    "failed": "raise SystemExit(3)",
    "killed": "while True: pass",
    "straggler": STRAGGLER,
}


HEAD = """
import sys, os, signal, time
OUT = "/out"
def judge(attack):
    open("/out/verdict", "w").write("x")
"""


def _state(scratch: Path) -> dict:
    return {
        "descriptors": sorted(os.listdir("/proc/self/fd")),
        "mounts": Path("/proc/self/mountinfo").read_text(),
        "scratch": sorted(path.name for path in scratch.iterdir() if path.is_dir()),
        "children": Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text(),
    }


@pytest.mark.parametrize("ending", ENDINGS)
def test_run_leaves_nothing(ending, sandbox, order):
    marker = f"marker-{ending}-{os.getpid()}"
    mine = sandbox._scratch.path
    script = HEAD + ENDINGS[ending]
    wall_s = 0.5 if ending == "killed" else 60
    changed = order(
        script, limits=replace(TIGHT, wall_s=wall_s), command=("python3", "/pipeline/main.py", marker)
    )
    before = _state(mine)
    with sandbox.open_slot(changed, slot=SLOT) as slot:
        while_open = _state(mine)
        result = slot.run({"block.csv": b"1,2"})
        assert (result.outputs is not None) == (ending in ("completed", "straggler")), result.detail
        assert _state(mine) == while_open
    assert _state(mine) == before
    assert processes_with(marker) == []


WORKER = """
import sys
from pathlib import Path
from worker.sandbox.bubblewrap import BubblewrapSandbox
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import *
image = describe(Path(sys.argv[3]) if len(sys.argv) > 3 else None)
command = ("python3", "/pipeline/main.py", sys.argv[2])
code = {"main.py": b"import time; time.sleep(600)"}
limits = Limits(600, 90, 2**28)
order = SlotOrder(image, code, command, ("participant",), (), limits, Audience.TWIN)
with BubblewrapSandbox(image, scratch_root=Path(sys.argv[1]), allow_disk_scratch=True) as sandbox:
    with sandbox.open_slot(order, slot=1) as slot:
        slot.run({"block.csv": b"1,2"})
"""


def test_killed_worker_leaves_no_process_and_its_scratch_is_reaped(image, sandbox):
    marker = f"marker-killed-worker-{os.getpid()}"
    env = [] if str(image.interpreter).startswith("/usr") else [sys.prefix]
    with open_folder() as folder:
        scratch = folder / "scratch"
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, scratch, marker, *env], cwd=Path(__file__).parents[2]
        )
        try:
            wait_until(
                lambda: len(processes_with(marker)) >= 4,  # worker, bwrap, runner, payload
                unless=lambda: worker.poll() is not None and "the worker has ended",
            )
            assert reap_scratch(scratch) == 0  # it lives
        finally:
            worker.send_signal(signal.SIGKILL)
            worker.wait()
        wait_until(lambda: processes_with(marker) == [])
        assert len(list(scratch.iterdir())) == 2
        assert reap_scratch(scratch) == 1
        assert list(scratch.iterdir()) == []

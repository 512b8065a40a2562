"""What an honest pipeline gets, what a researcher hears, and that slots do not meet."""

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_harness import SLOT, TIGHT, open_folder, packages_in
from waiting import PATIENCE_S

from worker.sandbox.host_image import describe
from worker.sandbox.protocol import MIB, Audience, Cause, RunResult, SandboxUnavailable

ECHO = """
import os, sys
given, out, level = sys.argv[1:]
with open(out + "/verdict", "a") as file:
    file.write(level + open(given + "/sub-01/a.csv").read())
"""


def _run(sandbox, order, block=None, slot=SLOT):
    with sandbox.open_slot(order, slot=slot) as it:
        return it.run(block or {"sub-01/a.csv": b"1,2\n"})


def test_levels_run_in_order_on_the_same_output(sandbox, order):
    result = _run(sandbox, order(ECHO, levels=("participant", "group")))
    assert result.outputs == {"verdict": b"participant1,2\ngroup1,2\n"}
    assert result.detail.cause is Cause.COMPLETED


def test_second_level_is_not_run_after_a_failed_first(sandbox, order):
    result = _run(
        sandbox, order("import sys; print(sys.argv[3]); sys.exit(7)", levels=("participant", "group"))
    )
    assert (result.outputs, result.detail.exit_code, result.detail.level) == (None, 7, "participant")
    assert result.detail.tail == "participant\n"


def test_researcher_sees_the_traceback_on_a_twin(sandbox, order):
    result = _run(sandbox, order("print('before'); 1 / 0"))
    assert result.outputs is None
    assert "ZeroDivisionError" in result.detail.tail
    assert "before" in result.detail.tail
    assert result.detail.cause is Cause.EXIT


def test_nobody_hears_anything_on_original_data(sandbox, order):
    failed = _run(sandbox, order("print('before'); 1 / 0", audience=Audience.ORIGINAL))
    killed = _run(
        sandbox, order("while True: pass", audience=Audience.ORIGINAL, limits=replace(TIGHT, wall_s=0.3))
    )
    assert failed == killed == RunResult(None)
    assert repr(_run(sandbox, order(ECHO, audience=Audience.ORIGINAL))) == "RunResult(detail=None)"


def test_tail_survives_the_wall_clock(sandbox, order):
    slow = order("import time; print('so far', flush=True); time.sleep(9)", limits=replace(TIGHT, wall_s=0.5))
    result = _run(sandbox, slow)
    assert (result.detail.cause, result.detail.tail) == (Cause.WALL, "so far\n")


@pytest.mark.parametrize(
    ("script", "cause", "code"),
    [("import os; os.abort()", Cause.SIGNAL, -6), ("import sys; sys.exit(127)", Cause.START, 127)],
)
def test_detail_names_the_cause(script, cause, code, sandbox, order):
    detail = _run(sandbox, order(script)).detail
    assert (detail.cause, detail.exit_code) == (cause, code)


def test_missing_command_is_a_failed_run(sandbox, order):
    assert _run(sandbox, order("", command=("no-such-command",))).detail.cause is Cause.START


def test_slot_runs_many_blocks_and_remembers_none(sandbox, order):
    script = """
import os, sys
before = [name for folder in ("/tmp", "/out", "/dev/shm") for name in os.listdir(folder)]
for folder in ("/tmp", "/out", "/dev/shm"):
    open(folder + "/trace", "w").close()
open("/out/verdict", "w").write(f"{before} {os.getpid()} {os.uname().nodename} {os.stat('/in/a').st_mtime}")
"""
    with sandbox.open_slot(order(script), slot=SLOT) as slot:
        seen = {slot.run({"a": str(block).encode()}).outputs["verdict"] for block in range(4)}
    assert seen == {b"[] 2 sandbox 946684800.0"}


def test_concurrent_slots_do_not_meet(sandbox, order):
    script = """
import os, sys, time
mine = open("/in/a").read()
open("/dev/shm/" + mine, "w").close(); open("/tmp/" + mine, "w").close()
time.sleep(0.4)
processes = sorted(name for name in os.listdir("/proc") if name.isdigit())
open("/out/verdict", "w").write(f"{mine} {os.listdir('/dev/shm')} {os.listdir('/tmp')} {processes}")
"""
    together = threading.Barrier(2)

    def run(slot: int) -> bytes:
        with sandbox.open_slot(order(script), slot=slot) as it:
            together.wait(PATIENCE_S)
            return it.run({"a": f"block{slot}".encode()}).outputs["verdict"]

    with ThreadPoolExecutor(2) as pool:  # its threads outlive the runs
        seen = list(pool.map(run, (1, 2)))
    assert seen == [f"block{n} ['block{n}'] ['block{n}'] ['1', '2']".encode() for n in (1, 2)]


EVERYDAY = """
import json, subprocess, sys, tempfile, threading
sys.path.insert(0, "/nowhere")
import numpy as np
found = []
thread = threading.Thread(target=lambda: found.append(float(np.linalg.svd(np.eye(300))[1].sum())))
thread.start(); thread.join()
rows = np.genfromtxt("/in/a.csv", delimiter=",", names=True)
with tempfile.TemporaryDirectory() as folder:
    np.save(folder + "/x.npy", rows["x"])
    mapped = np.load(folder + "/x.npy", mmap_mode="r")
    found.append(float(np.median(mapped)))
found.append(int(subprocess.run([sys.executable, "-S", "-c", "print(6 * 7)"], capture_output=True).stdout))
json.dump(found, open("/out/verdict", "w"))
"""


def test_numpy_works(sandbox, order, image):
    with suppress(SandboxUnavailable):  # closed to slot users: then its packages for the system's interpreter
        image = describe(Path(sys.prefix))
    with open_folder() as folder:
        site = packages_in(folder / "site", "numpy")
        with_numpy = replace(image, binds=(*image.binds, site))
        script = EVERYDAY.replace("/nowhere", str(site))
        changed = order(script, image=with_numpy, limits=replace(TIGHT, memory_bytes=512 * MIB, wall_s=30))
        result = _run(sandbox, changed, {"a.csv": b"x,y\n1,2\n3,4\n5,6\n"})
    assert result.outputs is not None, result.detail
    assert json.loads(result.outputs["verdict"]) == [300.0, 3.0, 42]


def test_operators_environment_is_mounted_where_it_is(sandbox, order):
    with open_folder() as folder:
        env = folder / "env"
        subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", env], check=True)
        try:
            image = describe(env)
        except SandboxUnavailable:  # the Python that runs the tests is closed to slot users
            subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", "--without-pip", env], check=True)
            image = describe(env)
        script = "import sys; open('/out/verdict', 'w').write(sys.prefix)"
        result = _run(sandbox, order(script, image=image, command=("python3", "/pipeline/main.py")))
        assert result.outputs == {"verdict": str(env).encode()}, result.detail


@pytest.mark.parametrize(
    "change",
    [
        {"outputs": ("../etc/passwd",)},
        {"outputs": ("/etc/passwd",)},
        {"outputs": ("a", "a")},
        {"command": ()},
        {"levels": ()},
        {"limits": replace(TIGHT, wall_s=0)},
        {"code": {"../x.py": b""}},
    ],
)
def test_bad_order_is_refused(change, sandbox, order):
    with pytest.raises(ValueError):  # noqa: PT011 - whichever sentence it is
        sandbox.open_slot(order("", **change), slot=SLOT)


def test_block_with_a_bad_name_is_refused(sandbox, order):
    with sandbox.open_slot(order(ECHO), slot=SLOT) as slot, pytest.raises(ValueError, match="relative"):
        slot.run({"../../escape": b""})


def test_full_scratch_is_the_platforms_fault(sandbox, order):
    too_long = "x" * 255 + "/" + "y" * 255
    with (
        sandbox.open_slot(order(ECHO), slot=SLOT) as slot,
        pytest.raises(SandboxUnavailable, match="scratch"),
    ):
        slot.run({"a": b"", "a/b": b"", too_long: b""})

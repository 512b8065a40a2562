"""What an honest pipeline gets, and what a researcher hears."""

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sandbox_harness import SLOT, TIGHT, open_folder, packages_in

from worker.sandbox.host_image import describe
from worker.sandbox.protocol import MIB, Cause, SandboxUnavailable

ECHO = """
import os, sys
given, out, level = sys.argv[1:]
with open(out + "/verdict", "a") as file:
    file.write(level + open(given + "/sub-01/a.csv").read())
"""


def _run(supervised, order, block=None, slot=SLOT):
    with supervised.open_slot(order, slot=slot) as it:
        return it.run(block or {"sub-01/a.csv": b"1,2\n"})


def test_researcher_sees_the_traceback_on_a_twin(supervised, order):
    result = _run(supervised, order("print('before'); 1 / 0"))
    assert result.outputs is None
    assert "ZeroDivisionError" in result.detail.tail
    assert "before" in result.detail.tail
    assert result.detail.cause is Cause.EXIT


def test_tail_survives_the_wall_clock(supervised, order):
    slow = order("import time; print('so far', flush=True); time.sleep(9)", limits=replace(TIGHT, wall_s=0.5))
    result = _run(supervised, slow)
    assert (result.detail.cause, result.detail.tail) == (Cause.WALL, "so far\n")


def test_slot_runs_many_blocks_and_remembers_none(supervised, order):
    script = """
import os, sys
before = [name for folder in ("/tmp", "/out", "/dev/shm") for name in os.listdir(folder)]
for folder in ("/tmp", "/out", "/dev/shm"):
    open(folder + "/trace", "w").close()
open("/out/verdict", "w").write(f"{before} {os.getpid()} {os.uname().nodename} {os.stat('/in/a').st_mtime}")
"""
    with supervised.open_slot(order(script), slot=SLOT) as slot:
        seen = {slot.run({"a": str(block).encode()}).outputs["verdict"] for block in range(4)}
    assert seen == {b"[] 1 sandbox 946684800.0"}


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


def test_numpy_works(supervised, order, image):
    with suppress(SandboxUnavailable):  # closed to slot users: then its packages for the system's interpreter
        image = describe(Path(sys.prefix))
    with open_folder() as folder:
        site = packages_in(folder / "site", "numpy")
        with_numpy = replace(image, binds=(*image.binds, site))
        script = EVERYDAY.replace("/nowhere", str(site))
        changed = order(script, image=with_numpy, limits=replace(TIGHT, memory_bytes=512 * MIB, wall_s=30))
        result = _run(supervised, changed, {"a.csv": b"x,y\n1,2\n3,4\n5,6\n"})
    assert result.outputs is not None, result.detail
    assert json.loads(result.outputs["verdict"]) == [300.0, 3.0, 42]


def test_operators_environment_is_mounted_where_it_is(supervised, order):
    with open_folder() as folder:
        env = folder / "env"
        subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", env], check=True)
        try:
            image = describe(env)
        except SandboxUnavailable:  # the Python that runs the tests is closed to slot users
            subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", "--without-pip", env], check=True)
            image = describe(env)
        script = "import sys; open('/out/verdict', 'w').write(sys.prefix)"
        result = _run(supervised, order(script, image=image, command=("python3", "/pipeline/main.py")))
        assert result.outputs == {"verdict": str(env).encode()}, result.detail

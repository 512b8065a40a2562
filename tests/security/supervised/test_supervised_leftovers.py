"""After a run, or a killed worker, nothing is left: no process, mount, file, descriptor, control group."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

from open_files import nothing_stays_open
from sandbox_harness import SLOT, TIGHT, open_folder, processes_with
from supervisors import children_of, is_gone, processes_of
from waiting import wait_until

from worker.sandbox.leftovers import reap_scratch
from worker.sandbox.supervised import SupervisedSandbox

WAIT = "import time; print('started', flush=True); time.sleep(20)"
ECHO = "open('/out/verdict', 'w').write(open('/in/a').read())"
WORKER = """
import sys
from pathlib import Path
from worker.sandbox.supervised import SupervisedSandbox
from worker.sandbox.core.images import HostImage
from worker.sandbox.protocol import *
root, marker, warm, image = sys.argv[1:]
image = eval(image, {"HostImage": HostImage, "PosixPath": Path})
inside = b"import subprocess, sys; subprocess.run(['sleep', '98'])"
command = ("python3", "/pipeline/main.py", marker)
limits = Limits(90, 90, 2**28)
order = SlotOrder(image, {"main.py": inside}, command, ("participant",), (), limits, Audience.TWIN,
                  warm=() if warm == "warm" else None)
with SupervisedSandbox(image, scratch_root=Path(root), allow_disk_scratch=True) as sandbox:
    with sandbox.open_slot(order, slot=1) as slot:
        slot.run({"block.csv": b"1,2"})
"""


def test_a_killed_worker_leaves_no_process_and_its_scratch_is_reaped(image, mode):
    marker = f"marker-{mode}-{os.getpid()}"
    with open_folder() as folder:
        scratch = folder / "scratch"
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, scratch, marker, mode, repr(image)], cwd=Path(__file__).parents[3]
        )
        try:
            wait_until(lambda: len(descendants(worker.pid)) >= 4)  # bwrap, supervisor, payload, its child
            inside = descendants(worker.pid)
            assert reap_scratch(scratch) == 0  # it lives
        finally:
            worker.send_signal(signal.SIGKILL)
            worker.wait()
        wait_until(lambda: processes_with(marker) == [] and all(map(is_gone, inside)))
        with SupervisedSandbox(image, scratch_root=scratch, allow_disk_scratch=True) as next_worker:
            assert next_worker.reap() == 1
        assert [path.name for path in scratch.iterdir()] == ["slots"]
        assert groups_of(worker.pid) == []


def groups_of(worker: int) -> list[str]:
    """`Path.rglob` fails where a folder goes while it walks, and other tests end slots meanwhile."""
    folders = (names for _, names, _ in os.walk("/sys/fs/cgroup"))
    return [name for names in folders for name in names if name.startswith(f"dpgate-{worker}-")]


def descendants(process: int) -> list[int]:
    found = [process]
    for each in found:
        found += children_of(each)
    return found[1:]


ENDINGS = {
    "completed": ECHO,
    "failed": "raise SystemExit(3)",
    "killed": "while True: pass",
    "straggler": f"import os\nif os.fork() == 0:\n    os.setsid()\n    {WAIT}\n{ECHO}",
    "deep": "import os\nfor _ in range(900):\n    os.mkdir('d'); os.chdir('d')\n" + ECHO,
}
ENDS_WELL = ("completed", "straggler", "deep")


def test_a_run_leaves_nothing(supervised, ask, subtests):
    for ending, script in ENDINGS.items():
        with subtests.test(msg=ending):
            asked = ask(script, limits=replace(TIGHT, wall_s=0.5) if ending == "killed" else TIGHT)
            before = state_of(supervised)
            with nothing_stays_open(), supervised.open_slot(asked, slot=SLOT) as slot:
                while_open, inside = state_of(supervised), processes_of(slot)
                with nothing_stays_open():
                    result = slot.run({"a": b"1"})
                assert (result.outputs is not None) == (ending in ENDS_WELL), result.detail
                assert state_of(supervised) <= while_open
                assert processes_of(slot) == inside
            assert state_of(supervised) <= before
            assert all(map(is_gone, inside))


def state_of(supervised) -> set[str]:
    """Mounts, scratch and children. Children of earlier tests may be buried at any moment."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    own = str(supervised._scratch.path)
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
    return {
        *(line for line in mounts if own in line),
        *(path.name for path in supervised._scratch.path.iterdir()),
        *(f"child {number}" for number in children),
    }

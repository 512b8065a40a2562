"""Slots' control groups in the running kernel: what a run may not take is there for the taking without one.

Where this host lets the test make no groups, the worker makes none either and says why: then that is what
is tested.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE_S, let_pass, wait_until

from sandbox_images.supervisor.memory import resident_of
from worker.sandbox.core.cgroup import SlotGroup, why_no_groups
from worker.sandbox.core.cgroup_tree import processes_of
from worker.sandbox.leftovers import reap_groups
from worker.sandbox.protocol import MIB

DELEGATED = why_no_groups() is None
ROOM = {"memory_bytes": 64 * MIB, "processes": 12, "cpus": 0.25}
REPOSITORY = str(Path(__file__).parents[3])

TAKE_MEMORY = "x = bytearray(b'x') * (100 << 20)"
TAKE_TMPFS = """
import os, tempfile
with tempfile.TemporaryFile(dir="/dev/shm") as file:
    for _ in range(100): file.write(b"x" * (1 << 20))
    file.flush()
"""
TAKE_UNSEEN = """
import os
memory = os.memfd_create("unseen")
for _ in range(100): os.write(memory, b"x" * (1 << 20))
"""
TAKE_PROCESSES = """
import os, time
born = 0
try:
    for _ in range(30):
        if os.fork() == 0: time.sleep(30); os._exit(0)
        born += 1
except BlockingIOError: pass
print(born, flush=True)
time.sleep(30)
"""
TAKE_TIME = """
import time
end = time.monotonic() + 1
while time.monotonic() < end: pass
print(time.process_time())
"""


@pytest.fixture
def group():
    made = SlotGroup.create("slot-0", **ROOM)
    assert (made is not None) == DELEGATED
    yield made
    if made:
        made.close()


def start(lines: str, group: SlotGroup | None) -> "subprocess.Popen[str]":
    """A child that begins only when it is in the group."""
    argv = [sys.executable, "-I", "-S", "-c", f"input()\n{lines}"]
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if group:
        group.add(child.pid)
    assert child.stdin
    child.stdin.write("\n")
    child.stdin.flush()
    return child


def memory_of(group: SlotGroup) -> int:
    """Of everything that its processes touched first and that still exists."""
    (file,) = (
        group._folders[0] / name
        for name in ("memory.usage_in_bytes", "memory.current")
        if (group._folders[0] / name).exists()
    )
    return int(file.read_text())


def ended(lines: str, group: SlotGroup | None) -> int:
    with start(lines, group) as child:
        return child.wait(PATIENCE_S)


@pytest.mark.needs(process=True)
@pytest.mark.parametrize("taken", [TAKE_MEMORY, TAKE_TMPFS, TAKE_UNSEEN], ids=["memory", "tmpfs", "memfd"])
def test_memory_is_limited_whatever_holds_it(taken, group):
    assert ended(taken, None) == 0
    assert ended(taken, group) == (-signal.SIGKILL if group else 0)


@pytest.mark.needs(process=True)
def test_what_the_watchdog_cannot_see_the_group_counts(group):
    half = TAKE_UNSEEN.replace("100", "40") + "print(flush=True)\nimport time; time.sleep(30)"
    with start(half, group) as child:
        assert child.stdout
        child.stdout.readline()
        assert resident_of(child.pid) < 30 * MIB
        if group:
            assert 40 * MIB < memory_of(group) <= 64 * MIB
        child.kill()


@pytest.mark.needs(process=True)
def test_processes_are_limited(group):
    for place, expected in ((None, 30), (group, 11 if group else 30)):
        with start(TAKE_PROCESSES, place) as child:
            assert child.stdout
            try:
                assert int(child.stdout.readline()) == expected
            finally:
                _end_family(child.pid)


@pytest.mark.needs(process=True)
def test_processors_are_limited(group):
    """An upper bound only: a busy host gives less to everybody."""
    with start(TAKE_TIME, group) as child:
        assert child.stdout
        used_s = float(child.stdout.readline())
    assert used_s < 0.5 if group else used_s > 0


@pytest.mark.needs(process=True)
def test_kill_ends_all_and_the_group_can_be_used_again(group):
    if group is None:
        assert SlotGroup.create("slot-0", **ROOM) is None
        return
    with start(TAKE_PROCESSES, group) as child:
        assert child.stdout
        assert int(child.stdout.readline()) == 11
        assert len(processes_of(group._folders[0])) == 12
        group.kill()
        assert processes_of(group._folders[0]) == ()
        assert child.wait(PATIENCE_S) == -signal.SIGKILL
    assert (group._folders[0] / "cgroup.procs").exists()
    assert ended(TAKE_MEMORY, group) == -signal.SIGKILL  # the limits still hold
    assert ended("print()", group) == 0


@pytest.mark.needs(process=True)
def test_kill_outruns_whoever_forks_all_the_time(group):
    restless = "import os\nwhile True:\n    try:\n        if os.fork(): os._exit(0)\n    except OSError: pass"
    if group is None:
        assert not DELEGATED
        return
    with start(restless, group) as child:
        assert child.wait(PATIENCE_S) == 0  # its child goes on
        group.kill()
        let_pass(0.1, because="whoever got away would fork on in the group")
        assert processes_of(group._folders[0]) == ()


@pytest.mark.needs(process=True)
def test_close_ends_what_is_left(group):
    with start("import time; time.sleep(60)", group) as child:
        if group:
            group.close()
            assert child.wait(PATIENCE_S) == -signal.SIGKILL
            group.close()  # nothing left to do
        child.kill()


@pytest.mark.needs(process=True)
def test_ended_process_cannot_be_added(group):
    child = subprocess.Popen(["/bin/true"])
    child.wait()
    if group:
        with pytest.raises(ProcessLookupError):
            group.add(child.pid)


def test_odd_names_are_refused(subtests):
    for name in ("", "../up", "UPPER", "a/b", "-x", "x" * 33):
        with subtests.test(name=name), pytest.raises(ValueError, match="not a name"):
            SlotGroup.create(name, **ROOM)


WORKER = f"""
import subprocess, sys, time
sys.path.insert(0, {REPOSITORY!r})
from worker.sandbox.core.cgroup import SlotGroup
group = SlotGroup.create("slot-7", memory_bytes=64 << 20, processes=12, cpus=1)
left = subprocess.Popen(["/bin/sleep", "300"])
if group: group.add(left.pid)
print(left.pid, *(group._folders if group else ()), flush=True)
time.sleep(300)
"""


@pytest.mark.needs(process=True)
def test_a_dead_workers_groups_are_reaped_and_a_living_ones_are_not(group):
    reap_groups()  # of whoever was here before
    with subprocess.Popen([sys.executable, "-c", WORKER], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout
        left, *folders = worker.stdout.readline().split()
        assert reap_groups() == 0
        assert all(processes_of(Path(folder)) == (int(left),) for folder in folders)
        worker.send_signal(signal.SIGKILL)  # from here to the end of the block it is a zombie: dead enough
        os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
        assert reap_groups() == (1 if DELEGATED else 0)
    assert not any(Path(folder).exists() for folder in folders)
    assert group is None or processes_of(group._folders[0]) == ()  # ours still stands
    if not DELEGATED:
        os.kill(int(left), signal.SIGKILL)
    wait_until(lambda: _is_gone(int(left)), said="the end of what the dead worker had started")


def test_reused_number_and_foreign_namespace(group):
    """The same process number with another start time is another worker; of another namespace, who knows."""
    if group is None:
        assert reap_groups() == 0
        return
    ours = group._folders[0]
    _, pid, start_time, namespace, *_ = ours.name.split("-")
    dead = ours.with_name(f"dpgate-{pid}-{int(start_time) - 1}-{namespace}-slot-0")
    foreign = ours.with_name(f"dpgate-{pid}-{int(start_time) - 1}-{int(namespace) + 1}-slot-0")
    dead.mkdir()
    foreign.mkdir()
    try:
        # workers of other tests reap too, and may have been first
        assert reap_groups() <= 1
        assert not dead.exists()
        assert foreign.exists()
        assert ours.exists()
    finally:
        foreign.rmdir()


def _end_family(pid: int) -> None:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for each in (pid, *map(int, children)):
        os.kill(each, signal.SIGKILL)


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True

"""Each limit stops what it is for, warm and cold; the same script without it comes to its end."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_harness import SLOT, TIGHT
from supervisors import supervisor_of, zygote_of
from waiting import let_pass

from worker.sandbox.core.cgroup import why_no_groups
from worker.sandbox.protocol import KIB, MIB, Cause, SandboxUnavailable

REACHED = "open('/out/verdict', 'w').write('reached')\n"
COUNT = "import errno, os\ncount = 0\ntry:\n    while count < {most}:\n        {step}\n        count += 1\n"
STOPPED = "except OSError as error:\n    raise SystemExit(f'{count} {errno.errorcode[error.errno]}')\n"


def counting(step: str, most: int) -> str:
    return COUNT.format(step=step, most=most) + STOPPED + REACHED


WIDE = replace(TIGHT, processes=200, open_files=400, inodes=3000, tmp_bytes=32 * MIB, output_bytes=32 * MIB)
# name: (script, the narrow limits, how it ends)
CASES = {
    "wall": ("import time; time.sleep(1)\n" + REACHED, {"wall_s": 0.4}, Cause.WALL),
    "cpu": (
        "import time\nwhile time.process_time() < 1.3: pass\n" + REACHED,
        {"cpu_s": 1},
        Cause.SIGNAL,
    ),
    "memory": (
        "import time\nb = bytearray(b'x') * (150 << 20)\ntime.sleep(0.3)\n" + REACHED,
        {"memory_bytes": 80 * MIB},
        Cause.MEMORY,
    ),
    "memory behind names": (
        "import ctypes, os, time\nctypes.CDLL(None).prctl(15, b'\\rRssAnon: -9999', 0, 0, 0)\nchildren = []\n"
        "for _ in range(30):\n    pid = os.fork()\n    if pid == 0:\n"
        "        time.sleep(1); os._exit(0)\n    children.append(pid)\n"
        "b = bytearray(b'x') * (150 << 20); time.sleep(0.3)\n"
        "for pid in children: os.waitpid(pid, 0)\n" + REACHED,
        {"memory_bytes": 120 * MIB},
        Cause.MEMORY,
    ),
    "memory without a first thread": (
        "import ctypes, os, threading, time\ndef hog():\n    b = bytearray(b'x') * (150 << 20)\n"
        "    time.sleep(0.5); os._exit(0)\nif os.fork() == 0:\n    threading.Thread(target=hog).start()\n"
        "    ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 0)\n"
        "os.wait()\n" + REACHED,
        {"memory_bytes": 120 * MIB},
        Cause.MEMORY,
    ),
    "memory of children": (
        "import os, time\nchildren = []\nfor _ in range(4):\n    pid = os.fork()\n    if pid == 0:\n"
        "        b = bytearray(b'x') * (40 << 20); time.sleep(0.5); os._exit(0)\n    children.append(pid)\n"
        "for pid in children: os.waitpid(pid, 0)\n" + REACHED,
        {"memory_bytes": 120 * MIB},
        Cause.MEMORY,
    ),
    "address space": (
        "import mmap\nmmap.mmap(-1, 2300 << 20, 2)\n" + REACHED,
        {"memory_bytes": 80 * MIB},
        "Cannot",
    ),
    "processes": (
        counting("if os.fork() == 0: import signal; signal.pause()", 30),
        {"processes": 20},
        "19 EAGAIN",
    ),
    "threads": (
        "import threading, time\nfor _ in range(30):\n"
        "    threading.Thread(target=time.sleep, args=(0.3,)).start()\n" + REACHED,
        {"processes": 20},
        "can't start new thread",
    ),
    "open files": (counting("os.open('/dev/null', 0)", 100), {"open_files": 64}, "61 EMFILE"),
    "tmp": (
        counting("os.write(os.open('/tmp/x', 1026 | 64, 384), b'x' * 65536)", 100),
        {"tmp_bytes": 4 * MIB},
        "64 ENOSPC",
    ),
    "shm": (
        counting("os.write(os.open('/dev/shm/x', 1026 | 64, 384), b'x' * 65536)", 100),
        {"tmp_bytes": 4 * MIB},
        "64 ENOSPC",
    ),
    "out": (
        counting("os.write(os.open('/out/x', 1026 | 64, 384), b'x' * 65536)", 100),
        {"output_bytes": 4 * MIB},
        "64 ENOSPC",
    ),
    "file size": (
        "import errno, os\ncount = 0\ntry:\n    os.truncate(os.open('/tmp/x', 66, 384), 20 << 20)\n"
        + STOPPED
        + REACHED,
        {"tmp_bytes": 4 * MIB, "output_bytes": 4 * MIB},
        "0 EFBIG",
    ),
    "files": (counting("open(f'/tmp/{count}', 'w').close()", 1500), {"inodes": 1000}, "999 ENOSPC"),
    "folders": (
        counting(
            "os.mkdir('/dev/shm/d'); os.chdir('/dev/shm/d'); os.rename('/dev/shm/d', f'/dev/shm/{count}')",
            1500,
        ),
        {"inodes": 1000},
        "999 ENOSPC",
    ),
    "collected file": (
        "open('/out/verdict', 'wb').write(b'x' * 5000)\n",
        {"file_bytes": 4 * KIB},
        Cause.OUTPUT,
    ),
}


def test_limit_stops(run, subtests):
    for name, (script, narrow, ending) in CASES.items():
        with subtests.test(msg=name):
            detail = run(script, limits=replace(WIDE, **narrow)).detail
            if isinstance(ending, Cause):
                assert detail.cause is ending, detail
            else:
                assert detail.cause is Cause.EXIT, detail
                assert ending in detail.tail


@pytest.mark.parametrize("mode", ["warm"])  # the scripts are the same
def test_the_same_script_reaches_its_end_without_the_limit(run, subtests):
    for name, (script, _, _) in CASES.items():
        with subtests.test(msg=name):
            result = run(script, limits=WIDE)
            assert result.outputs is not None, result.detail


def test_a_fork_bomb_ends_with_its_run(run):
    script = "import os, signal\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"
    enough = 1024 * MIB  # a page that processes share counts in each of them
    assert run(script, limits=replace(TIGHT, wall_s=0.7, memory_bytes=enough)).detail.cause is Cause.WALL


def test_nobody_can_outlive_a_run(supervised, ask):
    """A daemon that ignores every signal and goes on writing: dead before the output is read."""
    script = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        with open("/out/verdict", "a") as file:
            file.write("x")
while not os.path.exists("/out/verdict") or not os.path.getsize("/out/verdict"):
    time.sleep(0.01)
"""
    with supervised.open_slot(ask(script), slot=SLOT) as slot:
        reports = [slot._seat.run({}, {}, within_s=None) for _ in range(2)]
        for report in reports:
            file = os.open("verdict", os.O_RDONLY, dir_fd=report.folder)
            size = os.fstat(file).st_size
            assert size > 0
            let_pass(0.1, because="whoever lived would write in this time")
            assert os.fstat(file).st_size == size
            os.close(file)
            os.close(report.folder)


def test_runs_are_born_in_the_slots_own_control_group(supervised, ask):
    with supervised.open_slot(ask(REACHED), slot=SLOT) as slot:
        if slot._seat.group is None:  # a worker that may make none: then nobody promises one
            assert why_no_groups() is not None
            return
        assert "-slot-" in Path(f"/proc/{zygote_of(slot)}/cgroup").read_text()
        # runs that use up its share of processors would keep it from ending them
        assert "-slot-" not in Path(f"/proc/{supervisor_of(slot)}/cgroup").read_text()


@pytest.mark.parametrize("name", [b"\rRssAnon: x", b"\x0bRssAnon:", b"\xc2\x85RssAnon: 1"])
def test_no_name_of_a_process_is_the_platforms_failure(name, supervised, ask):
    script = (
        f"import ctypes, time; ctypes.CDLL(None).prctl(15, {name!r}, 0, 0, 0); time.sleep(0.2)\n{REACHED}"
    )
    with supervised.open_slot(ask(script), slot=SLOT) as slot:
        assert slot.run({}).detail.cause is Cause.COMPLETED


@pytest.mark.parametrize("mode", ["warm"])
def test_it_would_be_where_lines_end_elsewhere(supervised, ask, doctored):
    doctored("memory.py", lambda source: source.replace('split(b"\\n")', "splitlines()"))
    script = "import ctypes, time; ctypes.CDLL(None).prctl(15, b'\\rRssAnon: x', 0, 0, 0); time.sleep(2)"
    with (
        supervised.open_slot(ask(script), slot=SLOT) as slot,
        pytest.raises(SandboxUnavailable, match="ValueError in the supervisor"),
    ):
        slot.run({})

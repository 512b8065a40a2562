"""The figures by which a run is stopped, taken of processes that we know."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from worker.sandbox.watch import can_list_children, resident_bytes

MIB = 1024 * 1024
FAMILY = """
import os, sys, time
if os.fork() == 0:
    if os.fork() == 0:
        grandchild = bytearray(b"x") * (40 << 20)
    print(flush=True)
    time.sleep(99)
time.sleep(99)
"""


@pytest.fixture
def family():
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", FAMILY], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.readline()
        yield process.pid
        for pid in _tree(process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _tree(pid):
    from worker.sandbox.watch import _children_of

    return [pid, *(each for child in _children_of(pid) for each in _tree(child))]


@pytest.mark.needs(process=True)
def test_memory_of_descendants_counts(family):
    assert 40 * MIB < resident_bytes(family) < 90 * MIB


@pytest.mark.needs(process=True)
def test_ended_process_counts_nothing():
    process = subprocess.Popen(["/bin/true"])
    process.wait()
    assert resident_bytes(process.pid) == 0


def test_this_kernel_tells():
    assert can_list_children()

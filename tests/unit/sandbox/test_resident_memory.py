"""The figures by which a run is stopped, taken of processes that we know."""

import subprocess
import sys

import pytest

from sandbox_images.supervisor.memory import resident_of
from worker.sandbox.protocol import MIB

HOLDS = "held = bytearray(b'x') * (40 << 20); print(flush=True); input()"


@pytest.mark.needs(process=True)
def test_what_a_process_holds_counts():
    command = [sys.executable, "-I", "-S", "-c", HOLDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert 40 * MIB < resident_of(process.pid) < 60 * MIB


@pytest.mark.needs(process=True)
def test_ended_process_counts_nothing():
    process = subprocess.Popen(["/bin/true"])
    process.wait()
    assert resident_of(process.pid) == 0

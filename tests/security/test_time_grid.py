"""Time is the channel that no sandbox closes: a long run tells the next one, by the clock alone."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import pytest
from sandbox_harness import SLOT, open_folder

from worker.sandbox.protocol import Audience
from worker.sandbox.supervised import SupervisedSandbox
from worker.time_grid import TimeGrid

QUANTUM_S, LAG_S = 0.5, 0.15
# the sender sleeps if its block says so; the receiver, a run on the next block, writes down its clock
SCRIPT = f"""
import sys, time
now = time.clock_gettime(time.CLOCK_MONOTONIC)
open("/out/verdict", "w").write(repr(now))
if open("/in/data.csv").read() == "1":
    time.sleep({LAG_S})
"""


@pytest.fixture(scope="module")
def receivers(image, order):
    """What the clock of the second of two runs says after their common start, for each bit of the first."""

    def run(bits: Sequence[int], *, padded: bool) -> list[float]:
        wanted = order(SCRIPT, command=("python3", "/pipeline/main.py"), warm=(), audience=Audience.ORIGINAL)
        heard = []
        with (
            open_folder() as root,
            SupervisedSandbox(image, scratch_root=root / "scratch", allow_disk_scratch=True) as sandbox,
            sandbox.open_slot(wanted, slot=SLOT) as slot,
        ):
            for bit in bits:
                start = time.monotonic() + 0.05
                grid = TimeGrid(start=start, quantum_s=QUANTUM_S, padded=padded)
                grid.wait_for(0)
                slot.run({"data.csv": b"%d" % bit})
                grid.wait_for(1)
                result = slot.run({"data.csv": b"0"})
                heard.append(float(result.outputs["verdict"]) - start)
        return heard

    return run


BITS = (0, 1) * 5


def difference(heard: list[float]) -> float:
    """Between the medians for 1 and for 0; medians, because this host does other things too."""
    zeros = [value for value, bit in zip(heard, BITS, strict=True) if bit == 0]
    ones = [value for value, bit in zip(heard, BITS, strict=True) if bit == 1]
    return statistics.median(ones) - statistics.median(zeros)


def test_without_a_grid_the_next_run_hears_the_bit(receivers) -> None:
    assert difference(receivers(BITS, padded=False)) > LAG_S / 2


def test_on_the_grid_it_does_not(receivers) -> None:
    assert abs(difference(receivers(BITS, padded=True))) < LAG_S / 4

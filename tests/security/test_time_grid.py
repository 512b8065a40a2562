"""Time is the channel that no sandbox closes: a long run tells the next one, by the clock alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sandbox_harness import SLOT, open_folder

from worker.sandbox.protocol import Audience
from worker.sandbox.supervised import SupervisedSandbox
from worker.time_grid import TimeGrid

QUANTUM_S, LAG_S = 0.6, 0.3
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
                grid = TimeGrid(start=_clock_of(slot, 0) + 0.05, quantum_s=QUANTUM_S, padded=padded)
                grid.wait_for(0)
                start = grid.start
                _clock_of(slot, bit)
                grid.wait_for(1)
                heard.append(_clock_of(slot, 0) - start)
        return heard

    return run


def _clock_of(slot, bit: int) -> float:
    """What a run reads, which is what the whole host reads."""
    return float(slot.run({"data.csv": b"%d" % bit}).outputs["verdict"])


BITS = (0, 1) * 5


def difference(heard: list[float]) -> float:
    """Between the earliest for 1 and for 0: whatever else this host does, it makes nobody earlier."""
    zeros = [value for value, bit in zip(heard, BITS, strict=True) if bit == 0]
    ones = [value for value, bit in zip(heard, BITS, strict=True) if bit == 1]
    return min(ones) - min(zeros)


def test_without_a_grid_the_next_run_hears_the_bit(receivers) -> None:
    assert difference(receivers(BITS, padded=False)) > LAG_S / 2


def test_on_the_grid_it_does_not(receivers) -> None:
    assert abs(difference(receivers(BITS, padded=True))) < LAG_S / 4

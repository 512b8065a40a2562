"""How late the next run begins after one that is slow to die, on a time grid.

    python benchmarks/lateness.py [--memory-mib N] [--processes N] [--wall-s S] [--repeats N] [--seats N]

Each hostile run of `tests/slow_to_die.py` is followed by a quiet one, as often as asked, in one slot with the
turns that the schedule of such a pipeline has. `--seats 1` is a slot without a second supervisor. Printed for
each: when the quiet run began after its edge, median and most; how many of them were not made, because the
seat was not free or it was too late; and how many began, and were cut off at the end of their turn. A busy
machine beside it is yours to make.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from slow_to_die import NAMES, slow_to_die  # noqa: E402

from domain.carrying import DYING_S, DYING_S_PER_PROCESS, FREED_AT_ONCE_MIB, FREED_MIB_PER_S  # noqa: E402
from domain.schedule import Schedule  # noqa: E402
from worker.sandbox.host_image import describe  # noqa: E402
from worker.sandbox.protocol import MIB, Audience, Limits, SlotOrder  # noqa: E402
from worker.sandbox.supervised import SupervisedSandbox, SupervisedSlot  # noqa: E402
from worker.time_grid import TimeGrid  # noqa: E402

SCRATCH_MIB = 64


def main() -> None:
    """Print one line for each script."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--memory-mib", type=int, default=512)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--wall-s", type=float, default=2.0)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seats", type=int)
    parser.add_argument("names", nargs="*", default=NAMES)
    asked = parser.parse_args()
    held = asked.memory_mib + SCRATCH_MIB
    schedule = Schedule(
        runs=2 * asked.repeats + 1, wall_s=asked.wall_s, slots=1, nominal_size=1,
        carrying_s=max(0, held - FREED_AT_ONCE_MIB) / FREED_MIB_PER_S,
        dying_s=DYING_S + DYING_S_PER_PROCESS * asked.processes,
    )  # fmt: skip
    seats = asked.seats or schedule.seats_of(0)
    print(f"turns of {schedule.quantum_s:.2f} s, {seats} seats")
    with (
        open_folder() as folder,
        SupervisedSandbox(describe(), scratch_root=folder / "scratch") as sandbox,
    ):
        for name in asked.names:
            order = ordered(name, asked, seats)
            with sandbox.open_slot(order, slot=os.getpid() % 9000) as slot:
                print(f"{name:45s}{measured(slot, schedule.quantum_s, asked.repeats)}", flush=True)


@contextmanager
def open_folder() -> Iterator[Path]:
    """In memory, and open for slots' users to pass."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def ordered(name: str, asked: argparse.Namespace, seats: int) -> SlotOrder:
    """A warm one, on original data."""
    source = slow_to_die(name, memory_mib=asked.memory_mib, processes=asked.processes)
    limits = Limits(
        wall_s=asked.wall_s, cpu_s=100, memory_bytes=asked.memory_mib * MIB, processes=asked.processes,
        tmp_bytes=SCRATCH_MIB * MIB,
    )  # fmt: skip
    return SlotOrder(
        image=describe(), code={"main.py": source.encode()}, command=("python3", "/pipeline/main.py"),
        levels=("group",), outputs=("verdict",), limits=limits, audience=Audience.ORIGINAL, warm=(),
        seats=seats,
    )  # fmt: skip


def measured(slot: SupervisedSlot, quantum_s: float, repeats: int) -> str:
    """Of turns that are hostile and quiet one after the other."""
    grid = TimeGrid(start=time.monotonic() + 0.1, quantum_s=quantum_s, padded=True)
    late_s, not_made, cut = [], 0, 0
    for turn in range(2 * repeats + 1):
        is_hostile = turn % 2 == 1
        on_time = grid.wait_for(turn)
        if not slot.take_turn(turn, on_time=on_time):
            not_made += not is_hostile
            continue
        result = slot.run({"data.csv": b"%d" % is_hostile}, within_s=grid.left_s(turn))
        if not is_hostile and result.outputs is not None:
            late_s.append(float(result.outputs["verdict"]) - grid.start - turn * quantum_s)
        elif not is_hostile:
            cut += 1
    figures = (
        f"{statistics.median(late_s) * 1000:5.0f} {max(late_s) * 1000:5.0f} ms" if late_s else " none made"
    )
    return f"{figures}  not made {not_made}, cut off {cut}, of {repeats + 1}"


if __name__ == "__main__":
    main()

"""Seconds and memory of one release and one twin, in a process that loads nothing else: `twin.py` calls it.

Reads {"cells", "size", "rows", "totals"} from standard input, size being null for level 1; writes figures.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

from privacy.loss import MICRO
from privacy.twin import ColumnCounts, Patterns, draw_rows


def main() -> None:
    asked = json.load(sys.stdin)
    cells, size = tuple(asked["cells"]), asked["size"]
    mechanism = ColumnCounts(cells, MICRO) if size is None else Patterns(cells, MICRO, nominal_size=size)
    began, started = time.perf_counter(), time.process_time()
    counts = mechanism.release(asked["totals"])
    between = time.process_time()
    draw_rows(counts, asked["rows"], seed=0)
    figures = {
        "wall_s": time.perf_counter() - began,
        "release_cpu_s": between - started,
        "rows_cpu_s": time.process_time() - between,
        "peak_mib": peak_mib(),
        "sort_wall_s": yardstick(),
    }
    json.dump(figures, sys.stdout)


def yardstick() -> float:
    """Seconds in which numpy sorts eight million random numbers: how fast and how crowded the machine is."""
    numbers = np.random.default_rng(0).random(8_000_000)
    began = time.perf_counter()
    numbers.sort()
    return time.perf_counter() - began


def peak_mib() -> float:
    """Of this program alone: what getrusage says begins with the memory of the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(peak) / 1024


if __name__ == "__main__":
    main()

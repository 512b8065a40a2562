"""A run beside others stays on the core of its slot, and one that is alone has them all: the run counts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from heights import LOWER
from zones import given_heights, open_bench, submit

from domain.surroundings import Isolation

COUNTS = (
    "import os\n"
    "count = len(os.sched_getaffinity(0))\n"
    f"open('/out/result.tsv', 'w').write('mean_height\\n%d\\n' % ({LOWER} + 2 * count))\n"
)


@pytest.mark.parametrize("isolation", list(Isolation))
def test_how_many_cores_a_run_finds(sqlite_url: str, tmp_path: Path, isolation: Isolation) -> None:
    # one process of four that the platform promises, the others elsewhere
    # slots of its own: one that is kept from another test has the cores of that one
    with open_bench(sqlite_url, tmp_path, slots=4, processes=1) as bench:
        given_heights(bench, policy={"isolation": isolation})
        job_id = submit(bench, COUNTS)
        bench.drive()
        core, everything = bench.zone.core, os.sched_getaffinity(0)
        assert core is not None
        wanted = len(core if isolation is Isolation.SHARED else everything)
        assert bench.release(job_id).values[0].value == pytest.approx(LOWER + 2 * wanted, abs=1)

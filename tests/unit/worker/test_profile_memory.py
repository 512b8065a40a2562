"""A table of a gigabyte is read in chunks: what the reader takes of memory does not grow with the file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PHRASES = tuple(f"{word} " * 20 for word in ("rested", "asleep", "reading", "walking", "seated"))


def write(path: Path, size: int) -> int:
    """Ids and numbers that never repeat, and long cells that do. The number of rows."""
    rows = 0
    with path.open("w") as file:
        file.write("id,score," + ",".join(f"note{number}" for number in range(8)) + "\n")
        while file.tell() < size:
            file.writelines(
                f"p{row},{row * 7919 % 1_000_003},"
                + ",".join(PHRASES[(row + at) % 5] for at in range(8))
                + "\n"
                for row in range(rows, rows + 5000)
            )
            rows += 5000
    return rows


# in a process of its own: the peak of a child counts what its parent had when it was started
MEASURED = """
import os, resource, sys
from worker.pii_model import model_bytes
from worker.profile.confined import profile_file
found = profile_file(os.open(sys.argv[1], os.O_RDONLY), "large.csv", model=model_bytes())
print(found.rows, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


LARGE = pytest.mark.deep("a minute; what grows with the file shows in 8 MiB, if less clearly")


@pytest.mark.needs(backend="bubblewrap")
@pytest.mark.parametrize("mib", [8, pytest.param(1024, marks=[LARGE, pytest.mark.timeout(3600)])])
def test_memory_stays_below_300_mib(tmp_path: Path, mib: int) -> None:
    path = tmp_path / "large.csv"
    rows = write(path, mib * 2**20)
    command = [sys.executable, "-c", MEASURED, str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    path.unlink()
    found, kibibytes = map(int, ended.stdout.split())
    assert found == rows
    assert kibibytes < 300 * 1024

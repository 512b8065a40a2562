"""How long imports take: `python benchmarks/imports.py [--runs 20]`, CPU seconds of the user and the system.

Each import is an interpreter of its own, whose bytecode was compiled before. The median over runs is printed,
and what an interpreter takes that imports nothing.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATEMENTS = (
    "pass",
    "import numpy",
    "import privacy.twin",
    "import domain.twin",
    "import gateway.app",
    "import worker.execute",
    "from dpgate.cli import main; main()",
)
AIMS = {"import domain.twin": 0.5}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=STATEMENTS, help="Statements instead of all.")
    asked = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as cache:
        for statement in asked.only:
            found = [_seconds(statement, cache) for _ in range(asked.runs + 1)][1:]
            middle, aim = statistics.median(found), AIMS.get(statement)
            missed += aim is not None and middle > aim
            print(f"{middle:.2f} s ({min(found):.2f} to {max(found):.2f})  {statement}", flush=True)
    return int(missed > 0)


def _seconds(statement: str, cache: str) -> float:
    """CPU of one interpreter that runs a statement."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", statement, "--help"],
        cwd=ROOT,
        env=inherited | {"PYTHONPYCACHEPREFIX": cache},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())

"""The battery as an ordinary user: `ordinary.py <quick|full> <executor>...`, started by root, gives root
up.

Prints one JSON object: for each executor, for each attack, the outcome and why. Everything is imported
before, because the user may not be able to read what root has installed.
"""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1]), str(HERE.parents[2])]

from executors import open_executor  # noqa: E402
from waiting import PATIENCE_S  # noqa: E402

from sandbox_images.probe.catalogue import CATALOGUE  # noqa: E402
from worker.sandbox.battery import Bench, Outcome, Targets, judge, run_quick  # noqa: E402

ORDINARY_UID = 1500


def main(part: str, names: list[str]) -> None:
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(ORDINARY_UID, ORDINARY_UID, ORDINARY_UID)
        os.setresuid(ORDINARY_UID, ORDINARY_UID, ORDINARY_UID)
    os.chdir("/")
    print(json.dumps({name: run(name, part) for name in names}))


def run(name: str, part: str) -> dict[str, list[str]]:
    with open_executor(name) as executor:
        if part == "quick":
            results = run_quick(
                executor.sandbox, executor.image, backend=name, patience_s=PATIENCE_S, death_s=PATIENCE_S
            )
        else:
            results = tuple(run_all(executor))
    return {each.name: [each.outcome.value, each.detail] for each in results}


def run_all(executor):
    with Targets() as targets, Bench(executor.sandbox, executor.image, targets, executor.conditions) as bench:
        for probe in CATALOGUE:
            result = judge(bench, probe)
            if result.outcome is Outcome.FAILED:
                bench.renew()
            yield result


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

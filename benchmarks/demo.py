"""How often the intervals of the demo's answers hold the truth: with other blocks and other noise each time.

    python benchmarks/demo.py [--times 200]

The experiment is `tests/demo_answers.py`; a short form of it is a test.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from demo_answers import few_coverage, pipeline_coverage, query_coverage


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=200)
    times = parser.parse_args().times
    print("| asked | number | held the truth | % |\n| --- | --- | --- | --- |")
    for asked, experiment in (
        ("trusted query", query_coverage), ("pipeline", pipeline_coverage), ("60 people", few_coverage),
    ):  # fmt: skip
        for one in experiment(times):
            print(f"| {asked} | {one.name} | {one.held} of {one.times} | {100 * one.held / one.times:.1f} |")


if __name__ == "__main__":
    main()

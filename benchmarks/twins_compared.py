"""Twins beside a generative network, on Synthea's patients.csv, for docs/how-to/make-a-twin.md.

    DPGATE_DATA=... python benchmarks/twins_compared.py [--passes 300] [--private-passes 30] [--no-networks]

The networks need the extra `gan` and some minutes."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from companions.lab.gan.comparison import Figures, measure, networks, twins
from companions.lab.gan.table import AMOUNTS, DROPPED
from companions.lab.gan.training import Training
from companions.lab.subjects import read_cells


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--passes", type=int, default=Training().passes)
    parser.add_argument("--private-passes", type=int, default=30)
    parser.add_argument("--no-networks", action="store_true")
    given = parser.parse_args()
    folder = Path(os.environ.get("DPGATE_DATA", "../shared/data"))
    cells = read_cells(folder / "synthea_apr2020" / "patients.csv")
    kept = {name: column for name, column in cells.items() if name not in DROPPED}
    measured = measure(kept, amounts=AMOUNTS, seed=1)
    ways = [*twins(measured)]
    if not given.no_networks:
        ways += networks(measured, Training(passes=given.passes), given.private_passes)
    print("| table | guarantee | tv1 | tv2 | V | one column | several | unique again | s |")
    for way in ways:
        print(row(measured.figures(way)), flush=True)


def row(found: Figures) -> str:
    """One line of the table in Markdown."""
    numbers = [f"{number:.3f}" for number in (found.tv1, found.tv2, found.association)]
    attacks = [f"{one.hits} of {one.tries}" for one in (found.one, found.several)]
    cells = [found.name, found.guarantee, *numbers, *attacks, str(found.unique_again), f"{found.seconds:.1f}"]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()

"""Identifier scan: what it finds in columns made for it and in lent ones, by header and without; its speed.

    python benchmarks/pii.py
    python benchmarks/pii.py --others [--each] [--model half.npz]    # columns of others: see pii_others.py
    python benchmarks/pii.py other.csv other.csv.gz      # one line for each flagged column of other tables

A column is found if it is called direct. docs/explanation/identifying-columns.md has its figures from here.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "unit" / "twins")]

from pii_columns import Case, cases  # noqa: E402
from pii_judge import judge_others  # noqa: E402

from twins.pii import Class, Finding  # noqa: E402
from twins.pii.column import ColumnScan  # noqa: E402
from twins.pii.model import Model  # noqa: E402
from worker.pii_model import model_bytes  # noqa: E402

CELLS = 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--model", type=Path, help="another file than the worker's")
    parser.add_argument("--others", action="store_true", help="judge columns of others")
    parser.add_argument(
        "--each", action="store_true", help="name each column of others that is judged wrongly"
    )
    chosen = parser.parse_args()
    content = chosen.model.read_bytes() if chosen.model else model_bytes()
    started = time.process_time()
    model = Model.parse(content)
    model.likely(["one value"])
    print(f"model: {len(content):,} bytes, read and asked once in {time.process_time() - started:.3f} s")
    data = Path(os.environ.get("DPGATE_DATA", ROOT / "../shared/data"))
    if chosen.others:
        judge_others(data, model, each=chosen.each)
        return
    if chosen.tables:
        for table in chosen.tables:
            flagged(table, model)
        return
    columns(model)
    lent = data / "synthea_apr2020"
    if lent.is_dir():
        flagged(lent / "patients.csv", model)
        flagged(lent / "conditions.csv.gz", model)
    speed(model)


def columns(model: Model) -> None:
    """Recall and precision of direct identifiers over the columns of the tests."""
    made = list(cases())
    print(f"{len(made)} columns x {len(made[0].values)} values")
    print(f"{'header':<9}{'model':<7}{'recall':>14}{'precision':>11}{'look-alikes':>13}{'quasi':>8}")
    for hidden in (False, True):
        for used in (None, model):
            found = [(case, finding(case.values, None if hidden else case.header, used)) for case in made]
            line(hidden, used is not None, found)


def line(hidden: bool, with_model: bool, found: Sequence[tuple[Case, Finding]]) -> None:
    direct = [case for case, said in found if said.classification is Class.DIRECT]
    right = sum(case.expected == "direct" for case in direct)
    total = sum(case.expected == "direct" for case, _ in found)
    alike = [said.classification is Class.DIRECT for case, said in found if case.expected == "none"]
    quasi = [said.classification is Class.QUASI for case, said in found if case.expected == "quasi"]
    print(
        f"{'hidden' if hidden else 'shown':<9}{'yes' if with_model else 'no':<7}"
        f"{f'{right}/{total} {right / total:.2f}':>14}{right / len(direct):>11.2f}"
        f"{f'{sum(alike)}/{len(alike)}':>13}{f'{sum(quasi)}/{len(quasi)}':>8}"
    )


def flagged(path: Path, model: Model) -> None:
    """Flagged columns of a table, by header and without."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    print(f"\n{path.name}: {len(rows):,} rows x {len(header)} columns")
    for at, name in enumerate(header):
        values = [row[at] for row in rows]
        both = [finding(values, each, model) for each in (name, None)]
        if any(said.classification is not Class.NONE for said in both):
            shown = [f"{said.classification} {said.kind} {said.confidence:.2f}" for said in both]
            print(f"  {name:<24}{shown[0]:<34}hidden: {shown[1]}")


def finding(values: Sequence[str], name: str | None, model: Model | None) -> Finding:
    scan = ColumnScan(name, model=model)
    scan.add(values)
    return scan.finish()


def speed(model: Model) -> None:
    """Processor time for a million cells, none of them equal; then with values that repeat."""
    makers: dict[str, Callable[[int], str]] = {
        "words and names, all different": lambda at: f"Value number{at % 7919} of Somebody{at}",
        "codes, all different": lambda at: f"AB{at:07d}",
        "fractions, all different": lambda at: f"{at / 7:.6f}",
        "numbers of eleven digits, all different": lambda at: f"{10_000_000_000 + at * 7_919_333:011d}",
        "telephone numbers with 00, all different": lambda at: f"0034 6{at:08d}",
        "paths to files, all different": lambda at: f"/data/site{at % 9}/sub-{at:06d}_T1w.nii.gz",
        "JSON, all different": lambda at: f'{{"site": "north", "score": {at}}}',
        "1,000 names, repeated": lambda at: f"Name{at % 1000} Surname{at % 31}",
    }
    print(f"\n{'column':<42}{'cells/s':>12}{'s for ' + format(CELLS, ','):>20}")
    for title, make in makers.items():
        count = CELLS // 10
        values = [make(at) for at in range(count)]
        started = time.process_time()
        finding(values, "column", model)
        used = time.process_time() - started
        print(f"{title:<42}{count / used:>12,.0f}{CELLS / count * used:>20.1f}")


if __name__ == "__main__":
    main()

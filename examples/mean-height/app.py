"""A BIDS app: app.py INPUT OUTPUT participant|group. Standard library only.

The participant level has nothing to do here; the group level writes the mean age, height and weight of the
people in INPUT, one row without a header, to OUTPUT/derivatives/group/results.tsv.
"""

import csv
import json
import sys
from pathlib import Path
from statistics import fmean

COLUMNS = ("age", "Height", "Weight")


def main() -> None:
    source, target, level = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    if level == "group":
        write_results(target / "derivatives" / "group", means(source / "participants.tsv"))


def means(table: Path) -> list[str]:
    """One mean per column over the people who have a value; `n/a` where nobody has."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [mean([row[column] for row in rows if row[column] != "n/a"]) for column in COLUMNS]


def mean(values: list[str]) -> str:
    return str(fmean(float(value) for value in values)) if values else "n/a"


def write_results(folder: Path, results: list[str]) -> None:
    folder.mkdir(parents=True)
    (folder / "results.tsv").write_text("\t".join(results) + "\n", encoding="utf-8")
    description = {"Name": "mean-height", "BIDSVersion": "1.8.0", "DatasetType": "derivative"}
    (folder.parent / "dataset_description.json").write_text(json.dumps(description), encoding="utf-8")


if __name__ == "__main__":
    main()

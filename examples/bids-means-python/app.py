"""A BIDS app: app.py INPUT OUTPUT participant|group. Standard library only.

participant: the three numbers of each person in INPUT, to OUTPUT/sub-XX/sub-XX_measures.tsv.
group: the means over OUTPUT/sub-*, one row without a header, to OUTPUT/derivatives/group/results.tsv.
"""

import csv
import json
import sys
from pathlib import Path

COLUMNS = ("age", "Height", "Weight")
MISSING = "n/a"


def main() -> None:
    source, target, level = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    if level == "participant":
        for person in read(source / "participants.tsv"):
            write_person(target / person["participant_id"], person)
    else:
        people = [read(file)[0] for file in sorted(target.glob("sub-*/*_measures.tsv"))]
        write_results(target, [mean(people, column) for column in COLUMNS])


def read(table: Path) -> list[dict[str, str]]:
    """One dictionary a row; cells stay the text that they are."""
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def write_person(folder: Path, person: dict[str, str]) -> None:
    folder.mkdir()
    rows = [COLUMNS, [person[column] for column in COLUMNS]]
    text = "".join("\t".join(row) + "\n" for row in rows)
    (folder / f"{folder.name}_measures.tsv").write_text(text, encoding="utf-8")


def mean(people: list[dict[str, str]], column: str) -> str:
    """Over the people who have a value; `n/a` where nobody has."""
    values = [float(person[column]) for person in people if person[column] != MISSING]
    return f"{sum(values) / len(values):.12g}" if values else MISSING


def write_results(target: Path, results: list[str]) -> None:
    folder = target / "derivatives" / "group"
    folder.mkdir(parents=True)
    (folder / "results.tsv").write_text("\t".join(results) + "\n", encoding="utf-8")
    description = {"Name": "bids-means", "BIDSVersion": "1.8.0", "DatasetType": "derivative"}
    (target / "dataset_description.json").write_text(json.dumps(description) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

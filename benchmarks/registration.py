"""How many questions a draft of a declaration leaves open: as it is made, with what the scan proposes, and
with a look at the data. On UCI Adult with a made column of people, and on Synthea's patients and conditions.

    DPGATE_DATA=... python benchmarks/registration.py
"""

from __future__ import annotations

import csv
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from dpgate.pipeline_folder import load_yaml
from twins.profile.draft import open_questions

COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
    "income",
)  # fmt: skip


def adult(data: Path, to: Path) -> None:
    to.mkdir()
    with (
        gzip.open(data / "uci_adult" / "adult.data.gz", "rt", encoding="ascii") as lines,
        (to / "adult.csv").open("w", newline="") as file,
    ):
        rows = csv.writer(file)
        rows.writerow(("person", *COLUMNS))
        for number, line in enumerate(line for line in lines if line.strip()):
            rows.writerow((f"p{number:05d}", *line.strip().split(", ")))


def synthea(data: Path, to: Path) -> None:
    to.mkdir()
    source = data / "synthea_apr2020"
    shutil.copy(source / "patients.csv", to)
    with gzip.open(source / "conditions.csv.gz") as packed, (to / "conditions.csv").open("wb") as file:
        shutil.copyfileobj(packed, file)


def left(draft: Path) -> int:
    return len(open_questions(load_yaml(draft)))


def dpgate(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "dpgate", *arguments], check=True, capture_output=True)


def main() -> None:
    data = Path(os.environ["DPGATE_DATA"])
    print("| data | as drafted | what is proposed taken | with a look at the data |")
    print("| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as place:
        for name, make in (("Adult", adult), ("Synthea", synthea)):
            tables, out = Path(place, name), Path(place, f"{name}-profile")
            make(data, tables)
            dpgate("twin", "profile", str(tables), "--out", str(out))
            draft = out / "dataset.yaml"
            counts = [left(draft)]
            for more in ((), ("--data", str(tables))):
                dpgate("twin", "decide", str(draft), "--accept-proposals", *more, "--why", "As proposed.")
                counts.append(left(draft))
            print(f"| {name} | {' | '.join(map(str, counts))} |")


if __name__ == "__main__":
    main()

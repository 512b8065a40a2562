"""Cuts data/adult.csv out of UCI's Adult data: `python make.py adult.data.gz`. Standard library only.

The first 20,000 rows as they come, four of the fifteen columns, and a name for each row, which the source has
not. Refuses a file that is not the one that UCI published.
"""

import csv
import gzip
import hashlib
import sys
from pathlib import Path

PEOPLE = 20_000
# of the unpacked adult.data
SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
SEX, HOURS, INCOME = 9, 12, 14
INCOMES = {"<=50K": "to_50k", ">50K": "over_50k"}


def main() -> None:
    content = gzip.decompress(Path(sys.argv[1]).read_bytes())
    if hashlib.sha256(content).hexdigest() != SHA256:
        sys.exit(f"{sys.argv[1]} is not UCI's adult.data; its sha256 must be {SHA256}")
    target = Path(__file__).parent / "data" / "adult.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["person", "sex", "income", "hours"])
        writer.writerows(people(content.decode("ascii").splitlines()))


def people(lines: list[str]) -> list[tuple[str, str, str, str]]:
    rows = [line.split(", ") for line in lines[:PEOPLE]]
    return [
        (f"p{number:05}", row[SEX].lower(), INCOMES[row[INCOME]], row[HOURS])
        for number, row in enumerate(rows, start=1)
    ]


if __name__ == "__main__":
    main()

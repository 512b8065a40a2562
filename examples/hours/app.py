"""Mean hours of work per week in four groups of people: app.py INPUT OUTPUT. Standard library only."""

import csv
import sys
from pathlib import Path
from statistics import fmean

GROUPS = [(sex, income) for sex in ("female", "male") for income in ("to_50k", "over_50k")]

source, target = Path(sys.argv[1]), Path(sys.argv[2])
with (source / "adult.csv").open(encoding="utf-8", newline="") as file:
    people = list(csv.DictReader(file))
with (target / "hours.csv").open("w", encoding="utf-8") as file:
    for group in GROUPS:
        hours = [float(one["hours"]) for one in people if (one["sex"], one["income"]) == group]
        file.write(f"{'_'.join(group)},{fmean(hours) if hours else 'n/a'}\n")

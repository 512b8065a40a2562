"""The truth beside the answers: the one place that opens the data, because these are public.

On data that are not, nobody who asks could print this column.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from domain.pipeline import OutputValue

GROUPS = {
    "women_to_50k": ("female", "to_50k"),
    "women_over_50k": ("female", "over_50k"),
    "men_to_50k": ("male", "to_50k"),
    "men_over_50k": ("male", "over_50k"),
}
"""Names of the pipeline's outputs, and which sex and income class of the table they are about."""


def true_hours(data: Path) -> dict[str, float]:
    """Mean hours of work per week of each group."""
    people = _rows(data / "adult.csv", ",")
    return {
        name: fmean(float(one["hours"]) for one in people if (one["sex"], one["income"]) == group)
        for name, group in GROUPS.items()
    }


def true_means(
    data: Path, outputs: Mapping[str, OutputValue], columns: Mapping[str, str]
) -> dict[str, float]:
    """Means of columns of participants.tsv over the people who have a value, by the names of outputs.

    A value beyond the bounds of its output counts as the bound, as in every answer: two errors stand in these
    data (a height of 1.65, and one that was swapped with a weight).
    """
    people = _rows(data / "participants.tsv", "\t")
    return {
        name: fmean(
            min(max(float(one[column]), outputs[name].lower), outputs[name].upper)
            for one in people
            if one[column] != "n/a"
        )
        for name, column in columns.items()
    }


def is_there(data: Path, person: str) -> bool:
    return any(one["person"] == person for one in _rows(data / "adult.csv", ","))


def _rows(path: Path, delimiter: str) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))

"""The largest share that one person has in a class of labels: shown beside a perturbation for what it is.

Some notebooks pass this number to a mechanism as "sensitivity". It says how much a COUNT OF LABELS changes
when one person leaves, in relation to itself; it has nothing to do with how far an amplitude can move.
"""

from __future__ import annotations

import csv
from pathlib import Path

from dpgate.errors import DpgateError

EXPLANATION = (
    "how much the count of one class of labels changes when one person is left out; a number unrelated to "
    "the range of the values, and used for nothing here"
)


def leave_one_out_ratios(path: Path, columns: list[str]) -> dict[str, float]:
    """For each class: (all - fewest without one person) / all, from a table of counts, one row per person."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        counts = {column: [int(row[column]) for row in rows] for column in columns}
    except KeyError as error:
        raise DpgateError(f"{path} has no column {error}") from None
    except (ValueError, TypeError, csv.Error):
        raise DpgateError(f"{path} must hold whole numbers in {', '.join(columns)}") from None
    if not rows or any(min(each) < 0 or not sum(each) for each in counts.values()):
        raise DpgateError(f"{path} must hold at least one person, and one label of each class")
    return {column: _ratio(each) for column, each in counts.items()}


def _ratio(counts: list[int]) -> float:
    total = sum(counts)
    fewest_without_one = min(total - count for count in counts)
    return (total - fewest_without_one) / total

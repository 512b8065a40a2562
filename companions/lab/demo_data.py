"""The people of `--demo`: the heights of the examples, and an invented clinic. Both are public."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import dpgate
from companions.lab.simulation import Generator
from companions.lab.subjects import Cells, Subjects, load_subjects
from dpgate.errors import DpgateError

BOUNDS = (140.0, 210.0)
"""Of the example pipeline's manifest, typed before any data were seen. Two entries lie outside."""

TABLE_COLUMNS = ("age", "sex", "Height", "Weight")
"""What somebody might know of a participant; the other 252 columns are answers to questionnaires."""

ZIP_CODES = ("20095", "20097", "20099", "20144", "20146")


def heights(examples: Path | None = None) -> Subjects:
    """58 heights of OpenNeuro ds004148 (CC0), two of them mistyped, as they were published."""
    folder = examples or Path(dpgate.__file__).parent.parent / "examples"
    path = folder / "heights" / "data" / "participants.tsv"
    if not path.exists():
        raise DpgateError("the examples are not here; run from a checkout, or attack a table with --table")
    found = load_subjects(path, column="Height", person="participant_id", bounds=BOUNDS)
    known = {name: found.table[name] for name in TABLE_COLUMNS}
    return Subjects(
        source="OpenNeuro ds004148 (CC0)",
        column=found.column,
        names=found.names,
        values=found.values,
        lower=found.lower,
        upper=found.upper,
        bounds_stated=True,
        table=known,
    )


def clinic(generator: Generator, people: int = 1_000) -> Cells:
    """An invented table without names, which passes for anonymous: age, district, salary, and a diagnosis."""
    age = np.clip(generator.normal(45, 15, people), 18, 90).astype(int)
    district = generator.choice(ZIP_CODES, people, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    band = generator.choice([40_000, 50_000, 60_000, 70_000, 80_000], people, p=[0.2, 0.3, 0.25, 0.15, 0.1])
    salary = np.clip(band + (age - 30) * 500 + generator.normal(0, 5_000, people), 25_000, 120_000).astype(
        int
    )
    ill = generator.random(people) < 0.1 + 0.6 * (age - 18) / 72
    return {
        "age": tuple(map(str, age)),
        "zip code": tuple(map(str, district)),
        "salary": tuple(map(str, salary)),
        "diagnosis": tuple(np.where(ill, "yes", "no").tolist()),
    }

"""People for the laboratory's tests: drawn from a seed, or given; and conditions that take little time."""

from __future__ import annotations

import numpy as np

from companions.lab.chapter import Conditions
from companions.lab.subjects import Subjects


class Brief(Conditions):
    """A quarter of a quick report's trials, where these are many."""

    def trials(self, full: int, quick: int) -> int:
        return quick if quick < 1_000 else quick // 4


def make_subjects(values, *, lower=0.0, upper=100.0, **columns) -> Subjects:
    numbers = np.asarray(values, np.float64)
    return Subjects(
        source="a test",
        column="value",
        names=tuple(f"p{number}" for number in range(len(numbers))),
        values=numbers,
        lower=lower,
        upper=upper,
        bounds_stated=True,
        table={"value": tuple(f"{number:g}" for number in numbers), **columns},
    )


def whole_numbers(people=60, *, seed=5) -> np.ndarray:
    """Whole numbers from 20 to 80, with no single value in the majority."""
    return np.random.default_rng(seed).integers(20, 81, people).astype(np.float64)

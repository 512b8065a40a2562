"""People for the laboratory's tests: drawn from a seed, or given."""

from __future__ import annotations

import numpy as np

from dpgate.lab.subjects import Subjects


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

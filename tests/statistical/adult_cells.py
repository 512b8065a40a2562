"""The Adult table on a public grid of 15 columns: declared categories, 20 equal bins between round bounds."""

import gzip
from functools import cache

import numpy as np
from lent_data import lent

RANGES = {
    0: (17, 90, 20),
    2: (10_000, 1_500_000, 20),
    4: (1, 16, 16),
    10: (0, 100_000, 20),
    11: (0, 4_500, 20),
    12: (1, 99, 20),
}


@cache
def adult() -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Cell numbers of the training rows and of the test rows, and how many cells each column has."""
    parts = [rows_of("adult.data.gz"), rows_of("adult.test.gz")]
    both = np.array([*parts[0], *parts[1]])
    codes = np.empty(both.shape, np.int64)
    cells = []
    for column in range(both.shape[1]):
        if column in RANGES:
            low, high, bins = RANGES[column]
            places = (both[:, column].astype(float) - low) / (high + 1 - low) * bins
            codes[:, column] = np.clip(places, 0, bins - 1)
            cells.append(bins)
        else:
            words, codes[:, column] = np.unique(both[:, column], return_inverse=True)
            cells.append(len(words))
    return codes[: len(parts[0])], codes[len(parts[0]) :], tuple(cells)


def rows_of(name: str) -> list[list[str]]:
    with gzip.open(lent("uci_adult") / name, "rt", encoding="ascii") as file:
        lines = [line.strip().rstrip(".") for line in file]
    return [line.split(", ") for line in lines if line and not line.startswith("|")]

"""Columns of numbers side by side: logarithms of mean and standard deviation, and cumulative shares.

The first is the scatter of "absolute log mean and STDs of numeric data", the second the "cumulative sums"
that reports on generated tables usually show: the share of rows up to each value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twins.evaluation.sheet import Floats, Sheet

_LEAST = 1e-5
"""Added before the logarithm, so that a mean of 0 has one."""
POINTS = 60


@dataclass(frozen=True)
class LogMoments:
    """Natural logarithms of |mean| and of the standard deviation, of a table and its twin."""

    name: str
    means: tuple[float, float]
    deviations: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Cumulative:
    """The share of rows with at most each of `at`, in a table and its twin; `largest` is their distance at
    its largest over all values (Kolmogorov and Smirnov's)."""

    name: str
    at: Floats
    first: Floats
    second: Floats
    largest: float


def log_moments(first: Sheet, second: Sheet) -> list[LogMoments]:
    """Of every ordered column that has a value in both."""
    found = []
    for one, other in _both(first, second):
        name, (a, b) = one[0], (one[1], other[1])
        found.append(LogMoments(name, (_log(a.mean()), _log(b.mean())), (_log(a.std()), _log(b.std()))))
    return found


def cumulatives(first: Sheet, second: Sheet) -> list[Cumulative]:
    """Of every ordered column that has a value in both, at POINTS values of equal distance."""
    found = []
    for (name, one), (_, other) in _both(first, second):
        one, other = np.sort(one), np.sort(other)
        ends = min(one[0], other[0]), max(one[-1], other[-1])
        at = np.linspace(*ends, POINTS)
        every = np.union1d(one, other)
        largest = np.abs(_up_to(one, every) - _up_to(other, every)).max()
        found.append(Cumulative(name, at, _up_to(one, at), _up_to(other, at), float(largest)))
    return found


def _both(first: Sheet, second: Sheet) -> list[tuple[tuple[str, Floats], tuple[str, Floats]]]:
    found = []
    for place in first.ordered:
        one, other = first.columns[place], second.columns[place]
        a, b = one.numbers[one.present], other.numbers[other.present]
        if len(a) and len(b):
            found.append(((one.name, a), (other.name, b)))
    return found


def _log(value: float) -> float:
    return float(np.log(abs(value) + _LEAST))


def _up_to(ordered: Floats, at: Floats) -> Floats:
    found: Floats = np.searchsorted(ordered, at, side="right") / len(ordered)
    return found

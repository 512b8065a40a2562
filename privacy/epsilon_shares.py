"""How one job's epsilon is divided among everything that the job releases: exact fractions that sum to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

FAILURES = Fraction(1, 20)
"""Share of the whole epsilon that pays for the number of failed runs, where it is asked for."""

INTERVAL = Fraction(3, 10)
"""Share of an output's epsilon that pays for its two quartiles, where a sampling interval is asked for."""


@dataclass(frozen=True)
class EpsilonShares:
    """Exact epsilon of every part; `total` is the job's epsilon.

    `values` and `quartiles` have one entry per output. A quartile's entry pays for each of two quartiles, and
    is 0 without sampling intervals; `failures` is 0 without a count of failed runs.
    """

    values: tuple[Fraction, ...]
    quartiles: tuple[Fraction, ...]
    failures: Fraction

    @property
    def total(self) -> Fraction:
        return sum(self.values) + 2 * sum(self.quartiles) + self.failures


def divide(
    epsilon: Fraction, weights: Sequence[int], *, count_failures: bool, sampling_interval: bool
) -> EpsilonShares:
    """Shares in proportion to the weights, after the count of failures has taken its own."""
    failures = epsilon * FAILURES if count_failures else Fraction(0)
    outputs = [(epsilon - failures) * weight / sum(weights) for weight in weights]
    interval = INTERVAL if sampling_interval else Fraction(0)
    return EpsilonShares(
        values=tuple(share * (1 - interval) for share in outputs),
        quartiles=tuple(share * interval / 2 for share in outputs),
        failures=failures,
    )

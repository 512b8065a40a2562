"""Trusted queries as checks ask for them: exact sums of given rows, many releases, noise in its claimed
scale."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from epsilon_audit import SIZE, audit_epsilon
from release_paths import MICRO, drawn_in_batches

import privacy.trusted.noisy_sums

Row = Sequence[int]


def totals_of(query: Any, rows: Sequence[Row]) -> list[int]:
    """Exact sums over rows of grid units, by the query's own word."""
    totals = [0] * query.width
    for row in rows:
        for place, amount in query.contribution(row).items():
            totals[place] += amount
    return totals


def release_many(query: Any, rows: Sequence[Row], n: int) -> np.ndarray:
    """n releases as an (n, numbers) array of floats; half widths, which noise may move, are numbers too."""
    totals = totals_of(query, rows)
    return np.array([_numbers(query.release(totals)) for _ in range(n)])


def check_query_audit(query: Any, others: Sequence[Row], person: Sequence[Row], *, size: int = SIZE) -> float:
    """T2: whoever sees the release of `others` with and without the rows of one person proves no more than
    the epsilon that the query claims. Returns what they prove, to show that the audit has power."""
    everybody = [*others, *person]
    with drawn_in_batches(privacy.trusted.noisy_sums):
        bound = audit_epsilon(
            lambda n: release_many(query, everybody, n),
            lambda n: release_many(query, others, n),
            truths=(_centre(query, everybody), _centre(query, others)),
            size=size,
        )
    claimed = query.micro_epsilon / MICRO
    assert bound <= claimed, f"an attacker proves epsilon {bound:.2f}, claimed is {claimed}"
    return bound


class NoisedSums:
    """A query that releases the noised sums from which its own release is worked out.

    Whoever sees them can work out the release, so no attacker on the release proves more than one on these.
    """

    def __init__(self, query: Any) -> None:
        self.width, self.micro_epsilon = query.width, query.micro_epsilon
        self.contribution, self._sums = query.contribution, sums_of(query)

    def release(self, totals: Sequence[int]) -> list[SimpleNamespace]:
        return [SimpleNamespace(value=number, half_width_95=None) for number in self._sums.release(totals)]


def sums_of(query: Any) -> Any:
    """Of a variance, a covariance or a regression."""
    return query.moments.noisy if hasattr(query, "moments") else query._sums


def _numbers(release: Sequence[Any]) -> list[float]:
    values = [output.value for output in release]
    return [float(number) for number in (*values, *(output.half_width_95 or 0 for output in release))]


def _centre(query: Any, rows: Sequence[Row]) -> np.ndarray:
    """About what would be released without noise."""
    return np.median(release_many(query, rows, 51), axis=0)

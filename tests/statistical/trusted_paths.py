"""Trusted queries as checks ask for them: exact sums of given rows, many releases, noise in its claimed
scale."""

from collections import Counter
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from epsilon_audit import LARGE, SIZE, audit_epsilon
from release_paths import MICRO, drawn_in_batches

import privacy.trusted.noisy_sums
from privacy.trusted.quantile import CELL_BITS

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


def check_query_audit(
    query: Any,
    others: Sequence[Row],
    person: Sequence[Row],
    *,
    size: int = SIZE,
    sums: ModuleType = privacy.trusted.noisy_sums,
) -> float:
    """T2: whoever sees the release of `others` with and without the rows of one person proves no more than
    the epsilon that the query claims. Returns what they prove, to show that the audit has power.

    `sums` is the module that draws the noise of sums: the real one, or a mutant's.
    """
    everybody = [*others, *person]
    with drawn_in_batches(sums):
        bound = audit_epsilon(
            lambda n: release_many(query, everybody, n),
            lambda n: release_many(query, others, n),
            truths=(_centre(query, everybody, sums), _centre(query, others, sums)),
            size=size,
        )
    return _at_most_claimed(query, bound)


def check_quantile_audit(
    query: Any, others: Sequence[int], person: Sequence[int], *, size: int = LARGE
) -> float:
    """T2 for the cells that the noise chose, from which the release of quantiles is worked out: `others` and
    `person` are the grid units of their rows. To scan 2^15 cells for every release would take a minute."""

    def cells(rows: Sequence[int]) -> Callable[[int], np.ndarray]:
        counts = sorted(Counter(units >> CELL_BITS for units in rows).items())
        return lambda n: np.array([_cells(query, counts) for _ in range(n)], float)

    pair = cells([*others, *person]), cells(others)
    truths = tuple(np.median(draw(51), axis=0) for draw in pair)
    return _at_most_claimed(query, audit_epsilon(*pair, truths=truths, size=size))


def _cells(query: Any, counts: Sequence[tuple[int, int]]) -> list[int]:
    return [query._draw(counts, probability, keystream=None) for probability in query.probabilities]


def _at_most_claimed(query: Any, bound: float) -> float:
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


def _centre(query: Any, rows: Sequence[Row], sums: ModuleType) -> np.ndarray:
    """What would be released without noise on any sum; of quantiles, about that.

    A worst-case attacker knows it exactly. Whoever takes it from a few releases sees no difference of one in
    a count now and then, and proves half of what they could.
    """
    with patch.object(sums, "sample", lambda _scale, size, **_: np.zeros(size, np.int64)):
        return np.median(release_many(query, rows, 51), axis=0)

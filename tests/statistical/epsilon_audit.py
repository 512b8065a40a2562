"""T2 of the privacy design: how much epsilon an attacker can prove from the releases of two neighbours."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from checks import ALPHA, Releases
from release_paths import MICRO, release_values
from scipy import stats


def audit_epsilon(
    first: Releases,
    second: Releases,
    *,
    truths: tuple[np.ndarray, np.ndarray],
    delta: float = 0.0,
    size: int = 20_000,
) -> float:
    """T2: lower confidence bound on epsilon from `size` releases of each of two neighbouring data sets.

    With a delta the bound is on epsilon at that delta: P(E) - delta takes the place of P(E).

    One half of the releases selects the most telling event, the other half certifies it with
    Clopper-Pearson bounds that hold together with probability 1 - ALPHA. Tail events see a scale that is too
    small, over all outputs at once, summed, or weighed as the likelihood ratio of Laplace noise weighs them;
    intervals around the truth, which a worst-case attacker knows, see that small noise is avoided.
    """
    one, other = first(size), second(size)
    half = size // 2
    selection = one[:half], other[:half]
    event = max(
        # chosen by the bound that certifies: a looser one favours rare events that cannot be certified
        _events(*selection, truths=truths),
        key=lambda event: _log_ratio_bound(event, *selection, delta=delta),
    )
    return _log_ratio_bound(event, one[half:], other[half:], delta=delta)


def check_audit(aggregate: Any, neighbours: tuple[Sequence, Sequence], *, size: int = 20_000) -> float:
    """An attacker cannot prove more than the epsilon that the aggregate claims, from either run outputs.

    Returns the bound, to show that the audit has power.
    """
    first, second = neighbours
    bound = audit_epsilon(
        lambda n: release_values(aggregate, first, n),
        lambda n: release_values(aggregate, second, n),
        truths=(_truth(aggregate, first), _truth(aggregate, second)),
        delta=(aggregate.atto_delta or 0) / 1e18,
        size=size,
    )
    claimed = aggregate.micro_epsilon / MICRO
    assert bound <= claimed, f"an attacker proves epsilon {bound:.2f}, claimed is {claimed}"
    return bound


Event = Callable[[np.ndarray], np.ndarray]


def _truth(aggregate: Any, runs: Sequence) -> np.ndarray:
    """What would be released without noise, by the claimed rule, for every number that is released."""
    filled = [aggregate.default(run) if output is None else output for run, output in enumerate(runs)]
    values = [
        float(
            grid.value(Fraction(sum(column), len(runs)) if aggregator == "clipped_mean" else _middle(column))
        )
        for grid, aggregator, column in zip(
            aggregate.grids, aggregate.aggregators, zip(*filled, strict=True), strict=True
        )
    ]
    failures = [float(sum(output is None for output in runs))] if aggregate.count_failures else []
    ends = [value for value in values for _ in range(2)] if aggregate.interval == "sampling" else []
    return np.array([*values, *failures, *ends])


def _middle(column: Sequence[int]) -> int:
    return sorted(column)[len(column) // 2]


def _events(one: np.ndarray, other: np.ndarray, *, truths: tuple[np.ndarray, np.ndarray]) -> list[Event]:
    """Candidates over arrays of shape (n, numbers); the bound tries each one's complement too."""
    both = np.concatenate([one, other])
    events: list[Event] = []
    reduces = [lambda x, f=reduce: f(x, axis=1) for reduce in (np.sum, np.min, np.max)]
    if both.shape[1] > 1:
        reduces += [lambda x, k=column: x[:, k] for column in range(both.shape[1])]
        # half the width of a sampling interval, or any other difference of two released numbers
        reduces.append(lambda x: x[:, -1] - x[:, 0])
        reduces.append(_likelier(one, other, truths))
    for reduce in reduces:
        cuts = np.quantile(reduce(both), np.arange(1, 100) / 100)
        events += [lambda x, f=reduce, c=c: f(x) > c for c in cuts]
    for truth in truths:
        widths = np.quantile(_distance(both, truth), [0.02, 0.05, 0.1, 0.2, 0.3, 0.5])
        events += [lambda x, m=truth, w=w: _distance(x, m) < w for w in widths]
    return events


def _likelier(one: np.ndarray, other: np.ndarray, truths: tuple[np.ndarray, np.ndarray]) -> Event:
    """How much nearer to the second truth than to the first, each number in units of its own spread."""
    spread = np.maximum(np.abs(one - truths[0]).mean(axis=0), np.abs(other - truths[1]).mean(axis=0))
    spread[spread == 0] = 1
    return lambda x: ((np.abs(x - truths[0]) - np.abs(x - truths[1])) / spread).sum(axis=1)


def _distance(values: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return np.abs(values - truth).max(axis=1)


def _log_ratio_bound(event: Event, one: np.ndarray, other: np.ndarray, *, delta: float) -> float:
    """Largest certain log ratio of the probability of the event or its complement, either way round.

    Four ratios of two Clopper-Pearson bounds each share ALPHA.
    """
    hits = int(event(one).sum()), int(event(other).sum())
    misses = len(one) - hits[0], len(other) - hits[1]
    bounds = [
        _certain_log_ratio(counts[i], counts[1 - i], n=len(one), delta=delta)
        for counts in (hits, misses)
        for i in (0, 1)
    ]
    return max(bounds)


def _certain_log_ratio(more: int, fewer: int, *, n: int, delta: float) -> float:
    level = ALPHA / 8
    low = (stats.beta.ppf(level, more, n - more + 1) if more else 0.0) - delta
    high = stats.beta.ppf(1 - level, fewer + 1, n - fewer) if fewer < n else 1.0
    return max(0.0, math.log(low / high)) if low > 0 else 0.0

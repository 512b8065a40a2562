"""T2 of the privacy design: how much epsilon an attacker can prove from the releases of two neighbours."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from checks import ALPHA, Releases
from length import at_length
from release_paths import MICRO, release_values
from scipy import stats

SIZE = 4_000
"""Releases of each of two neighbours, enough where one number proves a loss of 1."""

LARGE = 8_000
"""Where two numbers have to prove it together, or a law of which tails alone do."""


def audit_epsilon(
    first: Releases,
    second: Releases,
    *,
    truths: tuple[np.ndarray, np.ndarray],
    delta: float = 0.0,
    size: int = SIZE,
) -> float:
    """T2: lower confidence bound on epsilon from `size` releases of each of two neighbouring data sets.

    With a delta the bound is on epsilon at that delta: P(E) - delta takes the place of P(E).

    One half of the releases selects the most telling event, the other half certifies it with
    Clopper-Pearson bounds that hold together with probability 1 - ALPHA. Tail events see a scale that is too
    small, over all outputs at once, summed, or weighed as the likelihood ratio of Laplace noise weighs them;
    intervals around the truth, which a worst-case attacker knows, see that small noise is avoided.
    """
    one, other = first(at_length(size)), second(at_length(size))
    half = len(one) // 2
    selection = one[:half], other[:half]
    most, telling = -1.0, None
    for number, cuts in _events(*selection, truths=truths):
        # chosen by the bound that certifies: a looser one favours rare events that cannot be certified
        bounds = _log_ratio_bounds(number, cuts, *selection, delta=delta)
        best = int(bounds.argmax())
        if bounds[best] > most:
            most, telling = bounds[best], (number, cuts[best : best + 1])
    assert telling is not None
    return float(_log_ratio_bounds(*telling, one[half:], other[half:], delta=delta)[0])


def check_audit(aggregate: Any, neighbours: tuple[Sequence, Sequence], *, size: int = SIZE) -> float:
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


Number = Callable[[np.ndarray], np.ndarray]
"""One number of each release. An event is that it lies above a cut."""


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


def _events(
    one: np.ndarray, other: np.ndarray, *, truths: tuple[np.ndarray, np.ndarray]
) -> list[tuple[Number, np.ndarray]]:
    """Candidates over arrays of shape (n, numbers): cuts of one number each, whose complements count too."""
    both = np.concatenate([one, other])
    numbers: list[Number] = [lambda x, f=reduce: f(x, axis=1) for reduce in (np.sum, np.min, np.max)]
    if both.shape[1] > 1:
        numbers += [lambda x, k=column: x[:, k] for column in range(both.shape[1])]
        # half the width of a sampling interval, or any other difference of two released numbers
        numbers.append(lambda x: x[:, -1] - x[:, 0])
        numbers.append(_likelier(one, other, truths))
    else:
        del numbers[1:]
    events = [(number, np.quantile(number(both), np.arange(1, 100) / 100)) for number in numbers]
    for truth in truths:
        nearness: Number = lambda x, m=truth: -_distance(x, m)  # noqa: E731  above -w: nearer than w
        events.append((nearness, np.quantile(nearness(both), 1 - np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.5]))))
    return events


def _likelier(one: np.ndarray, other: np.ndarray, truths: tuple[np.ndarray, np.ndarray]) -> Number:
    """How much nearer to the second truth than to the first, each number in units of its own spread."""
    spread = np.maximum(np.abs(one - truths[0]).mean(axis=0), np.abs(other - truths[1]).mean(axis=0))
    spread[spread == 0] = 1
    return lambda x: ((np.abs(x - truths[0]) - np.abs(x - truths[1])) / spread).sum(axis=1)


def _distance(values: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return np.abs(values - truth).max(axis=1)


def _log_ratio_bounds(
    number: Number, cuts: np.ndarray, one: np.ndarray, other: np.ndarray, *, delta: float
) -> np.ndarray:
    """Largest certain log ratio of the probability of each event or its complement, either way round.

    Four ratios of two Clopper-Pearson bounds each share ALPHA.
    """
    n = len(one)
    hits = [n - np.searchsorted(np.sort(number(x)), cuts, side="right") for x in (one, other)]
    ratios = [
        _certain_log_ratios(counts[i], counts[1 - i], n=n, delta=delta)
        for counts in (hits, [n - hit for hit in hits])
        for i in (0, 1)
    ]
    return np.max(ratios, axis=0)


def _certain_log_ratios(more: np.ndarray, fewer: np.ndarray, *, n: int, delta: float) -> np.ndarray:
    level = ALPHA / 8
    # of no hits nothing is certain, and of n misses neither
    low = np.where(more > 0, stats.beta.ppf(level, np.maximum(more, 1), n - more + 1), 0.0) - delta
    high = np.where(fewer < n, stats.beta.ppf(1 - level, fewer + 1, np.maximum(n - fewer, 1)), 1.0)
    return np.log(np.maximum(low / high, 1.0))

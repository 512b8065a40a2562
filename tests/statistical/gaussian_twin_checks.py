"""What a twin with Gaussian noise spends of its epsilon and delta, from the draws that its release makes.

Written down a second time, in floats: the package does not mark its own work.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from twin_paths import totals_of


def check_spent(modules: Any, mechanism: Any, rows: Sequence[Sequence[int]]) -> float:
    """The release of `rows` draws noise for every count that it gives, and the variances and rates of these
    draws, for a person all of whose rows are alike, come to no more than the table's share of epsilon and
    delta. Returns the part of it that is spent, 0 to 1.

    `modules` holds the package's modules by short name: those of the real one, or of a mutant.
    """
    drawn, choices = [], []
    real = modules.twin_gaussian.draw

    def draw(variance, size, *, keystream=None):
        drawn.append((float(variance), size))
        return real(variance, size, keystream=keystream)

    def best(scores, *, rate, keystream=None):
        choices.append(float(rate))
        return int(np.argmax(scores))

    with pytest.MonkeyPatch.context() as patch:
        for module in (modules.twin_gaussian_columns, modules.twin_gaussian_patterns):
            patch.setattr(module, "draw", draw)
        patch.setattr(modules.twin_selection, "exponential_best", best)
        counts = mechanism.release(totals_of(mechanism, rows))
    given = [sum(mechanism.cells), *(len(pair.counts) for pair in counts.pairs)]
    assert [size for _, size in drawn] == given, "a count was given without noise"
    assert len(choices) == len(counts.pairs), "a pair was chosen without chance"

    most = mechanism.rows
    spent = len(mechanism.cells) * most**2 / (2 * drawn[0][0])
    spent += sum(most**2 / (2 * variance) for variance, _ in drawn[1:])
    spent += sum((2 * most * rate) ** 2 / 8 for rate in choices)
    parts = mechanism.loss.parts * spent
    epsilon, delta = mechanism.loss.micro_epsilon / 1e6, mechanism.loss.atto_delta / 1e18
    assert delta_of(parts, epsilon) <= delta * (1 + 1e-4), f"the draws spend {parts} of rho, over its share"
    return parts / rho_of(epsilon, delta)


def delta_of(rho: float, epsilon: float) -> float:
    """Canonne, Kamath, Steinke 2020, Corollary 13, over a grid of orders."""
    excess = np.exp(np.linspace(-5, 12, 20_001))
    order = 1 + excess
    log = excess * (order * rho - epsilon) - np.log(excess) + order * np.log(excess / order)
    return float(np.exp(log.min()))


def rho_of(epsilon: float, delta: float) -> float:
    """The largest rho of which that holds, by halving."""
    low, high = 0.0, 1_000.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle, epsilon) <= delta else (low, middle)
    return low

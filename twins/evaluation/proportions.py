"""Shares that were counted, with their uncertainty.

Wilson's interval (E. B. Wilson, Journal of the American Statistical Association 22, 1927) and Newcombe's
interval for a difference of two shares (R. G. Newcombe, Statistics in Medicine 17, 1998, method 10).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Z95 = 1.959963984540054
Z999 = 3.2905267314919255
"""Of a verdict: a report makes some dozens of comparisons, and should cry wolf in few of them."""


@dataclass(frozen=True)
class Proportion:
    """So many hits of so many tries; 0 of 0 says nothing at all: its interval is 0 to 1."""

    hits: int
    tries: int

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.tries:
            raise ValueError("hits must lie between 0 and the number of tries")

    @property
    def share(self) -> float:
        return self.hits / self.tries if self.tries else 0.0

    def interval(self, z: float = Z95) -> tuple[float, float]:
        """Wilson's, with continuity left alone; 95 % unless another z is given."""
        if not self.tries:
            return 0.0, 1.0
        n, p = self.tries, self.share
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        reach = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low = 0.0 if self.hits == 0 else max(0.0, middle - reach)
        high = 1.0 if self.hits == n else min(1.0, middle + reach)
        return low, high


def difference(first: Proportion, second: Proportion, z: float = Z95) -> tuple[float, float]:
    """Newcombe's interval for the first share less the second."""
    low1, high1 = first.interval(z)
    low2, high2 = second.interval(z)
    p1, p2 = first.share, second.share
    low = p1 - p2 - math.hypot(p1 - low1, high2 - p2)
    high = p1 - p2 + math.hypot(high1 - p1, p2 - low2)
    return max(-1.0, low), min(1.0, high)


def is_beyond(attack: Proportion, baseline: Proportion) -> bool:
    """Whether the attack does better than the baseline by more than chance explains (z = 3.29)."""
    if not attack.tries or not baseline.tries:
        return False
    return difference(attack, baseline, Z999)[0] > 0


def risk(attack: Proportion, baseline: Proportion) -> tuple[float, float, float]:
    """The share of what is left to win beyond the baseline, with its 95 % interval: (a - b) / (1 - b).

    The measure of M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnadi, "A Unified Framework for Quantifying
    Privacy Risk in Synthetic Data", PoPETs 2023, section 4.4; cut to 0 to 1.
    """
    room = 1.0 - baseline.share
    if room <= 0:
        return 0.0, 0.0, 1.0
    low, high = difference(attack, baseline)
    found = (attack.share - baseline.share) / room
    return _cut(found), _cut(low / room), _cut(high / room)


def _cut(value: float) -> float:
    return min(1.0, max(0.0, value))

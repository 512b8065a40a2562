"""What the numbers of one job amount to together: a figure for a preview, never a charge."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privacy.loss import MICRO, format_epsilon
from privacy.sample_aggregate import SampleAggregate

DELTA = 1e-6
"""The probability with which the figure may be exceeded: below one in the people of most data sets."""

LARGEST_MICRO_EPSILON = 20_000_000
"""Beyond, a promise says too little for any figure to matter."""


@dataclass(frozen=True)
class Together:
    """`parts` numbers of one release are (`epsilon`, `delta`)-DP together; `micro_epsilon` is charged."""

    parts: int
    epsilon: float
    delta: float
    micro_epsilon: int

    @property
    def sentence(self) -> str:
        return (
            f"Inside this job the noise of all {self.parts} numbers together is that of epsilon "
            f"{math.ceil(self.epsilon * 1000) / 1000:g} with delta {self.delta:g}, by their privacy loss "
            "distributions: for information. Charged is the sum, epsilon "
            f"{format_epsilon(self.micro_epsilon)}."
        )


def together(mechanism: SampleAggregate) -> Together | None:
    """None where the figure says no more than the charge: for one number, for so few that the sum is as
    small, for joint noise (which is one part) and Gaussian noise (whose charge is no sum), and for a very
    large epsilon.

    Numbers are the values, the two quartiles of each sampling interval, and the count of failures: each is
    drawn by itself and pure with its share of epsilon, a mean as well as a median.
    """
    shares = mechanism.shares
    parts = [part for part in (*shares.values, *(2 * shares.quartiles), shares.failures) if part]
    is_alone = mechanism.resolved_noise == "laplace"
    if len(parts) < 2 or not is_alone or mechanism.micro_epsilon > LARGEST_MICRO_EPSILON:
        return None
    from privacy.tight_epsilon import tight_epsilon  # loads slowly

    found = tight_epsilon(parts, delta=DELTA)
    if found > 0.95 * mechanism.micro_epsilon / MICRO:
        return None
    return Together(len(parts), found, DELTA, mechanism.micro_epsilon)

"""What a budget of epsilon buys: how many jobs of which error, before anything is known of them.

Rules of thumb with the usual noise: for one mean over n people with values in a range of width w, Laplace
noise has the scale w / (n epsilon). A mean over k blocks is the same with k in the place of n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from domain.attacker import SUSPICIONS, become_at_most, factor_text
from domain.loss import Epsilon, micro

NINETY_FIVE = math.log(20)
"""95 % of Laplace noise lies within so many scales of zero."""
LADDER: tuple[Epsilon, ...] = ("0.1", "0.25", "0.5", "1", "2", "5")


@dataclass(frozen=True)
class Purchase:
    """So many jobs of this epsilon; the shares are the half width of 95 % of the noise, in percent of the
    range: of a mean that the platform computes over everybody, and of a mean over blocks."""

    epsilon: str
    jobs: int
    over_people: float
    over_blocks: float


def purchases(budget: Epsilon, *, people: int, block_size: int) -> tuple[Purchase, ...]:
    """One row for each step of the ladder that the budget covers."""
    blocks = max(1, people // block_size)
    return tuple(
        Purchase(
            epsilon=step,
            jobs=micro(budget) // micro(step),
            over_people=noise_share(people, float(step)) * 100,
            over_blocks=noise_share(blocks, float(step)) * 100,
        )
        for step in LADDER
        if micro(step) <= micro(budget)
    )


def noise_share(count: int, epsilon: float) -> float:
    """The half width of 95 % of the noise of a mean over `count`, as a share of the range."""
    return NINETY_FIVE / (count * epsilon)


def in_plain_words(budget: Epsilon) -> str:
    """e^epsilon as what it does to a suspicion."""
    exponent = Decimal(micro(budget)).scaleb(-6)
    low, middle, _ = SUSPICIONS
    unlikely, doubted = (f"{share * 100:.0f} %" for share in (low, middle))
    return (
        "When all of it is used up, the odds of a suspicion that one person is in the data can have grown by "
        f"a factor of {factor_text(exponent)} (e to the power {budget}): from {unlikely} to at most "
        f"{become_at_most(low, exponent)}, from {doubted} to at most {become_at_most(middle, exponent)}. "
        "For what the data of somebody say who is known to be in them, it is that factor twice: from "
        f"{doubted} to at most {become_at_most(middle, 2 * exponent)}."
    )

"""Whose job is next, of those that wait for a worker: by public states alone, which tell nothing of data.

Users take turns, and nobody has more than so many jobs under way: what is charged moves the public times of
everybody who comes after it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Waits:
    """A job that may run, of this author."""

    job: str
    author: str


@dataclass(frozen=True)
class UnderWay:
    """By author: how many of their jobs were claimed and have not ended, and when one was charged last."""

    jobs: Mapping[str, int]
    charged: Mapping[str, float]

    def rank(self, author: str) -> tuple[int, float]:
        """Who has less is first, then who has waited longer for a charge."""
        return self.jobs.get(author, 0), self.charged.get(author, -math.inf)


def next_in_line(asked: Waits, waiting: Sequence[Waits], under_way: UnderWay, *, most: int) -> Waits | None:
    """The job to claim when it is asked for this one: itself, or that of somebody whose turn it is. `waiting`
    is in the order of coming. None: the author of this one has enough under way."""
    if under_way.jobs.get(asked.author, 0) >= most:
        return None
    first = {each.author: each for each in reversed(waiting)} | {asked.author: asked}
    return min(first.values(), key=lambda each: (under_way.rank(each.author), each != asked))

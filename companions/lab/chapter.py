"""What a chapter of the report is made of, and what every figure must say about how it came to be."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from companions.lab.simulation import Generator


class Standing(StrEnum):
    """What an attack says about what it was aimed at."""

    BROKEN = "broken"
    HOLDS = "holds"
    NO_PROMISE = "no promise"


@dataclass(frozen=True)
class Verdict:
    """One attack on one mechanism, in a sentence with its figures."""

    attack: str
    against: str
    outcome: str
    standing: Standing


@dataclass(frozen=True)
class Drawing:
    """One figure: `svg` stands in the page as it is, `ran` says what was run."""

    title: str
    svg: str
    ran: str


@dataclass(frozen=True)
class NumberTable:
    """One table of figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    ran: str


@dataclass(frozen=True)
class Text:
    """A paragraph of the argument."""

    words: str


Part = Drawing | NumberTable | Text


@dataclass(frozen=True)
class Chapter:
    """One experiment as the report shows it."""

    name: str
    title: str
    question: str
    parts: tuple[Part, ...]
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True)
class Conditions:
    """Under which the experiments run: `quick` means fewer trials, `seed` repeats the simulations."""

    quick: bool
    seed: int

    def trials(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def generator(self, purpose: str) -> Generator:
        # a list of the experiments waits for no mathematics
        from companions.lab.simulation import seeded

        return seeded(self.seed, purpose)

    def ran(self, since: float, **parameters: object) -> str:
        """What was run, for the line below a figure: parameters, seed, seconds since `since`."""
        shown = [f"{name.replace('_', ' ')} {_shown(value)}" for name, value in parameters.items()]
        ending = [f"simulation seed {self.seed}", "the platform's noise has no seed"]
        return ", ".join([*shown, *ending, f"{clock() - since:.1f} s"])


def clock() -> float:
    """Seconds, for `Conditions.ran`."""
    return time.perf_counter()


def percent(share: float) -> str:
    """A share of one, with as many digits as tell it from none and from all."""
    return f"{100 * share:.0f} %" if share in (0, 1) else f"{100 * share:.1f} %"


def _shown(value: object) -> str:
    if isinstance(value, tuple | list):
        return " / ".join(map(_shown, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)

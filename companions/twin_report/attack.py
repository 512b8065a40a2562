"""One attack on a twin, what it is compared with, and what follows.

Two comparisons. The blind copy knows the twin's columns but no row and no exact value of it. Held-out people
come from where the original's came from and were not in it: who is found among them is found by patterns that
hold for everybody. An attack that does better on the original's people than on held-out ones found them
because they were in the original.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from twins.evaluation.proportions import Proportion, is_beyond


class Standing(StrEnum):
    """What an attack came to."""

    FOUND = "people found"
    NOT_FOUND = "not beyond its baseline"
    UNDECIDED = "beyond guessing: patterns or people; hold people out to tell"


@dataclass(frozen=True)
class Attack:
    """Counted successes on the original's people, by the blind copy, and on held-out people.

    `alike` is the attack on as many of the original's people as were held out, where their number matters.
    `is_about_rows`: the blind copy lacks the patterns between columns too, so that doing better than it
    does not yet mean that people were found.
    """

    name: str
    about: str
    found: Proportion
    blind: Proportion
    alike: Proportion | None
    held_out: Proportion | None
    is_about_rows: bool

    @property
    def standing(self) -> Standing:
        if self.held_out is not None:
            beyond = is_beyond(self.alike or self.found, self.held_out)
            return Standing.FOUND if beyond else Standing.NOT_FOUND
        if not is_beyond(self.found, self.blind):
            return Standing.NOT_FOUND
        return Standing.UNDECIDED if self.is_about_rows else Standing.FOUND

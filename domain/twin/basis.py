"""What a twin is drawn from, in words that travel with it: the declaration alone, or counts with noise.

Researchers, reviewers and the README inside the twin read the same sentences from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from domain.twin import LABEL
from domain.twin.levels import CUSTODIAN_LABELS
from domain.twin.request import TwinRequest
from privacy.loss import GuaranteeClass

Level = Literal[0, 1, 2]
SHORT: dict[Level, str] = {0: "Blank form", 1: "Counts", 2: "Patterns"}


@dataclass(frozen=True)
class TwinBasis:
    """The blank form, or the job whose released counts twins of this version are drawn from."""

    job_id: str | None = None
    request: TwinRequest | None = None

    @property
    def level(self) -> Level:
        """Of the best table."""
        found: Level = 0
        for table in self.request.tables if self.request else ():
            found = max(found, table.level)
        return found

    @property
    def short(self) -> str:
        """The level in a word or two."""
        return SHORT[self.level]

    @property
    def label(self) -> str:
        return CUSTODIAN_LABELS[self.level]

    @property
    def guarantee(self) -> GuaranteeClass | None:
        """The class of the counts; the blank form needs none, for it saw no data."""
        return None if self.request is None else self.request.guarantee

    @property
    def sentence(self) -> str:
        """One paragraph for everybody who gets the twin."""
        if self.request is None:
            return LABEL
        return (
            f"{SHORT[self.level].upper()}: {self.label}. Drawn at random from counts with noise, released as "
            f"{self.request.guarantee} with {self.request.price}. Each set of counts is released "
            "and charged once. No row was copied from anybody."
        )

    def level_of(self, path: str) -> Level:
        """Of one table."""
        for table in self.request.tables if self.request else ():
            if table.path == path:
                return table.level
        return 0

    def unprotected(self) -> tuple[str, ...]:
        """What the promise does not cover, a sentence each."""
        declared = (
            "What the declaration says is public: names, bounds, categories, and the number of people shown."
        )
        if self.request is None:
            return (declared,)
        return (
            declared,
            "The promise is about one person. What many people have in common shows, and is meant to.",
            "It adds up with every other release on the same people; the budget counts those of its cohort.",
            "A drawn row can equal somebody's by chance, as a guess can: this says nothing about them.",
            "Tables and columns that took no part are blank form; files that are no tables always are.",
        )


BLANK = TwinBasis()

"""What a twin is drawn from, in words that travel with it: the declaration alone, or counts with noise.

Researchers, reviewers and the README inside the twin read the same sentences from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from domain.dataset import Declaration
from domain.twin import LABEL, README, make_twin
from domain.twin.counts import TableCounts
from domain.twin.levels import CUSTODIAN_LABELS
from domain.twin_request import TwinRequest
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


def draw_twin(
    declaration: Declaration,
    basis: TwinBasis = BLANK,
    counts: Mapping[str, TableCounts] | None = None,
    *,
    seed: int = 0,
    people: int | None = None,
) -> dict[str, bytes]:
    """The files of a twin by path, with so many people instead of the declared number. Nothing here looks at
    data: what is drawn from counts costs nothing more, however often it is drawn."""
    files = make_twin(declaration, counts=counts or {}, seed=seed, people=people)
    if basis.request is not None:
        files[README] = readme(declaration, basis, seed=seed, people=people).encode()
    return files


def readme(declaration: Declaration, basis: TwinBasis, *, seed: int = 0, people: int | None = None) -> str:
    """What lies beside the files of a twin that is no blank form."""
    levels = [(table.path, basis.level_of(table.path)) for table in declaration.tables]
    lines = [
        f"# Twin of {declaration.title}",
        "",
        basis.sentence,
        "",
        f"- guarantee class: {basis.guarantee}, {basis.request.price if basis.request else 'epsilon 0'}",
        f"- neighbours: add or remove one {declaration.privacy_unit.name}",
        f"- counts: released by job {basis.job_id}; drawn with seed {seed}",
        f"- people: {people or declaration.nominal_size}, a number declared or asked for, never counted",
        "",
        "| table | level | what it means |",
        "| --- | --- | --- |",
        *(f"| {path} | {level} | {CUSTODIAN_LABELS[level]} |" for path, level in levels),
        "",
        "Not protected:",
        "",
        *(f"- {sentence}" for sentence in basis.unprotected()),
        "",
    ]
    return "\n".join(lines)

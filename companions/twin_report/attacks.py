"""The attacks on the twin of one table, each beside what it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from companions.lab.attacks.linkage import Known, choose_people, know, link, most_telling
from companions.lab.simulation import seeded
from companions.lab.subjects import Cells
from companions.twin_report.reading import TableSet
from twins.evaluation.draws import Draws, some_of
from twins.evaluation.linking import inference, linkability, secret_of
from twins.evaluation.nearest import Points, points_of
from twins.evaluation.proportions import Proportion, is_beyond
from twins.evaluation.sheet import Sheet
from twins.evaluation.singling_out import Sentence, about_one_column, about_several, singled_out

NAMES = ("singling out by one column", "singling out by several columns", "linkability", "inference")


class _Maker(Protocol):
    def __call__(self, twin: Sheet, *, most: int, draws: Draws) -> list[Sentence]: ...


@dataclass(frozen=True)
class Effort:
    """How much is tried. `secret` is the column that inference and the neighbour try to learn."""

    sentences: int = 1000
    people: int = 300
    seed: int = 1
    secret: str = ""


def attack(tables: TableSet, blind: Sheet, effort: Effort) -> list[Attack]:
    """All attacks that this table is wide enough for."""
    found = [
        _singling(tables, blind, effort, about_one_column, NAMES[0], is_about_rows=False),
        _singling(tables, blind, effort, about_several, NAMES[1], is_about_rows=True),
    ]
    searching = _Search(tables, blind, effort)
    if len(tables.twin.columns) > 1:
        found += [searching.linkability(), *searching.inference()]
        found += neighbour(tables, effort.secret, people=effort.people, seed=effort.seed)
    return [one for one in found if one.found.tries]


def _singling(
    tables: TableSet,
    blind: Sheet,
    effort: Effort,
    make: _Maker,
    name: str,
    *,
    is_about_rows: bool,
) -> Attack:
    sentences = make(tables.twin, most=effort.sentences, draws=seeded(effort.seed, name))
    blindly = make(blind, most=effort.sentences, draws=seeded(effort.seed, f"{name}, blindly"))
    alike = held_out = None
    if tables.holdout is not None:
        # alone among 100 and alone among 1,000 are different things
        size = min(tables.original.rows, tables.holdout.rows)
        draws = seeded(effort.seed, "people of equal number")
        one, other = (_some(sheet, size, draws) for sheet in (tables.original, tables.holdout))
        alike, held_out = singled_out(sentences, one), singled_out(sentences, other)
    return Attack(
        name,
        "sentences made from the twin that are true of exactly one person of the original",
        singled_out(sentences, tables.original),
        singled_out(blindly, tables.original),
        alike,
        held_out,
        is_about_rows,
    )


class _Search:
    """Rows of the twin nearest to people of whom something is known."""

    def __init__(self, tables: TableSet, blind: Sheet, effort: Effort) -> None:
        sheets = [tables.original, tables.twin, blind, *([tables.holdout] if tables.holdout else [])]
        draws = seeded(effort.seed, "people searched for")
        self._targets = some_of(tables.original.rows, effort.people, draws)
        held = some_of(tables.holdout.rows, effort.people, draws) if tables.holdout else None
        self._people = tables.original.only_rows(self._targets)
        self._held_people = None if held is None or not tables.holdout else tables.holdout.only_rows(held)
        points = points_of(*sheets)
        self._known, self._twin, self._blind = points[0].only(self._targets), points[1], points[2]
        self._held = None if held is None else points[3].only(held)
        self._tables, self._blind_sheet, self._effort = tables, blind, effort

    def linkability(self) -> Attack:
        order = seeded(self._effort.seed, "halves").permutation(len(self._twin.columns)).tolist()
        halves = order[::2], order[1::2]

        def link(people: Points, table: Points) -> Proportion:
            return linkability(people, table, halves)

        return Attack(
            NAMES[2],
            "two sources that know different columns of a person both point to one and the same row",
            link(self._known, self._twin),
            link(self._known, self._blind),
            None,
            None if self._held is None else link(self._held, self._twin),
            is_about_rows=True,
        )

    def inference(self) -> list[Attack]:
        if self._effort.secret not in self._tables.twin.names:
            return []
        column = self._tables.twin.names.index(self._effort.secret)

        def infer(people: Points, sheet: Sheet, table: Points, searched: Sheet) -> Proportion:
            return inference(people, table, secret_of(sheet, searched, column))

        held = None
        if self._held is not None and self._held_people is not None:
            held = infer(self._held, self._held_people, self._twin, self._tables.twin)
        found = Attack(
            NAMES[3],
            f"{self._effort.secret} named by the nearest rows, with all other columns known",
            infer(self._known, self._people, self._twin, self._tables.twin),
            infer(self._known, self._people, self._blind, self._blind_sheet),
            None,
            held,
            is_about_rows=True,
        )
        return [found]


def _some(sheet: Sheet, most: int, draws: Draws) -> Sheet:
    return sheet if sheet.rows <= most else sheet.only_rows(some_of(sheet.rows, most, draws))


def choose_secret(tables: TableSet, wanted: str | None) -> str:
    """The column that attackers want to learn: the one named, one marked sensitive, the last one of words
    with two values or more, or the last column."""
    if wanted:
        return wanted
    columns = [values.column for values in tables.twin.columns]
    marked = [one.name for one in columns if one.pii is not None and one.pii.classification == "sensitive"]
    words = [one.name for one in columns if one.kind == "categorical" and len(one.categories) > 1]
    few = [one.name for one in columns if one.kind == "categorical" and len(one.categories) == 2]
    last: Sequence[str] = marked or few or words or [columns[-1].name]
    return last[-1]


# The laboratory's linkage attack, with the twin in the place of the table without names. A neighbour knows
# up to three columns of somebody, looks for rows of the twin that fit, and takes what these say about the
# secret column.

MOST_KNOWN = 3
MOST_COLUMNS = 40


def neighbour(tables: TableSet, secret: str, *, people: int, seed: int) -> list[Attack]:
    """One attack, or none where nothing is known of anybody, or nobody has a secret."""
    cells, twin = cells_of(tables.original), cells_of(tables.twin)
    target = know({secret: cells[secret]})[0]
    asked = choose_people(target, most=people, generator=seeded(seed, "neighbours"))
    usable = _usable(cells, secret)
    if not usable or not len(asked) or np.isnan(target.encode(twin[secret])).all():
        return []
    known = most_telling(usable, people=asked, table=cells, most=MOST_KNOWN)
    held_out = None
    if tables.holdout is not None:
        others = cells_of(tables.holdout)
        theirs = know({secret: others[secret]})[0]
        alike = know({one.name: others[one.name] for one in known})
        there = choose_people(theirs, most=people, generator=seeded(seed, "neighbours held out"))
        if not np.isnan(theirs.encode(twin[secret])).all():
            held_out = _named(theirs, alike, there, twin)
    return [
        Attack(
            "a neighbour's search",
            f"{secret} named by rows that fit what is known: {', '.join(one.name for one in known)}",
            _named(target, known, asked, twin),
            _named(target, [], asked, twin),
            None,
            held_out,
            is_about_rows=True,
        )
    ]


def cells_of(sheet: Sheet) -> Cells:
    """The sheet as the laboratory reads tables: missing cells are empty."""
    return {
        values.name: tuple(
            text if there else "" for text, there in zip(values.texts, values.present.tolist(), strict=True)
        )
        for values in sheet.columns
    }


def _usable(cells: Cells, secret: str) -> list[Known]:
    columns = know({name: column for name, column in cells.items() if name != secret})
    return [column for column in columns if not np.isnan(column.numbers).all()][:MOST_COLUMNS]


def _named(target: Known, known: list[Known], people: NDArray[np.intp], table: Cells) -> Proportion:
    share = link(target, known, people=people, table=table).named
    return Proportion(round(share * len(people)), len(people))


# One attack on a twin, what it is compared with, and what follows. Two comparisons. The blind copy knows
# the twin's columns but no row and no exact value of it. Held-out people come from where the original's
# came from and were not in it: who is found among them is found by patterns that hold for everybody. An
# attack that does better on the original's people than on held-out ones found them because they were in
# the original.


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

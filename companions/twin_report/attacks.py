"""The attacks on the twin of one table, each beside what it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from companions.lab.simulation import seeded
from companions.twin_report.attack import Attack
from companions.twin_report.neighbour import neighbour
from companions.twin_report.reading import TableSet
from twins.evaluation.draws import Draws, some_of
from twins.evaluation.linking import inference, linkability, secret_of
from twins.evaluation.nearest import Points, points_of
from twins.evaluation.proportions import Proportion
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

"""What stands in the twin of somebody of the original: rows, near rows, rare values, small groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from companions.lab.simulation import seeded
from companions.twin_report.reading import TableSet
from twins.anonymity.release import Standing
from twins.evaluation import datleak
from twins.evaluation.anonymity import anonymity, diversity, unique_in_both
from twins.evaluation.draws import some_of
from twins.evaluation.matches import equal_rows, near_rows
from twins.evaluation.nearest import nearer_share, nearest, points_of
from twins.evaluation.proportions import Proportion, is_beyond
from twins.evaluation.rare_values import RareValues, rare_values
from twins.evaluation.sheet import Floats, Sheet, exact_codes

MOST_TWIN_ROWS = 2000
MOST_TABLE_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Nearness:
    """Distances of sampled twin rows to the original and to something else of equal size.

    `nearer` is the share nearer to the original, ties half: .5 is chance. None without a holdout.
    """

    to_original: Floats
    to_other: Floats
    other: str
    nearer: float | None
    decided: Proportion | None

    @property
    def is_copying(self) -> bool:
        """Whether rows lie nearer to the original than chance explains."""
        if self.decided is None:
            return False
        half = Proportion(self.decided.tries // 2, self.decided.tries)
        return self.decided.interval(3.29)[0] > 0.5 and is_beyond(self.decided, half)


@dataclass(frozen=True, eq=False)
class Leaks:
    """Of one table. Pairs are the twin against the original, and against as many held-out rows; the second is
    None without a holdout. `alike` is the original cut to the holdout's size."""

    equal: Proportion
    near: Proportion
    alike: tuple[Proportion, Proportion] | None
    held_out: tuple[Proportion, Proportion] | None
    rare: list[RareValues]
    rare_by_chance: int
    nearness: Nearness
    published: datleak.Leakage | None
    cells: datleak.CellMatches | None
    quasi: tuple[str, ...]
    quasi_is_marked: bool
    groups: tuple[Standing, Standing]
    unique_again: int
    secrets: tuple[tuple[str, int, int], ...]

    @property
    def repeats_values(self) -> bool:
        """Whether values of one person stand in the twin that no draw, or no chance, puts there."""
        alone = sum(one.held_by_one for one in self.rare)
        again = sum(one.reappear for one in self.rare)
        by_chance = Proportion(min(self.rare_by_chance, alone), alone)
        return any(one.undeclared for one in self.rare) or is_beyond(Proportion(again, alone), by_chance)

    @property
    def copies(self) -> bool:
        """Whether more rows equal somebody's than held-out people's."""
        return bool(
            self.alike
            and self.held_out
            and any(is_beyond(*pair) for pair in zip(self.alike, self.held_out, strict=True))
        )


def find_leaks(tables: TableSet, blind: Sheet, *, quasi: Sequence[str], secret: str, seed: int) -> Leaks:
    """All of them."""
    original, twin = tables.original, tables.twin
    first, second, *others = exact_codes(original, twin, *([tables.holdout] if tables.holdout else []))
    alike = held_out = None
    if others:
        size = min(len(first), len(others[0]))
        draws = seeded(seed, "rows of equal number")
        one, other = (codes[some_of(len(codes), size, draws)] for codes in (first, others[0]))
        alike = equal_rows(second, one), near_rows(second, one)
        held_out = equal_rows(second, other), near_rows(second, other)
    names, is_marked = quasi_identifiers(twin, quasi, secret)
    places = [twin.names.index(name) for name in names]
    return Leaks(
        equal=equal_rows(second, first),
        near=near_rows(second, first),
        alike=alike,
        held_out=held_out,
        rare=rare_values(original, twin),
        rare_by_chance=sum(one.reappear for one in rare_values(original, blind)),
        nearness=_nearness(tables, blind, seed),
        published=datleak.as_published(_texts(original), _texts(twin), ignored=None),
        cells=datleak.cell_matches(first, second),
        quasi=names,
        quasi_is_marked=is_marked,
        groups=(anonymity(first, places), anonymity(second, places)),
        unique_again=unique_in_both(first, second, places),
        secrets=tuple(
            (twin.names[place], diversity(first, places, place), diversity(second, places, place))
            for place in _secrets(twin, secret)
            if place not in places
        ),
    )


def quasi_identifiers(sheet: Sheet, wanted: Sequence[str], secret: str) -> tuple[tuple[str, ...], bool]:
    """Those named, else those marked quasi, else all columns of words and whole numbers but the secret; and
    whether somebody said so."""
    if wanted:
        return tuple(name for name in sheet.names if name in wanted), True
    columns = [values.column for values in sheet.columns]
    marked = [one.name for one in columns if one.pii is not None and one.pii.classification == "quasi"]
    if marked:
        return tuple(marked), True
    likely = (one.name for one in columns if one.kind in ("categorical", "integer") and one.name != secret)
    return tuple(likely), False


def _secrets(sheet: Sheet, secret: str) -> list[int]:
    return [
        place
        for place, values in enumerate(sheet.columns)
        if values.name == secret
        or (values.column.pii is not None and values.column.pii.classification == "sensitive")
    ]


def _nearness(tables: TableSet, blind: Sheet, seed: int) -> Nearness:
    draws = seeded(seed, "distances")
    sheets = [tables.original, tables.twin, tables.holdout or blind]
    original, twin, other = points_of(*sheets)
    rows = twin.only(some_of(twin.rows, MOST_TWIN_ROWS, draws))
    if tables.holdout is None:
        near = nearest(rows, original.only(some_of(original.rows, MOST_TABLE_ROWS, draws)))
        blindly = other.only(some_of(other.rows, MOST_TWIN_ROWS, draws))
        there = nearest(blindly, original.only(some_of(original.rows, MOST_TABLE_ROWS, draws)))
        return Nearness(near, there, "blind copy to the original", None, None)
    size = min(original.rows, other.rows, MOST_TABLE_ROWS)
    near, there = (nearest(rows, one.only(some_of(one.rows, size, draws))) for one in (original, other))
    share, decided = nearer_share(near, there)
    return Nearness(near, there, "twin to held-out people", share, decided)


def _texts(sheet: Sheet) -> list[tuple[str, ...]]:
    return [values.texts for values in sheet.columns]


def quantiles(distances: Floats, count: int = 60) -> list[tuple[float, float]]:
    """Points of the cumulative share of distances."""
    if not len(distances):
        return []
    at = np.linspace(0, 1, count)
    return list(zip(np.quantile(distances, at).tolist(), at.tolist(), strict=True))

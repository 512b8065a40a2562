"""Singling out: sentences about somebody, made from the twin alone, that are true of exactly one person.

After M. Giomi et al., "A Unified Framework for Quantifying Privacy Risk in Synthetic Data", PoPETs 2023,
sections 4.2 and 5.1, written anew. One column: a value that occurs once in the twin, or its smallest or
largest one. Several: what a random row of the twin says in some columns, where no other row of the twin says
so too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from twins.evaluation.draws import Draws, some_of
from twins.evaluation.proportions import Proportion
from twins.evaluation.sheet import Sheet, Values

Rule: TypeAlias = Literal["equals", "at most", "at least", "missing"]
COLUMNS = 4
_TRIES = 12
"""Rows of the twin looked at for each sentence wanted: most rows single out nobody."""


@dataclass(frozen=True)
class Clause:
    """What a sentence says about one column."""

    column: int
    rule: Rule
    value: float | str

    def fits(self, values: Values) -> NDArray[np.bool_]:
        """(rows,): where it is true."""
        found: NDArray[np.bool_]
        if self.rule == "missing":
            found = ~values.present
        elif self.rule == "equals":
            found = (values.numbers if values.is_ordered else values.words) == self.value
        elif self.rule == "at most":
            found = values.numbers <= float(self.value)
        else:
            found = values.numbers >= float(self.value)
        return found


Sentence: TypeAlias = tuple[Clause, ...]


def about_one_column(twin: Sheet, *, most: int, draws: Draws) -> list[Sentence]:
    """Sentences about single columns that are true of exactly one row of the twin, at random."""
    found: list[Clause] = []
    for place, values in enumerate(twin.columns):
        if (~values.present).sum() == 1:
            found.append(Clause(place, "missing", ""))
        present = (values.numbers if values.is_ordered else values.words)[values.present]
        kept, counts = np.unique(present, return_counts=True)
        if values.is_ordered and len(kept):
            ends: list[tuple[Rule, int]] = [("at most", 0), ("at least", -1)]
            found += [Clause(place, rule, float(kept[end])) for rule, end in ends if counts[end] == 1]
        found += [Clause(place, "equals", value) for value in kept[counts == 1].tolist()]
    return [(found[place],) for place in some_of(len(found), most, draws)]


def about_several(twin: Sheet, *, most: int, draws: Draws) -> list[Sentence]:
    """Sentences about COLUMNS columns (or all, of a smaller table) that are true of exactly one row."""
    width = min(COLUMNS, len(twin.columns))
    if width < 2 or not twin.rows:
        return []
    middles = [_middle(values) for values in twin.columns]
    found: dict[Sentence, None] = {}
    for row in draws.integers(0, twin.rows, most * _TRIES).tolist():
        columns = sorted(draws.permutation(len(twin.columns))[:width].tolist())
        sentence = tuple(_clause(column, twin.columns[column], row, middles[column]) for column in columns)
        if len(found) < most and sentence not in found and true_of(sentence, twin) == 1:
            found[sentence] = None
        if len(found) == most:
            break
    return list(found)


def singled_out(sentences: Sequence[Sentence], table: Sheet) -> Proportion:
    """How many of the sentences are true of exactly one row of the table."""
    counts: dict[tuple[int, float | str], int] = {}
    for column in {s[0].column for s in sentences if len(s) == 1 and s[0].rule == "equals"}:
        values = table.columns[column]
        present = (values.numbers if values.is_ordered else values.words)[values.present]
        kept, times = np.unique(present, return_counts=True)
        counts |= {(column, value): time for value, time in zip(kept.tolist(), times.tolist(), strict=True)}
    hits = 0
    for sentence in sentences:
        first = sentence[0]
        if len(sentence) == 1 and first.rule == "equals":
            hits += counts.get((first.column, first.value), 0) == 1
        else:
            hits += true_of(sentence, table) == 1
    return Proportion(hits, len(sentences))


def true_of(sentence: Sentence, table: Sheet) -> int:
    """Of how many rows the whole sentence is true."""
    fits = np.ones(table.rows, np.bool_)
    for clause in sentence:
        fits &= clause.fits(table.columns[clause.column])
    return int(fits.sum())


def _middle(values: Values) -> float:
    present = values.numbers[values.present] if values.is_ordered else np.zeros(0)
    return float(np.median(present)) if len(present) else 0.0


def _clause(column: int, values: Values, row: int, middle: float) -> Clause:
    if not values.present[row]:
        return Clause(column, "missing", "")
    if not values.is_ordered:
        return Clause(column, "equals", str(values.words[row]))
    number = float(values.numbers[row])
    return Clause(column, "at least" if number > middle else "at most", number)

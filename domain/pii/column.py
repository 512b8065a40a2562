"""One column, value by value, in bounded memory: counts are remembered, and a few thousand recent values.

All values are looked at, not a sample: one e-mail address in a million cells is one person too many. Equal
values are looked at once where that is cheap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from domain.pii.dates import has_time_of_day, year_of
from domain.pii.decide import decide
from domain.pii.finding import Finding
from domain.pii.header import kind_of_header
from domain.pii.marks import LONGEST_WHOLE, is_missing, marks_of
from domain.pii.model import Model
from domain.pii.tally import MOST_SHAPES, Tally, shape_of
from domain.pii.text import is_sentence

BATCH = 4096
REMEMBERED = 4096
"""Values whose marks are kept to look up; the memory is emptied when it is full."""

LONGEST_SCORED = 80


class _Seen(NamedTuple):
    """What one value adds, each time it comes."""

    marks: frozenset[str]
    year: int | None
    has_time: bool
    words: int
    has_letters: bool
    is_sentence: bool


class ColumnScan:
    """Reads any number of values of one column and then says what the column is.

    `name` is its header, or None where there is none; `model` may be None: then names without a
    telling header are mostly missed.
    """

    def __init__(self, name: str | None, *, model: Model | None) -> None:
        self._name = name
        self._model = model
        self._tally = Tally()
        self._seen: dict[str, _Seen] = {}

    def add(self, values: Sequence[str]) -> None:
        """More cells, as they are read. Spaces around a value and missing codes do not count."""
        for start in range(0, len(values), BATCH):
            self._batch(Counter(value.strip() for value in values[start : start + BATCH]))

    def finish(self) -> Finding:
        """What the column is. More values may be added afterwards."""
        kind = None if self._name is None else kind_of_header(self._name)
        return decide(self._name, kind, self._tally)

    def _batch(self, counted: Counter[str]) -> None:
        new: list[str] = []
        for value, times in counted.items():
            if is_missing(value):
                self._tally.missing += times
                continue
            seen = self._seen.get(value)
            if seen is None:
                seen = self._look(value)
                if seen.has_letters and len(value) <= LONGEST_SCORED:
                    new.append(value)
            self._count(value, seen, times)
        # each value once, not once for each row: a column is judged by its different values
        if self._model is not None and new:
            self._score(self._model, new)

    def _count(self, value: str, seen: _Seen, times: int) -> None:
        tally = self._tally
        tally.present += times
        for mark in seen.marks:
            tally.marks[mark] += times
        tally.words += seen.words * times
        tally.spaced += times * (seen.words > 1)
        tally.with_letters += times * seen.has_letters
        tally.sentences += times * seen.is_sentence
        tally.long += times * (len(value) > LONGEST_WHOLE)
        if seen.year is not None:
            tally.years[seen.year] += times
            tally.with_time += times * seen.has_time
        tally.distinct.add(value)
        shape = shape_of(value)
        if shape in tally.shapes or len(tally.shapes) < MOST_SHAPES:
            tally.shapes[shape] += times
        tally.numbers.add(value, times)

    def _look(self, value: str) -> _Seen:
        year = year_of(value)
        seen = _Seen(
            marks=marks_of(value),
            year=year,
            has_time=year is not None and has_time_of_day(value),
            words=len(value.split()),
            has_letters=any(map(str.isalpha, value[:LONGEST_WHOLE])),
            is_sentence=is_sentence(value),
        )
        if len(value) <= LONGEST_WHOLE:
            if len(self._seen) >= REMEMBERED:
                self._seen.clear()
            self._seen[value] = seen
        return seen

    def _score(self, model: Model, values: Sequence[str]) -> None:
        sums = model.likely(values).sum(axis=0)
        for label, total in zip(model.labels, sums.tolist(), strict=True):
            self._tally.likely[label] = self._tally.likely.get(label, 0.0) + total
        self._tally.scored += len(values)

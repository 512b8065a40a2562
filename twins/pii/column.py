"""One column, value by value, in bounded memory: counts are remembered, and a few thousand recent values.

All values are looked at, not a sample: one e-mail address in a million cells is one person too many. Equal
values are looked at once where that is cheap.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from twins.pii.dates import has_time_of_day, year_of
from twins.pii.decide import decide
from twins.pii.finding import Finding
from twins.pii.header import kind_of_header
from twins.pii.marks import LONGEST_WHOLE, is_missing, marks_of, marks_of_json, without_fraction
from twins.pii.model import Model
from twins.pii.organisations import is_organisation
from twins.pii.tally import FULL_NAME, MOST_LETTERS, MOST_SHAPES, PERSON, Name, Tally, hash_of, shape_of
from twins.pii.text import has_form_of_full_name, is_sentence
from twins.pii.within import (
    MOST_FIELDS,
    WORDS_OF_PATHS,
    fields_of,
    is_path,
    numbers_of,
    text_shown,
    words_of_path,
)

BATCH = 4096
REMEMBERED = 4096
"""Values whose marks are kept to look up; the memory is emptied when it is full."""

LONGEST_SCORED = 80
_DIGIT = re.compile(r"\d")
_NAMES = re.compile(r"[^\W\d_]+(?:[ .'’-]{1,2}[^\W\d_]+){1,6}\.?")
_BRACKETS = re.compile(r"(?<=\S) ?\([^()]{1,60}\)$")
"""What stands in brackets behind a name: a party, a firm, a year."""

Parts = tuple[tuple[str, str], ...]
"""Names and values inside a value."""


class _Seen(NamedTuple):
    """What one value adds, each time it comes."""

    marks: frozenset[str]
    year: int | None
    has_time: bool
    words: int
    has_letters: bool
    is_sentence: bool
    parts: Parts


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
        self._within: dict[str, ColumnScan] = {}

    def add(self, values: Sequence[str]) -> None:
        """More cells, as they are read. Spaces around a value and missing codes do not count; of a cell that
        lists long numbers each counts."""
        for start in range(0, len(values), BATCH):
            shown = (text_shown(value.strip()) for value in values[start : start + BATCH])
            each = (part for value in shown for part in numbers_of(value))
            self._batch(Counter(map(without_fraction, each)))

    def finish(self) -> Finding:
        """What the column is. More values may be added afterwards."""
        kind = None if self._name is None else kind_of_header(self._name)
        within = [scan.finish() for scan in self._within.values()]
        return decide(self._name, kind, self._tally, within)

    def _batch(self, counted: Counter[str]) -> None:
        new: list[str] = []
        inner: dict[str, Counter[str]] = {}
        for value, times in counted.items():
            if is_missing(value):
                self._tally.missing += times
                continue
            seen = self._seen.get(value)
            if seen is None:
                seen = self._look(value)
                if seen.has_letters and len(value) <= LONGEST_SCORED and "json" not in seen.marks:
                    new.append(value)
            self._count(value, seen, times)
            for name, part in seen.parts:
                inner.setdefault(name, Counter())[part.strip()] += times
        for name, counts in inner.items():
            self._add_within(name, counts)
        # each value once, not once for each row: a column is judged by its different values
        if self._model is not None and new:
            self._score(self._model, new)

    def _add_within(self, name: str, counts: Counter[str]) -> None:
        """Fields beyond the first few are left to the rules on the whole text."""
        if name not in self._within:
            if len(self._within) >= MOST_FIELDS:
                return
            header = None if name == WORDS_OF_PATHS else name
            self._within[name] = ColumnScan(header, model=self._model)
        self._within[name]._batch(counts)

    def _count(self, value: str, seen: _Seen, times: int) -> None:
        tally = self._tally
        tally.present += times
        for mark in seen.marks:
            tally.marks[mark] += times
        tally.words += seen.words * times
        tally.spaced += times * (seen.words > 1)
        tally.with_letters += times * seen.has_letters
        tally.cased += times * (seen.has_letters and value[:64].title() != value[:64].lower())
        tally.small += times * (
            seen.has_letters and value.islower() and not any(map(str.isdigit, value[:64]))
        )
        tally.sentences += times * seen.is_sentence
        tally.short += times * (len(value) <= 3 and value.isascii())
        tally.long += times * (len(value) > LONGEST_WHOLE)
        if seen.year is not None:
            tally.add_year(seen.year, times)
            tally.with_time += times * seen.has_time
        hashed = hash_of(value)
        tally.distinct.add(hashed)
        tally.few.add(hashed, times)
        if seen.year is None:
            tally.phones.add(value, hashed)
        if "house number" in seen.marks:
            tally.houses.add(hash_of("".join(filter(str.isdigit, value))))
        if len(tally.firsts) <= MOST_LETTERS:
            tally.firsts.add(value[0])
        if len(tally.wordings) <= MOST_LETTERS:
            tally.wordings.add(hash_of(_DIGIT.sub("", value)))
        shape = shape_of(value)
        if shape in tally.shapes or len(tally.shapes) < MOST_SHAPES:
            tally.shapes[shape] += times
        tally.numbers.add(value, times)
        if seen.has_letters:
            tally.numbered.add(value, times)

    def _look(self, value: str) -> _Seen:
        year = year_of(value)
        fields = fields_of(value)
        marks = marks_of(value) if fields is None else marks_of_json(value)
        seen = _Seen(
            marks=marks,
            year=year,
            has_time=year is not None and has_time_of_day(value),
            words=len(value.split()),
            has_letters=any(map(str.isalpha, value[:LONGEST_WHOLE])),
            is_sentence=is_sentence(value),
            parts=_words_in(value) if fields is None else tuple(fields),
        )
        if len(value) <= LONGEST_WHOLE:
            if len(self._seen) >= REMEMBERED:
                self._seen.clear()
            self._seen[value] = seen
        return seen

    def _score(self, model: Model, values: Sequence[str]) -> None:
        bare = [_without_brackets(value) for value in values]
        said = model.likely([_small(value) for value in bare])
        for label, total in zip(model.labels, said.sum(axis=0).tolist(), strict=True):
            self._tally.likely[label] = self._tally.likely.get(label, 0.0) + total
        self._tally.scored += len(values)
        self._tally.known += sum(map(model.names.share, bare))
        if not self._tally.few.is_over:
            person = [at for at, label in enumerate(model.labels) if label in PERSON]
            full = [at for at, label in enumerate(model.labels) if label == FULL_NAME]
            likely = said[:, person].sum(axis=1).tolist(), said[:, full].sum(axis=1).tolist()
            for value, any_name, full_name in zip(values, *likely, strict=True):
                # an office that is called after somebody has the form of a name as well
                has_form = has_form_of_full_name(value) and not is_organisation(value)
                self._tally.few.names[hash_of(value)] = Name(any_name, full_name, has_form)


def _without_brackets(value: str) -> str:
    return _BRACKETS.sub("", value) if value[-1] == ")" else value


def _small(value: str) -> str:
    """Words in capitals, as families are often written, in small letters: capitals taught the model codes."""
    if value.isupper() and value.isalpha():
        return value.title()
    if _NAMES.fullmatch(value) is None:
        return value
    return " ".join(word.title() if len(word) > 3 and word.isupper() else word for word in value.split())


def _words_in(value: str) -> Parts:
    words = words_of_path(value) if is_path(value) else ""
    return ((WORDS_OF_PATHS, words),) if words else ()

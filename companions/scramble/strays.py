"""Numbers of people and records where nobody looked for them: in other columns, headers and names of files.

A number that is renamed in one place and left in another hands out whose it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from companions.scramble.identifiers import Identifier, real_values
from domain.people_in_paths import label_of
from dpgate.errors import DpgateError

SHORTEST = 5
"""Characters: shorter ones, such as 01, are ages, visits and runs as well."""

_BETWEEN = re.compile(r"[^A-Za-z0-9+.]")
_ZEROS = re.compile(r"\.0*$")

SHARE = 0.1
"""Of the different values of a column: a few may be equal by chance."""


def numbers_in(columns: Sequence[Sequence[str]]) -> frozenset[str]:
    """What these columns call people and records, where that is long enough to be nothing else. Without a
    digit it is a word, such as unknown, which other columns have as well."""
    labels = (_ZEROS.sub("", label_of(cell.strip())) for column in columns for cell in real_values(column))
    return frozenset(label for label in labels if len(label) >= SHORTEST and any(map(str.isdigit, label)))


def find_strays(
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    known: Set[str],
    *,
    but: Set[str],
    keep: Sequence[str],
) -> Iterator[Identifier]:
    """Columns `but` those that are looked after, which hold numbers that are known from elsewhere."""
    for name, column in zip(names, columns, strict=True):
        values = real_values(column)
        found = sum(not known.isdisjoint(_words(value)) for value in values)
        if name not in but and found and found >= SHARE * len(values):
            yield Identifier(name, "RECORD_ID", "kept" if name in keep else "renamed", len(values))


def check_words(text: str, known: Set[str], *, what: str, advice: str) -> None:
    """Raises DpgateError where a header or a path has one of them as a word."""
    if not known.isdisjoint({*_words(text), *re.split(r"[^A-Za-z0-9+]", text), *re.split(r"[/_.\s]", text)}):
        raise DpgateError(f"{what} names somebody by a number that is renamed in a table; {advice}")


def _words(text: str) -> set[str]:
    """The whole, and each number or word in a list or in other text; 48210.0 is 48210."""
    whole = label_of(text.strip())
    return {_ZEROS.sub("", whole), *(_ZEROS.sub("", word) for word in _BETWEEN.split(text))}

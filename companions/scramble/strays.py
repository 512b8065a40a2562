"""Names and numbers of people where nobody looked for them: in other columns, headers and names of files.

A number that is renamed in one place and left in another hands out whose it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set

from companions.scramble.identifiers import Identifier, real_values
from domain.people_in_paths import label_of
from dpgate.errors import DpgateError

SHORTEST = 5
"""Characters: shorter ones, such as 01, are ages, visits and runs as well."""

_BETWEEN = re.compile(r"[^A-Za-z0-9+.]")
_ZEROS = re.compile(r"\.0*$")

_WORD = re.compile(r"[^\W\d_]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})

SHARE = 0.1
"""Of the different values of a column: a few may be equal by chance."""


def numbers_in(columns: Sequence[Sequence[str]]) -> frozenset[str]:
    """What these columns call people and records, where that is long enough to be nothing else. Without a
    digit it is a word, such as unknown, which other columns have as well."""
    labels = (_ZEROS.sub("", label_of(cell.strip())) for column in columns for cell in real_values(column))
    return frozenset(label for label in labels if len(label) >= SHORTEST and any(map(str.isdigit, label)))


def words_of_names(columns: Sequence[Sequence[str]]) -> frozenset[str]:
    """The words of people's names in these columns, as a path may write them."""
    return frozenset(word for column in columns for cell in real_values(column) for word in _spellings(cell))


def check_path(path: str, names: Set[str]) -> None:
    """Raises DpgateError for a file or folder that is called after somebody: by two words of names, or for a
    file by one alone."""
    *_, file = parts = path.split("/")
    for part in parts:
        words = _WORD.findall(part.partition(".")[0])
        known = sum(not names.isdisjoint(_spellings(word)) for word in words)
        if known >= 2 or (part == file and known == len(words) == 1):
            raise DpgateError(
                f"the path {path} has a name of somebody whom a table names; rename it, or --exclude it"
            )


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


def _spellings(text: str) -> set[str]:
    """Words of three letters or more, in small ones: as they are, without accents, and with `ue` for `ü`."""
    small = unicodedata.normalize("NFC", text.casefold())
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", small) if not unicodedata.combining(sign))
    forms = (small, plain, small.translate(_UMLAUTS))
    return {word for form in forms for word in _WORD.findall(form) if len(word) >= 3}


def _words(text: str) -> set[str]:
    """The whole, and each number or word in a list or in other text; 48210.0 is 48210."""
    whole = label_of(text.strip())
    return {_ZEROS.sub("", whole), *(_ZEROS.sub("", word) for word in _BETWEEN.split(text))}

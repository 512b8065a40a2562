"""What a column's name says it holds, in English, Dutch, Spanish, German, French and Italian; what names a
person in some twenty further languages.

A name is evidence, not proof: `twins/pii/decide.py` believes it only where the values could be what it says.
"""

from __future__ import annotations

import re
import unicodedata

from domain.identifier_kind import Kind
from twins.pii.header_further import FURTHER_PARTS, FURTHER_WHOLE
from twins.pii.header_words import (
    ABOUT_SOMETHING,
    AMOUNTS,
    NO_ID_OF_A_PERSON,
    NO_PERSON,
    NUMBERED_BY,
    PARTS,
    PARTS_OF_NAMES,
    PEOPLE,
    PLACES_OF_ADDRESSES,
    PLAIN_NAMES,
    THINGS_WITH_CODES,
    TIMES,
    WHOLE,
    WORDS,
)

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LONGEST = 200
_PLAIN = str.maketrans({"ß": "ss", "ø": "o", "ı": "i"})


def words_of(header: str) -> tuple[str, ...]:
    """Small letters without accents: `dateOfBirth`, `date_of_birth` and `Date of birth` are the same."""
    plain = unicodedata.normalize("NFKD", header[:_LONGEST].translate(_PLAIN))
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return tuple(re.findall(r"[^\W\d_]+|\d+", _CAMEL.sub(" ", plain).casefold()))


def kind_of_header(header: str) -> Kind | None:
    """The kind that a name announces, or None. Names about something else (`phone_type`) announce nothing."""
    words = words_of(header)
    if not words:
        return None
    joined = "".join(words)
    kind = WHOLE.get(joined) or _ALSO_WHOLE.get(joined) or _by_part(joined) or _by_word(words)
    if kind in (None, Kind.PERSON) and PEOPLE & set(words) and NUMBERED_BY & set(words):
        kind = Kind.RECORD_ID
    if kind is None or (len(words) > 1 and ABOUT_SOMETHING & set(words)):
        return None
    if kind is Kind.ADDRESS:
        return _of_an_address(words[-1])
    if kind is Kind.PERSON and NO_PERSON & set(words):
        return None
    if (
        kind is Kind.RECORD_ID
        and joined not in WHOLE
        and joined not in _ALSO_WHOLE
        and not PEOPLE & set(words)
        and NO_ID_OF_A_PERSON & set(words)
    ):
        return None
    return kind


def is_plain_name(header: str) -> bool:
    """Whether a header says `name` and not whose: that of a person, a town or a shop."""
    words = set(words_of(header))
    return bool(PLAIN_NAMES & words) and not (PARTS_OF_NAMES | PEOPLE) & words


def speaks_of_a_thing(header: str) -> bool:
    """Whether a name is about a drug, a region, a colour and the like, whose values may look like names."""
    return bool(NO_PERSON & set(words_of(header)))


def speaks_of_codes_of_things(header: str) -> bool:
    """Whether a name is about a sample, a grant, a file and the like, each of which has its own code."""
    words = set(words_of(header))
    is_numbered = bool(NUMBERED_BY & words) and not PEOPLE & words
    return bool(THINGS_WITH_CODES & words) or (is_numbered and bool((NO_ID_OF_A_PERSON | NO_PERSON) & words))


def speaks_of_amounts(header: str) -> bool:
    """Whether a name is about how much or how many, as large numbers are that all differ."""
    return bool(AMOUNTS & set(words_of(header)))


def speaks_of_time(header: str) -> bool:
    """Whether a name is about a moment, also as the end of a word: `created_at`, `datetime`, `visitDate`."""
    words = words_of(header)
    return bool(TIMES & set(words)) or any(word.endswith(("time", "date", "stamp")) for word in words)


def _of_an_address(last: str) -> Kind:
    """`address_city` and `Address: Zip` are a part of an address that names no house."""
    if last in PLACES_OF_ADDRESSES:
        return Kind.PLACE
    said = WORDS.get(last, Kind.ADDRESS)
    return said if said in (Kind.COORDINATE, Kind.POSTCODE, Kind.PLACE) else Kind.ADDRESS


def _by_part(joined: str) -> Kind | None:
    """German and Dutch write compounds: what is long enough counts wherever it stands."""
    return next((kind for kind, parts in _ALL_PARTS for part in parts if part in joined), None)


def _by_word(words: tuple[str, ...]) -> Kind | None:
    # the first kind of the table that any word means: a birth date is more than a date
    said = {WORDS[word] for word in words if word in WORDS}
    return next((kind for kind in _ORDER if kind in said), None)


def _joined(text: str) -> tuple[str, ...]:
    return tuple("".join(words_of(word)) for word in text.split())


_ORDER = tuple(dict.fromkeys(WORDS.values()))
_ALSO_WHOLE = {word: kind for kind, text in FURTHER_WHOLE.items() for word in _joined(text)}
_ALL_PARTS = (*PARTS, *((kind, _joined(text)) for kind, text in FURTHER_PARTS))

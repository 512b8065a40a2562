"""Telephone numbers, by the numbering plans in phonenumbers, which is loaded at the first question.

A number with a country code tells by itself whether it can be one. A number as it is written at home is one
only of a country in which nearly all of a column are: a few dozen values of a column are asked of each plan.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

MOST_ASKED = 32
"""Different values of a column that are asked of all plans: each answer costs thousandths of a second."""

FEWEST_BARE = 9
"""Digits of a number without a zero in front: shorter ones are numbers of anything."""

NEARLY_ALL = 0.9
MOST_MISSED = int((1 - NEARLY_ALL) * MOST_ASKED)

_ABROAD = re.compile(r"(?<![\w+./-])00 ?[1-9]\d{0,2}(?:[ ./()-]{0,2}\d){8,13}(?![\w]|[-.]\d)", re.ASCII)
# in East Asia: an area or a mobile network, then two groups of which the last has four digits
_HYPHENATED = re.compile(r"(?<![\w+./-])0\d{1,3}-\d{3,4}-\d{4}(?![\w-])", re.ASCII)
_HOME = re.compile(r"[(\d][\d ()./-]{5,21}", re.ASCII)
_FORM = re.compile(
    r"(?:\+|00)?\d{0,3}[ .-]?\((?:\+\d{1,3}|0?\d{1,5})\)(?:[ ./-]{0,3}\d){4,10}|"
    r"0[1-9]\d{0,3}[ /.()-]{1,3}\d{1,8}(?:[ /.-]\d{2,8}){0,5}|"
    r"\d{3}[ .]\d{3}[ .]\d{3,4}|\d{3} \d{2} \d{2} \d{2}|"
    r"(?:\+|00)[1-9]\d{0,2}(?:[ ./()-]{0,2}\d){6,12}|(?:1-)?\d{3}[-.]\d{3}[-.]\d{4}",
    re.ASCII,
)
_FRACTION = re.compile(r"\d*\.\d*", re.ASCII)
_EXTENSION = re.compile(r" ?(?:x|ext\.?|#) ?\d{1,6}")
# those whose plans are told apart by it; others share theirs, or have too few digits to tell anything
_COUNTRIES_TEXT = """
US GB IE AU NZ IN PK BD NG KE ZA GH NL BE DE AT CH LU FR ES PT IT GR SE NO DK FI IS EE LV LT PL CZ SK HU SI HR
RS BA MK BG RO UA RU TR IL SA AE EG DZ MA JO IR CN TW HK JP KR TH VN ID PH MY SG MX BR AR CL CO PE
"""
_COUNTRIES = tuple(_COUNTRIES_TEXT.split())


@dataclass
class Asked:
    """How many different values were asked, and how many of them each country's plan has."""

    asked: int = 0
    seen: set[int] = field(default_factory=set)
    countries: Counter[str] = field(default_factory=Counter)

    def add(self, value: str, hashed: int) -> None:
        """Asks of the first `MOST_ASKED` different values that could be numbers; others count for nothing.

        A country whose plan lacks so many that it can no longer have nearly all of them is asked no more.
        """
        if self.asked >= MOST_ASKED or not could_be_at_home(value) or hashed in self.seen:
            return
        self.seen.add(hashed)
        left = [each for each in _COUNTRIES if self.asked - self.countries[each] <= MOST_MISSED]
        self.asked += 1
        self.countries.update(country for country in left if is_of(value, country))

    @property
    def share(self) -> float:
        """The largest share of the asked values that one country has."""
        return max(self.countries.values(), default=0) / self.asked if self.asked else 0.0


def could_be_at_home(value: str) -> bool:
    """Seven to eleven digits with signs between them or a zero in front, or nine without; and no fraction."""
    bare = _EXTENSION.sub("", value)
    if _HOME.fullmatch(bare) is None or _FRACTION.fullmatch(bare) is not None:
        return False
    if not 7 <= sum(map(str.isdigit, bare)) <= 11:
        return False
    return not bare.isdigit() or bare[0] == "0" or len(bare) >= FEWEST_BARE


def has_form(value: str) -> bool:
    """Whether a value is written as telephone numbers are, and nothing else is written so as often."""
    return len(value) <= 40 and _FORM.fullmatch(_EXTENSION.sub("", value)) is not None


def contains_number(text: str) -> bool:
    """A number with 00 and a country code that some country has, or one with hyphens as in East Asia."""
    if "-" in text and _HYPHENATED.search(text):
        return True
    return "00" in text and any(is_of("+" + match[0][2:], None) for match in _ABROAD.finditer(text))


def is_of(value: str, country: str | None) -> bool:
    """Whether a country's plan has this number; with None, any country that the number itself names."""
    # loaded here: most programs ask of no telephone
    import phonenumbers

    try:
        return bool(phonenumbers.is_valid_number(phonenumbers.parse(value, country)))
    except phonenumbers.NumberParseException:
        return False

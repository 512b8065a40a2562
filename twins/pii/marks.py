"""All rules on one value: the names of those that it meets. Nothing here remembers a value."""

from __future__ import annotations

import ipaddress
import re

from twins.pii.codes import codes_of
from twins.pii.contained import contained, is_card_number
from twins.pii.national_ids import schemes_of
from twins.pii.organisations import is_organisation
from twins.pii.phones import has_form
from twins.pii.places import CALENDAR, ORIGINS, PLACES
from twins.pii.places import LONGEST as LONGEST_PLACE
from twins.pii.text import SPREADSHEET_CARD, forms_of
from twins.pii.within import has_home_of_somebody, is_path

LONGEST_WHOLE = 200
"""Characters up to which a value can be one identifier; a longer one is searched for what it contains."""

FEWEST_WRITTEN_OUT = 7
"""Digits of a whole number from which on `.0` behind it is taken away: shorter ones are measurements."""

MISSING = frozenset(
    {
        "",
        "n/a",
        "na",
        "nan",
        "null",
        "none",
        "nil",
        ".",
        "-",
        "--",
        "?",
        "#n/a",
        "#na",
        "missing",
        "<na>",
        "nat",
        "(null)",
        "\\n",
    }
)
"""After spaces are taken off and letters made small: `n/a ` with a space is missing as well."""

_MAC = re.compile(
    r"[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2}(?:\1[0-9A-Fa-f]{2}){4})|(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}"
)
_UUID = re.compile(r"\{?[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\}?")
_HEX = re.compile(r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{128})", re.IGNORECASE)
_SHORT_HEX = re.compile(r"[0-9a-f](?=\d{0,4}[a-f])[0-9a-f]{6}")
"""As git cuts its digests. Numbers of people have a letter in front or behind, and digits between."""

_BASE64 = re.compile(r"(?=[^\s]{0,80}[a-z])(?=[^\s]{0,80}[A-Z])(?=[^\s]{0,80}\d)[A-Za-z0-9+/_-]{20,86}={0,2}")
_URL = re.compile(r"(?:https?|ftp)://[^\s]{3,}|www\.[^\s]{3,}", re.IGNORECASE)
_PROFILE = re.compile(
    r"(?:linkedin|facebook|twitter|instagram|github|gitlab|orcid|xing|tiktok|researchgate|youtube|mastodon|x)\.(?:com|org|net|social)"
    r"/(?:in/|@|people/|profile/)?[\w.-]{2}|/~[\w.-]{2}|[?&](?:user|email|id|uid)=",
    re.IGNORECASE,
)
_VOCABULARY = re.compile(
    r"snomed\.info|loinc\.org|w3\.org|hl7\.org|purl\.|doi\.org|wikipedia\.org|wikidata\.org|ncbi\.nlm",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"(?:sub|subj|subject|pat|patient|participant|pt|ptid|case|proband|person)[-_ ]?[A-Za-z]{0,6}\d{1,10}",
    re.IGNORECASE,
)
_HANDLE = re.compile(
    # behind the domain of a network, as machines name who is logged on
    r"[A-Z][A-Z0-9-]{1,14}\\[A-Za-z0-9._-]{2,30}|@[A-Za-z0-9_.]{2,30}|(?:live|skype|sip|xmpp|acct):[A-Za-z0-9_.@-]{2,60}"
)
_MIXED = re.compile(
    r"(?=(?:[^\d]{0,20}\d){3})(?=[\W\d_]{0,64}[^\W\d_])[^\W_](?:[^\W_]|[_.\-/]){3,63}|"
    # signs in any order, behind the letters of a study or an archive
    r"(?:[A-Z]{2,8}[_-])?(?=[A-Z]*\d+[A-Z]+\d|\d*[A-Z]+\d+[A-Z])[A-Z\d]{7,24}|"
    r"(?=.{6})(?=(?:[^\d]{0,12}\d){2})(?=[^A-Z]{0,24}[A-Z])"
    r"(?:[A-Z]{1,4}|\d{1,6})(?:[ .-]?(?:[A-Z]{1,4}|\d{1,6})){1,4}"
)
_ACCOUNT = re.compile(r"[a-z]{4,12}0\d")
"""The first of a name, and a number in case somebody else has it."""

_JOINED = re.compile(r"[a-z]{2,30}(?:_[a-z]{2,30}){1,4}")
"""Words that a line joins: accounts are written so, and terms of a catalogue."""

_GROUPED = re.compile(r"(?=(?:\D?\d){7})\d{1,12}(?:[ ./-]\d{1,12}){1,5}", re.ASCII)
"""Digits in groups that are no phrase of anything known: seven digits or more."""

_IN_A_ROW = re.compile(r"[1-9]\d*(?: [1-9]\d*){3,5}", re.ASCII)
"""Four numbers or more, of which none begins with 0."""

_THING_INSIDE = re.compile(
    r"[-_. ](?:"
    r"(?i:sample|specimen|spec|aliquot|tube|vial|slide|block|plate|rack|well|lot|batch|lane)[-_ ]?\d|"
    # the row and the column of a plate of 96 wells
    r"[A-H](?:0?[1-9]|1[0-2])$)",
)
_VALUE_MAIL = re.compile(r"[^\s@]{1,64}@[^\s@]{3,190}")
_FRACTION = re.compile(r"[-+]?\d{0,20}[.,]\d{1,20}(?:[eE][-+]?\d{1,3})?", re.ASCII)
_DIGITS = re.compile(r"[0-9]+")
_SEX_TEXT = """
m f male female man woman vrouw männlich weiblich maennlich frau mann w v h hombre mujer homme femme uomo
donna masculino femenino masculin féminin maschio femmina x d other nonbinary non-binary divers anders
"""
_SEX = frozenset(_SEX_TEXT.split())
_OF_TWO = frozenset(
    {
        "m",
        "f",
        "male",
        "female",
        "man",
        "vrouw",
        "woman",
        "hombre",
        "mujer",
        "homme",
        "femme",
        "uomo",
        "donna",
        "männlich",
        "weiblich",
        "frau",
        "mann",
        "w",
        "v",
    }
)


def without_fraction(value: str) -> str:
    """`9126855092.0` is the number 9126855092: tables with empty cells write whole numbers so."""
    bare = value[:-2]
    return (
        bare
        if value.endswith(".0") and bare.isdecimal() and bare.isascii() and len(bare) >= FEWEST_WRITTEN_OUT
        else value
    )


def is_missing(value: str) -> bool:
    """Whether a cell without spaces around it stands for no value."""
    return len(value) <= 8 and value.casefold() in MISSING


def marks_of(value: str) -> frozenset[str]:
    """The rules that a value (without spaces around it) meets. Linear in its length."""
    if len(value) <= 40 and _FRACTION.fullmatch(value):
        # most cells of most tables: a fraction is a measurement, or a card number that a spreadsheet wrote
        if value[0] == "0" and value[1].isdigit():
            return frozenset({"fraction behind zeros"})
        return frozenset({"card, spreadsheet"}) if SPREADSHEET_CARD.fullmatch(value) else frozenset()
    if _UUID.fullmatch(value):
        return frozenset({"uuid"})
    found = [f"has {rule}" for rule in contained(value)]
    if "/" in value or "\\" in value:
        found += ["home of somebody"] if has_home_of_somebody(value) else []
    if is_path(value):
        found.append("path")
    if len(value) > LONGEST_WHOLE:
        return frozenset(found)
    if _DIGITS.search(value) is not None:
        found += _with_digits(value)
    found += [f"code: {name}" for name in codes_of(value)]
    found += [name for name, pattern in _PATTERNS if pattern.fullmatch(value)]
    found += forms_of(value)
    if " " in value and is_organisation(value):
        found.append("organisation")
    if "url" in found or _PROFILE.match(value):
        found += (
            ["profile"] if _PROFILE.search(value) else ["vocabulary"] if _VOCABULARY.search(value) else []
        )
    if len(value) <= LONGEST_PLACE:
        found += _words(value.casefold())
    return frozenset(found)


def marks_of_json(value: str) -> frozenset[str]:
    """Of a cell with fields: what identifies somebody wherever it stands.

    Numbers beside each other in a list are no coordinates.
    """
    found = {f"has {rule}" for rule in contained(value)} - {"has coordinates"} | {"json"}
    return frozenset(found | ({"home of somebody"} if has_home_of_somebody(value) else set()))


def _words(word: str) -> list[str]:
    found = []
    if word in _SEX:
        found += ["sex", "sex of two"] if word in _OF_TWO else ["sex"]
    if word in PLACES or _is_town_of_a_place(word):
        found.append("place")
    place, _, year = word.rpartition(" ")
    if place in PLACES and year.isdecimal() and len(year) in (2, 4):
        found.append("code: place and year")
    if word in CALENDAR:
        found.append("calendar")
    if word in ORIGINS:
        found.append("origin")
    return found


def _is_town_of_a_place(word: str) -> bool:
    """`town, state`, which has the form of a name with its family in front."""
    town, comma, place = word.partition(", ")
    return bool(comma) and place in PLACES and not any(map(str.isdigit, town))


def _with_digits(value: str) -> list[str]:
    found = []
    for scheme in schemes_of(value):
        found.append(f"{'scheme' if scheme.is_strong else 'weak scheme'}: {scheme.name}")
    if ":" in value or value.count(".") == 3:
        found += _addresses_of_machines(value)
    if has_form(value):
        found.append("phone, national")
    if _THING_INSIDE.search(value):
        found.append("thing inside")
    if _DIGITS.fullmatch(value) and is_card_number(value):
        found.append("card, bare")
    return found


def _addresses_of_machines(value: str) -> list[str]:
    try:
        address = ipaddress.ip_interface(value)
    except ValueError:
        return []
    if address.version == 6:
        return ["ip 6"]
    # versions have small numbers: four places of which none is large say little
    return ["ip 4", "ip 4, large"] if max(address.packed) > 40 else ["ip 4"]


_PATTERNS = (
    ("mac", _MAC),
    ("hex digest", _HEX),
    ("short digest", _SHORT_HEX),
    ("token", _BASE64),
    ("url", _URL),
    ("person code", _PERSON),
    ("handle", _HANDLE),
    ("mixed", _MIXED),
    ("account", _ACCOUNT),
    ("joined", _JOINED),
    ("grouped", _GROUPED),
    ("in a row", _IN_A_ROW),
    ("whole email", _VALUE_MAIL),
)

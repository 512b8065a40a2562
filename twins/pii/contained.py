"""What identifies somebody wherever it stands in a text: one such value in a million is one person too many.

Every expression here is linear in the length of the text: no repetition lies within a repetition that could
match the same characters, and each search starts at a sign that the rest cannot contain.
"""

from __future__ import annotations

import re

from twins.pii import check_digits as check
from twins.pii.national_ids import schemes_of
from twins.pii.phones import contains_number

# RFC 6531: any script on both sides, and so also the signs above its letters, which are no letters
_PART = r"[^\s@.,;:!?<>()\[\]{}\"'/\\|]"
_MAIL = re.compile(
    rf"(?<=[^\s@<>()\[\],;:\"])@{_PART}{{1,63}}(?:\.{_PART}{{1,63}}){{0,8}}\.(?:[^\s@.,;:!?<>()\[\]{{}}\"'/\\|\d_-]{{2,24}}|xn--[a-z0-9-]{{1,59}})"
    r"(?![A-Za-z0-9])"
)
# as people write it for others and not for machines
_MAIL_SPELT = re.compile(
    r"(?<=[\w ])[(\[{] ?at ?[)\]}] ?[\w-]{1,63}(?:\.| ?[(\[{] ?dot ?[)\]}] ?)[^\W_]{2}", re.IGNORECASE
)
_SSN = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])", re.ASCII)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])")
_CARD = re.compile(r"(?<![\d-])\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?![\d-])", re.ASCII)
# with a country code, or as written in North America
_PHONE = re.compile(
    r"(?<![\w+.])(?:(?:\+\d{1,3}|\(\+\d{1,3}\))[ .-]?(?:\(0?\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,5}|"
    r"\(\d{3}\) ?\d{3}-\d{4}|(?:1[-.])?[2-9]\d{2}[-.][2-9]\d{2}[-.]\d{4})"
    r"(?:(?: ?x| ext\.? ?)\d{1,6})?(?![\w-]|\.\d)",
    re.ASCII,
)
_COORDINATES = re.compile(r"(?<![\w.])-?\d{1,2}\.\d{4,}, ?-?\d{1,3}\.\d{4,}(?![\w.])", re.ASCII)
_DEGREES = r"\d{1,3} ?° ?(?:\d{1,2}(?:[.,]\d{1,8})? ?[′'’´] ?(?:\d{1,2}(?:[.,]\d{1,8})? ?(?:[″\"”]|''|′′))?)?"
_PAIR_IN_DEGREES = re.compile(
    rf"{_DEGREES} ?[NSZ][,;/ ]{{0,3}}{_DEGREES} ?[EWOL]|[NS] ?{_DEGREES}[,;/ ]{{0,3}}[EWO] ?{_DEGREES}"
)

IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24,
    "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21,
    "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21,
    "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MT": 31, "NL": 18, "NO": 15,
    "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19,
    "SK": 24, "SM": 27, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "XK": 20,
}  # fmt: skip
"""ISO 13616: how long an IBAN of each country is."""

_SHORTEST = 7


def contained(text: str) -> list[str]:
    """The rules that something in this text meets: email, ssn, iban, card, phone, coordinates."""
    if len(text) < _SHORTEST:
        return []
    found = []
    if ("@" in text and _MAIL.search(text)) or _MAIL_SPELT.search(text):
        found.append("email")
    if not _has_digit(text):
        return found
    if "-" in text and any(_is_issued(match[0]) for match in _SSN.finditer(text)):
        found.append("ssn")
    if any(is_iban(match[0]) for match in _IBAN.finditer(text)):
        found.append("iban")
    if any(_is_card(match[0]) for match in _CARD.finditer(text)):
        found.append("card")
    if any(8 <= sum(map(str.isdigit, match[0])) <= 21 for match in _PHONE.finditer(text)) or contains_number(
        text
    ):
        found.append("phone")
    if ("°" in text and _PAIR_IN_DEGREES.search(text)) or (
        "." in text and "," in text and any(_on_earth(match[0]) for match in _COORDINATES.finditer(text))
    ):
        found.append("coordinates")
    return found


def is_iban(text: str) -> bool:
    """ISO 13616: the country's length, and the check digits. A longer text may begin with an IBAN."""
    bare = text.replace(" ", "")
    length = IBAN_LENGTHS.get(bare[:2], 0)
    if not length or len(bare) < length:
        return False
    return "02" <= bare[2:4] <= "98" and check.rest97(bare[:length]) == 1


def is_card_number(digits: str) -> bool:
    """ISO/IEC 7812: a range that schemes issue from, and the Luhn digit."""
    if not 13 <= len(digits) <= 19 or not digits.isascii():
        return False
    issued = digits[0] == "4" or "51" <= digits[:2] <= "55" or "2221" <= digits[:4] <= "2720"
    issued = issued or digits[:2] in ("34", "37", "35", "36", "38", "30", "60", "62", "64", "65", "50")
    issued = issued or "56" <= digits[:2] <= "58"
    return issued and check.luhn(digits)


def _is_card(text: str) -> bool:
    return is_card_number(text.replace(" ", "").replace("-", ""))


def _is_issued(text: str) -> bool:
    return any(scheme.name == "us ssn" for scheme in schemes_of(text))


def _on_earth(text: str) -> bool:
    """And not where fractions lie: within a degree of both the equator and Greenwich is open sea."""
    latitude, longitude = (abs(float(part)) for part in text.split(","))
    return latitude <= 90 and longitude <= 180 and max(latitude, longitude) > 1


_DIGIT = re.compile(r"[0-9]")


def _has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None

"""Numbers by which states know people: how each is written, and the check that it must pass.

A format with a date or letters in it is strong: half of a column is enough. Bare digits with one check digit
pass by chance in every tenth number: there, nine in ten have to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from domain.pii import check_digits as check

_SIGNS = re.compile(r"[ .\-/]")


@dataclass(frozen=True)
class Numbering:
    """One scheme. `check` sees the value without spaces, points and hyphens."""

    name: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool]
    is_strong: bool


def _any(_: str) -> bool:
    return True


def _day_first(text: str) -> bool:
    return 1 <= int(text[:2]) <= 31 and 1 <= int(text[2:4]) <= 12


def _year_first(text: str) -> bool:
    # personnummer: a coordination number adds 60 to the day
    return 1 <= int(text[2:4]) <= 12 and 1 <= int(text[4:6]) % 60 <= 31


def _personnummer(text: str) -> bool:
    bare = text.replace("+", "")[-10:]
    return _year_first(bare) and check.luhn(bare)


def _pesel(text: str) -> bool:
    # the century is added to the month, in steps of 20
    return 1 <= int(text[2:4]) % 20 <= 12 and 1 <= int(text[4:6]) <= 31 and check.polish(text)


def _german_tax(text: str) -> bool:
    # one digit of the first ten comes two or three times, so that at most nine are different
    return len(set(text[:10])) in (8, 9) and check.mod11_10(text)


def _nhs(text: str) -> bool:
    # England and Wales have 40 to 79, Northern Ireland 32 to 39; Scotland's CHI number starts with a date
    issued = "40" <= text[:2] <= "79" or "32" <= text[:2] <= "39" or _day_first(text)
    return issued and check.nhs(text)


def _hetu(text: str) -> bool:
    return _day_first(text) and check.finnish(text)


def _aadhaar(text: str) -> bool:
    return text[0] not in "01" and check.verhoeff(text)


def _chinese(text: str) -> bool:
    return 1 <= int(text[10:12]) <= 12 and 1 <= int(text[12:14]) <= 31 and check.chinese(text)


def _scheme(name: str, pattern: str, test: Callable[[str], bool], *, strong: bool) -> Numbering:
    return Numbering(name, re.compile(pattern, re.ASCII), test, strong)


_LETTER = "AC-HJKMNP-RT-Y"
# no S, L, O, I, B, Z, which look like digits (CMS, Understanding the MBI format)
_MBI = rf"[1-9][{_LETTER}][{_LETTER}0-9]\d-?[{_LETTER}][{_LETTER}0-9]\d-?[{_LETTER}]{{2}}\d{{2}}"
_NINO = r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"
_NIR = r"[1-478] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}"
# a digit that would give two people one code is written as a letter (omocodia)
_CODICE = r"[A-Z]{6}[0-9LMNP-V]{2}[ABCDEHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]"
_SVNR = r"[1-9]\d{3} ?(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-5])\d{2}"
SCHEMES = (
    _scheme("us ssn", r"\d{3}-\d{2}-\d{4}", _any, strong=True),
    _scheme("us mbi", _MBI, _any, strong=True),
    _scheme("uk nino", _NINO, _any, strong=True),
    _scheme("uk nhs", r"\d{3} \d{3} \d{4}|\d{3}-\d{3}-\d{4}", _nhs, strong=True),
    _scheme("uk nhs, bare", r"\d{10}", _nhs, strong=False),
    _scheme("nl bsn", r"\d{9}|\d{4}\.\d{2}\.\d{3}", check.bsn, strong=False),
    _scheme("es dni", r"\d{8}[ -]?[A-Z]", check.spanish, strong=True),
    _scheme("es nie", r"[XYZ][ -]?\d{7}[ -]?[A-Z]", check.spanish, strong=True),
    _scheme("fr nir", _NIR, check.french, strong=True),
    _scheme("de tax", r"\d{11}|\d{2} \d{3} \d{3} \d{3}", _german_tax, strong=False),
    _scheme("it codice fiscale", _CODICE, check.italian, strong=True),
    _scheme("be rrn", r"\d{2}\.?\d{2}\.?\d{2}-?\d{3}[.-]?\d{2}", check.belgian, strong=False),
    _scheme("pl pesel", r"\d{11}", _pesel, strong=False),
    _scheme("se personnummer", r"(?:\d{2})?\d{6}[-+]\d{4}", _personnummer, strong=True),
    _scheme("fi hetu", r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]", _hetu, strong=True),
    _scheme("dk cpr", r"\d{6}-\d{4}", _day_first, strong=True),
    _scheme("no fnr", r"\d{6} ?\d{5}", check.norwegian, strong=False),
    _scheme("pt nif", r"[1-35689]\d{8}", check.portuguese, strong=False),
    _scheme("br cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}", check.brazilian, strong=True),
    _scheme("br cpf, bare", r"\d{11}", check.brazilian, strong=False),
    _scheme("ca sin", r"\d{3}[ -]\d{3}[ -]\d{3}", check.luhn, strong=False),
    _scheme("ch ahv", r"756\.?\d{4}\.?\d{4}\.?\d{2}", check.ean, strong=True),
    _scheme("hr oib", r"\d{11}", check.mod11_10, strong=False),
    _scheme("tr kimlik", r"[1-9]\d{10}", check.turkish, strong=False),
    _scheme("in aadhaar", r"\d{4}[ -]?\d{4}[ -]?\d{4}", _aadhaar, strong=False),
    _scheme("cn id", r"\d{17}[\dXx]", _chinese, strong=True),
    _scheme("ie pps", r"\d{7}[A-W][A-IW]?", check.irish, strong=True),
    _scheme("at svnr", _SVNR, check.austrian, strong=False),
)  # fmt: skip


LONGEST = 24


def schemes_of(value: str) -> list[Numbering]:
    """All whose format and check this value keeps. Signs between digits count for the format alone."""
    if not 8 <= len(value) <= LONGEST:
        return []
    found = []
    for scheme in SCHEMES:
        if scheme.pattern.fullmatch(value) is None:
            continue
        # in a Finnish number the sign is a place of its own
        bare = value if scheme.name == "fi hetu" else _SIGNS.sub("", value)
        if scheme.check(bare):
            found.append(scheme)
    return found

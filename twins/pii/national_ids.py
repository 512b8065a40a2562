"""Numbers by which states know people: how each is written, and which module of python-stdnum checks it.

A format with letters or signs of its own is strong: half of a column is enough. Bare digits with one check
digit pass by chance in every tenth number: there, nine in ten have to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from twins.pii.check_digits import checker


@dataclass(frozen=True)
class Numbering:
    """One scheme. `module` is the part of stdnum that checks the value as it is written."""

    name: str
    pattern: re.Pattern[str]
    module: str
    is_strong: bool

    def holds(self, value: str) -> bool:
        if self.pattern.fullmatch(value) is None:
            return False
        also = _ALSO.get(self.name)
        return (not self.module or checker(self.module)(value)) and (also is None or also(value))


def _digits(value: str) -> str:
    return re.sub(r"\D", "", value)


def _day_first(value: str) -> bool:
    bare = _digits(value)
    return 1 <= int(bare[:2]) <= 31 and 1 <= int(bare[2:4]) <= 12


def _is_issued_in_britain(value: str) -> bool:
    # England and Wales have 40 to 79, Northern Ireland 32 to 39; Scotland's CHI number starts with a date
    bare = _digits(value)
    return "40" <= bare[:2] <= "79" or "32" <= bare[:2] <= "39" or _day_first(value)


def _is_issued_in_the_united_states(value: str) -> bool:
    # areas 000 and 666, group 00 and serial 0000 are not issued (SSA, POMS RM 10201.035); 9 begins numbers
    # of the tax office, and those of made-up patients
    area, group, serial = value.split("-")
    return area not in ("000", "666") and group != "00" and serial != "0000"


def _is_hungarian(value: str) -> bool:
    # TAJ: weights 3 and 7 in turn, modulo 10 (1996. évi XX. törvény, annex); stdnum has none
    bare = _digits(value)
    return sum(int(digit) * (7 if at % 2 else 3) for at, digit in enumerate(bare[:8])) % 10 == int(bare[8])


_ALSO: dict[str, Callable[[str], bool]] = {
    "us ssn": _is_issued_in_the_united_states, "uk nhs": _is_issued_in_britain,
    "uk nhs, bare": _is_issued_in_britain, "hu taj": _is_hungarian,
}  # fmt: skip


def _strong(name: str, pattern: str, module: str = "") -> Numbering:
    return Numbering(name, re.compile(pattern, re.ASCII), module, is_strong=True)


def _weak(name: str, pattern: str, module: str = "") -> Numbering:
    return Numbering(name, re.compile(pattern, re.ASCII), module, is_strong=False)


_LETTER = "AC-HJKMNP-RT-Y"
# no S, L, O, I, B, Z, which look like digits (CMS, Understanding the MBI format)
_MBI = rf"[1-9][{_LETTER}][{_LETTER}0-9]\d-?[{_LETTER}][{_LETTER}0-9]\d-?[{_LETTER}]{{2}}\d{{2}}"
_NINO = r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"
_NIR = r"[1-478] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}"
_CODICE = r"[A-Z]{6}[0-9LMNP-V]{2}[ABCDEHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]"
_SVNR = r"[1-9]\d{3} ?(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-5])\d{2}"
_DAY, _MONTH = r"(?:0[1-9]|[12]\d|3[01])", r"(?:0[1-9]|1[0-2])"
# of the century: Poland adds 20, 40, 60 or 80 to the month, Bulgaria and Belgium 20 or 40, Czechia 50 or 20
_MONTHS = r"(?:[02468][1-9]|[13579][0-2])"
SCHEMES = (
    _strong("us ssn", r"\d{3}-\d{2}-\d{4}"),
    _strong("us mbi", _MBI),
    _strong("uk nino", _NINO),
    _strong("uk nhs", r"\d{3} \d{3} \d{4}|\d{3}-\d{3}-\d{4}", "gb.nhs"),
    _weak("uk nhs, bare", r"\d{10}", "gb.nhs"),
    _weak("nl bsn", r"\d{9}|\d{4}\.\d{2}\.\d{3}", "nl.bsn"),
    _strong("es dni", r"\d{8}[ -]?[A-Z]", "es.dni"),
    _strong("es nie", r"[XYZ][ -]?\d{7}[ -]?[A-Z]", "es.nie"),
    _strong("fr nir", _NIR, "fr.nir"),
    _weak("de tax", r"\d{11}|\d{2} \d{3} \d{3} \d{3}", "de.idnr"),
    _strong("it codice fiscale", _CODICE, "it.codicefiscale"),
    _strong("be rrn", r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}", "be.nn"),
    _weak("be rrn, bare", rf"\d{{2}}{_MONTHS}{_DAY}[ -]?\d{{3}}[ -]?\d{{2}}", "be.nn"),
    _weak("pl pesel", rf"\d{{2}}{_MONTHS}{_DAY}\d{{5}}", "pl.pesel"),
    _strong("se personnummer", r"(?:\d{2})?\d{6}[-+]\d{4}", "se.personnummer"),
    _strong("fi hetu", r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]", "fi.hetu"),
    _strong("dk cpr", rf"{_DAY}{_MONTH}\d{{2}}-\d{{4}}"),
    _weak("no fnr", r"[0-7]\d\d{4} ?\d{5}", "no.fodselsnummer"),
    _weak("is kennitala", rf"{_DAY}{_MONTH}\d{{2}}-?\d{{4}}", "is_.kennitala"),
    _weak("pt nif", r"[1-35689]\d{8}", "pt.nif"),
    _strong("br cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}"),
    _weak("br cpf, bare", r"\d{11}", "br.cpf"),
    _weak("ca sin", r"\d{3}[ -]\d{3}[ -]\d{3}|[1-79]\d{8}", "ca.sin"),
    _strong("ch ahv", r"756\.?\d{4}\.?\d{4}\.?\d{2}", "ch.ssn"),
    _weak("hr oib", r"\d{11}", "hr.oib"),
    _weak("tr kimlik", r"[1-9]\d{10}", "tr.tckimlik"),
    _weak("in aadhaar", r"\d{4}[ -]?\d{4}[ -]?\d{4}", "in_.aadhaar"),
    _strong("in pan", r"[A-Z]{3}P[A-Z]\d{4}[A-Z]", "in_.pan"),
    _strong("cn id", rf"[1-9]\d{{5}}(?:19|20)\d{{2}}{_MONTH}{_DAY}\d{{3}}[\dXx]", "iso7064.mod_11_2"),
    # since October 2020 the last six digits are drawn at random, without a check digit
    _strong("kr rrn", rf"\d{{2}}{_MONTH}{_DAY}-[1-8]\d{{6}}"),
    _weak("kr rrn, bare", rf"\d{{2}}{_MONTH}{_DAY}[1-8]\d{{6}}", "kr.rrn"),
    _weak("jp my number", r"\d{4}[ -]?\d{4}[ -]?\d{4}", "jp.in_"),
    _strong("ie pps", r"\d{7}[A-W][A-IW]?", "ie.pps"),
    _weak("at svnr", _SVNR, "at.vnr"),
    _weak("cz, sk rodne cislo", rf"\d{{2}}[0-8]\d{_DAY}/?\d{{3,4}}", "cz.rc"),
    _weak("ro cnp", rf"[1-8]\d{{2}}{_MONTH}{_DAY}\d{{6}}", "ro.cnp"),
    _weak("bg egn", rf"\d{{2}}{_MONTHS}{_DAY}\d{{4}}", "bg.egn"),
    _weak("ee, lt code", rf"[1-8]\d{{2}}{_MONTH}{_DAY}\d{{4}}", "ee.ik"),
    _strong("lv code", rf"{_DAY}{_MONTH}\d{{2}}-[012]\d{{4}}|32\d{{4}}-\d{{5}}"),
    _weak("gr amka", rf"{_DAY}{_MONTH}\d{{7}}", "gr.amka"),
    _weak("emso, jmbg", rf"{_DAY}{_MONTH}\d{{9}}", "si.emso"),
    _weak("hu taj", r"\d{3} ?\d{3} ?\d{3}|\d{3}-\d{3}-\d{3}"),
    _weak("ua rntrc", r"\d{10}", "ua.rntrc"),
    _weak("il id", r"\d{7,8}-?\d", "il.idnr"),
    _weak("za id", rf"\d{{2}}{_MONTH}{_DAY} ?\d{{4}} ?[01]\d ?\d", "za.idnr"),
    _strong("th pin", r"\d-\d{4}-\d{5}-\d{2}-\d", "th.pin"),
    _weak("th pin, bare", r"[1-8]\d{12}", "th.pin"),
    _weak("id nik", rf"\d{{6}}[0-7]\d{_MONTH}\d{{6}}", "id.nik"),
    _strong("my nric", rf"\d{{2}}{_MONTH}{_DAY}-\d{{2}}-\d{{4}}", "my.nric"),
    _strong("pk cnic", r"\d{5}-\d{7}-\d", "pk.cnic"),
    _strong("mx curp", r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z0-9]\d", "mx.curp"),
    _strong("cl rut", r"\d{1,2}\.\d{3}\.\d{3}-[\dKk]|\d{7,8}-[\dKk]", "cl.rut"),
    _weak("ar cuit", r"\d{2}-\d{8}-\d", "ar.cuit"),
    _weak("ec ci", r"\d{9}-?\d", "ec.ci"),
    _weak("do cedula", r"\d{3}-?\d{7}-?\d", "do.cedula"),
    _weak("au tfn", r"\d{3} \d{3} \d{3}", "au.tfn"),
)
LONGEST = 24


def schemes_of(value: str) -> list[Numbering]:
    """All whose format and check this value keeps, as it is written."""
    if not 8 <= len(value) <= LONGEST:
        return []
    return [scheme for scheme in SCHEMES if scheme.holds(value)]

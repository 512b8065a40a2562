"""Headers of further languages: what names a person is not taken for dates, postcodes or codes of things."""

from __future__ import annotations

import random

import pytest

from domain.identifier_kind import Kind
from twins.pii import Class, Finding
from twins.pii.column import ColumnScan
from twins.pii.header import kind_of_header

ROWS = 60
_draw = random.Random(7)


def _number(length: int) -> str:
    return "".join(_draw.choice("0123456789") for _ in range(length))


def _day(form: str) -> str:
    return form.format(y=_draw.randint(1930, 2005), m=_draw.randint(1, 12), d=_draw.randint(1, 28))


DAYS = [_day("{d:02}.{m:02}.{y}") for _ in range(ROWS)]
BARE_DAYS = [_day("{y}{m:02}{d:02}") for _ in range(ROWS)]
# with check digits that do not hold, as of numbers that somebody typed
NUMBERS = [f"1{_day('{y}{m:02}{d:02}')[2:]}{_number(6)}" for _ in range(ROWS)]
PATIENTS = [_number(6) for _ in range(ROWS)]
NAMES = ["Novák", "Svoboda", "Dvořák", "Černý", "Procházka"] * (ROWS // 5)
TABLE = (
    ("syntymäaika", DAYS, Kind.DATE_OF_BIRTH),
    ("Syntymaaika", DAYS, Kind.DATE_OF_BIRTH),
    ("datum_narození", DAYS, Kind.DATE_OF_BIRTH),
    ("data urodzenia", DAYS, Kind.DATE_OF_BIRTH),
    ("dataNascimento", DAYS, Kind.DATE_OF_BIRTH),
    ("Дата рождения", DAYS, Kind.DATE_OF_BIRTH),
    ("생년월일", BARE_DAYS, Kind.DATE_OF_BIRTH),
    ("患者生年月日", BARE_DAYS, Kind.DATE_OF_BIRTH),
    ("تاريخ الميلاد", DAYS, Kind.DATE_OF_BIRTH),
    ("CNP", NUMBERS, Kind.NATIONAL_ID),
    ("rodné_číslo", NUMBERS, Kind.NATIONAL_ID),
    ("身份证号", NUMBERS, Kind.NATIONAL_ID),
    ("Pat-Nr", PATIENTS, Kind.RECORD_ID),
    ("환자번호", PATIENTS, Kind.RECORD_ID),
    ("příjmení", NAMES, Kind.PERSON),
    ("фамилия", NAMES, Kind.PERSON),
)
HARMLESS = (
    "chimie",
    "cns",
    "imię_leku",
    "adressat",
    "datum_vyšetření",
    "имя_файла",
    "出生地",
    "version",
    "nik",
)


def found(header: str, values: list[str]) -> Finding:
    scan = ColumnScan(header, model=None)
    scan.add(values)
    return scan.finish()


def test_headers_of_further_languages_are_read(subtests: pytest.Subtests) -> None:
    for header, values, kind in TABLE:
        with subtests.test(header):
            said = found(header, values)
            assert (said.kind, said.classification) == (kind, Class.DIRECT)


def test_words_that_look_like_them_announce_nothing(subtests: pytest.Subtests) -> None:
    for header in HARMLESS:
        with subtests.test(header):
            assert kind_of_header(header) is None


def test_days_over_a_lifetime_under_a_header_that_nobody_reads_may_be_birthdays() -> None:
    """Of Latin words it is believed that they say something else: `datum_vyšetření` are visits."""
    assert found("დაბადება", DAYS).kind is Kind.DATE_OF_BIRTH
    assert found("datum_vyšetření", DAYS).kind is Kind.DATE

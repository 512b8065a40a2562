"""Headers of further languages: what names a person is not taken for dates, postcodes or codes of things."""

from __future__ import annotations

import random

import pytest

from domain.identifier_kind import Kind
from twins.pii import Action, Class, Finding
from twins.pii.column import ColumnScan
from twins.pii.header import kind_of_header
from worker.pii_model import load

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
    ("doctor_id", [str(at % 30) for at in range(ROWS)], Kind.RECORD_ID),
    ("no_paciente", PATIENTS, Kind.RECORD_ID),
    ("codPaciente", [str(at % 6) for at in range(ROWS)], Kind.RECORD_ID),
    ("Matricula", [f"20240{at % 8:02d}" for at in range(ROWS)], Kind.RECORD_ID),
    ("matricula", [f"{at % 90 + 1000} BCD" for at in range(ROWS)], Kind.RECORD_ID),
    ("학번", PATIENTS, Kind.RECORD_ID),
    ("ÖĞRENCİ ADI SOYADI", NAMES, Kind.PERSON),
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
    "office_id",
    "hospital_id",
    "Agency Name",
    "course_name",
)
OF_ADDRESSES = (
    ("Address: City", Kind.PLACE),
    ("billing address state", Kind.PLACE),
    ("address_zip", Kind.POSTCODE),
    ("Individual Address : Latitude", Kind.COORDINATE),
    ("Address : Street", Kind.ADDRESS),
    ("home address", Kind.ADDRESS),
)
_COURSES_TEXT = """
Ilmu Komunikasi, Manajemen, Teknologi Pangan, Ekonomi Syariah, Administrasi Publik, Ilmu Politik, Akuntansi,
Pendidikan Bahasa Inggris, Teknik Mesin, Hukum, Kebidanan, Farmasi, Sistem Informasi, Peternakan, Agribisnis
"""
COURSES = [" ".join(name.split()) for name in _COURSES_TEXT.split(",")]
CLUBS = [
    f"{name} Club"
    for name in ("Reid Tennis", "Woden Rowing", "Murray Netball", "Paterson Bowling", "Fenner Golf")
]
_HEADS_TEXT = """
Omar Bouteflika, Vicente Karimov, Kumba Conté, Robert Luong, Askar Mejdani, Juan Obiang, Khamtay Zemin,
Thomas Rahmonov, Carl Akajev, Jiang Rau, Teodoro Siphandone, Elisabeth Tran
"""
HEADS = [" ".join(name.split()) for name in _HEADS_TEXT.split(",")]


def seen(header: str, values: list[str]) -> Finding:
    scan = ColumnScan(header, model=load())
    scan.add(values)
    return scan.finish()


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


def test_what_stands_behind_an_address_says_which_part_it_is(subtests: pytest.Subtests) -> None:
    for header, kind in OF_ADDRESSES:
        with subtests.test(header):
            assert kind_of_header(header) is kind


def test_a_name_is_of_people_where_the_values_are_names_of_people(subtests: pytest.Subtests) -> None:
    """Clubs and courses have a `name` as well; they are asked about, and not called."""
    people = ["Elena Barbieri", "Luca Moretti", "Claudia Lombardi", "Anna Ricci", "Marco Conti"] * 4
    for header in ("name", "Nome", "local_name"):
        with subtests.test(header):
            assert seen(header, people).kind is Kind.PERSON
            for values in (COURSES, CLUBS):
                said = seen(header, values)
                assert said.classification is not Class.DIRECT
                assert said.proposed is not Action.KEEP
    assert seen("family_name", COURSES).kind is Kind.PERSON


def test_plates_of_a_test_of_colours_are_no_cars() -> None:
    assert seen("plate6", ["X", "7", "-9999"] * 20).classification is Class.NONE


def test_a_thing_in_a_header_does_not_hide_full_names_of_people() -> None:
    assert seen("head_of_state", HEADS).kind is Kind.PERSON


def test_keys_of_things_and_amounts_are_believed_where_the_header_says_so() -> None:
    keys = [f"CTRY{at % 40:03d}" for at in range(4 * ROWS)]
    assert seen("country_id", keys).kind is Kind.CODE
    assert seen("patient_country_id", keys).kind is Kind.RECORD_ID
    amounts = [str(10**7 + 1_237_331 * at % (9 * 10**7)) for at in range(ROWS)]
    assert seen("population", amounts).classification is Class.NONE
    assert seen("c1", amounts).classification is Class.DIRECT


def test_codes_of_lots_and_samples_are_believed_in_further_languages(subtests: pytest.Subtests) -> None:
    codes = [f"B{at % 7}-{at * 7919 % 10**5:05d}" for at in range(ROWS)]
    assert seen("c1", codes).kind is Kind.RECORD_ID
    for header in ("lote_reagente", "партия", "muestra", "échantillon", "próbka", "検体", "barcode"):
        with subtests.test(header=header):
            assert seen(header, codes).kind is Kind.CODE


def test_a_day_under_a_word_for_born_is_one_of_birth(subtests: pytest.Subtests) -> None:
    days = [f"{1 + at % 28} de marzo de {1940 + at * 37 % 60}" for at in range(ROWS)]
    for header in ("nacio", "nascido", "née"):
        with subtests.test(header=header):
            assert seen(header, days).kind is Kind.DATE_OF_BIRTH

"""Columns as tables of strangers have them: each kind was missed, kept or flagged on a real one once.

Values are made up here, and headers are hidden.
"""

from __future__ import annotations

import random

import pytest

from twins.pii import Action, Class, Finding, Kind
from twins.pii.column import ColumnScan
from twins.pii.organisations import is_organisation
from twins.pii.text import has_house_number
from twins.pii.within import text_shown
from worker.pii_model import load

draw = random.Random(9)
MODEL = load()
ROWS = 60
_GIVEN_TEXT = """
anna maria james robert linda thomas karen daniel susan patricia michael jennifer elena marco sofia lucas
julia martin clara peter victoria andrea simon isabel oliver laura
"""
GIVEN = _GIVEN_TEXT.split()
_FAMILIES_TEXT = """
Martin Bernard Dubois Thomas Richard Petit Durand Leroy Moreau Simon Laurent Lefebvre Michel Garcia Fournier
Girard Lambert Fontaine Rousseau Vincent
"""
FAMILIES = _FAMILIES_TEXT.split()
_SMALL_TEXT = """
mccormick phillips penado eatmon tucker wooten lassiter beasley pruitt strickland mcneill faircloth honeycutt
whitaker ledford buchanan crouse setzer hefner gryder teague
"""
SMALL = _SMALL_TEXT.split()
_OF_POLAND_TEXT = """
Kowalski Wiśniewski Kamiński Lewandowski Zieliński Szymański Dąbrowski Kozłowski Jankowski Kwiatkowski
Wojciechowski Piotrowski Grabowski Pawłowski Michalski Nowakowski Król Wieczorek Jabłoński Wróbel Mazur Zając
"""
OF_POLAND = _OF_POLAND_TEXT.split()
OF_INDIA = [
    f"{given} {family}"
    for given in ("Bhavya", "Rhea", "Keshav", "Ishita", "Yash", "Dhruv")
    for family in ("Vyas", "Sharma", "Gupta", "Kapoor")
]
OF_EGYPT = [
    f"{given} {family}"
    for given in ("Mahmoud", "Nour", "Yasmin", "Khaled", "Mona", "Tarek")
    for family in ("Abdel-Rahman", "El-Sayed", "Mansour", "Farouk", "Shehata", "Gaber")
]
CHINESE = ("Wang", "Li", "Zhang", "Chen", "Liu", "Huang", "Zhao")
_SHORT_TEXT = """
Ng Li Ho Wu Xu Ma Lu Hu Yu Ko Oh An Im Ha Cho Kim Roh Bae Ahn Yoo Min Seo
"""
SHORT = _SHORT_TEXT.split()
_ELEMENTS_TEXT = """
Li Be Na Mg Al Si Cl Ar Ca Sc Ti Cr Mn Fe Co Ni Cu Zn He Ne Ho Lu
"""
ELEMENTS = _ELEMENTS_TEXT.split()
STREETS = ("Oak", "Maple", "Cedar", "Lincoln", "Chester", "Jackson", "Holly", "Park")
DIGITS = "0123456789"


def scan(values: list[str], header: str | None = None) -> Finding:
    column = ColumnScan(header, model=MODEL)
    column.add(values)
    return column.finish()


def some(signs: str, length: int) -> str:
    return "".join(draw.choice(signs) for _ in range(length))


def full(at: int) -> str:
    return f"{GIVEN[at % 26].title()} {FAMILIES[at * 7 % 20]}"


def repeated(values: list[str], rows: int = 400) -> list[str]:
    return values + [draw.choice(values) for _ in range(rows)]


IDENTIFY = (
    ("names in small letters", SMALL * 2, Kind.PERSON),
    ("families of Poland that the model takes for towns", OF_POLAND * 5, Kind.PERSON),
    (
        "names in links of a spreadsheet",
        [f'=HYPERLINK("https://register.example/{at}", "{full(at)}")' for at in range(ROWS)],
        Kind.PERSON,
    ),
    (
        "names with a party in brackets",
        [f"{FAMILIES[at * 3 % 20]}, {GIVEN[at % 26].title()} (KDU-{at % 4})" for at in range(ROWS)],
        Kind.PERSON,
    ),
    ("names in quotation marks", [f'"{name}"' for name in OF_INDIA], Kind.PERSON),
    (
        "two numbers of a telephone with a line between",
        [f"35565097{some(DIGITS, 7)} - 35565097{some(DIGITS, 7)}" for _ in range(ROWS)],
        Kind.RECORD_ID,
    ),
    (
        "keys of two studies",
        [f"adhd{some(DIGITS, 6)}" if at % 2 else f"16{some(DIGITS, 17)}" for at in range(ROWS)],
        Kind.RECORD_ID,
    ),
    (
        "streets among buildings",
        [
            f"{draw.randrange(1, 9999)} {draw.choice(STREETS)} Road"
            if at % 5 < 2
            else f"{draw.choice(STREETS)} {draw.choice(FAMILIES)} {'Group' if at % 5 == 2 else 'Building'}"
            for at in range(ROWS)
        ],
        Kind.ADDRESS,
    ),
    (
        "names of China in Latin letters, of which many repeat",
        [f"{family} {given}" for family in CHINESE for given in ("Wei", "Xiaoming", "Yan", "Meiling")] * 3,
        Kind.PERSON,
    ),
    ("full names of Egypt that repeat", OF_EGYPT * 3, Kind.PERSON),
    ("families of East Asia alone", SHORT * 5, Kind.PERSON),
    (
        "streets with numbers for names",
        [f"{draw.choice(('Cra.', 'Cl.'))} {at} # {draw.randrange(9, 99)}-{at + 9}" for at in range(9, ROWS)],
        Kind.ADDRESS,
    ),
    (
        "open location codes",
        [f"{some('23456789CFGHJMPQ', 8)}+{some('CFGHJM', 2)}" for _ in range(ROWS)],
        Kind.COORDINATE,
    ),
    (
        "personal pages without their scheme",
        [f"linkedin.com/in/{GIVEN[at % 26]}-{at}" for at in range(ROWS)],
        Kind.URL,
    ),
    (
        "accounts behind a domain",
        [f"CLINIC\\{given}{at % 4}" for at, given in enumerate(GIVEN)],
        Kind.USERNAME,
    ),
    ("accounts behind a scheme", [f"live:{given}{some(DIGITS, 2)}" for given in GIVEN], Kind.USERNAME),
    (
        "an office and a number, of which the second is always the larger",
        [f"{draw.randrange(10, 99)}-{draw.randrange(10**4, 10**5)}" for _ in range(ROWS)],
        Kind.RECORD_ID,
    ),
    (
        "signs in any order behind the letters of an archive",
        [f"NDAR_INV{some('ABCDEFGHJKLMNPQRSTUVWXYZ0123456789', 8)}" for _ in range(ROWS)],
        Kind.RECORD_ID,
    ),
    (
        "addresses of e-mail that are spelt",
        [f"{GIVEN[at % 26]}.{at} {('(at)', '[at]', '{ at }')[at % 3]} mail.example" for at in range(ROWS)],
        Kind.EMAIL,
    ),
    (
        "long numbers between single digits",
        [f"0 {some(DIGITS, 3)} {some(DIGITS, 11)} {at % 9}" for at in range(ROWS)],
        Kind.RECORD_ID,
    ),
)


def test_what_identifies_somebody_in_tables_of_strangers_is_found(subtests: pytest.Subtests) -> None:
    for title, values, kind in IDENTIFY:
        with subtests.test(title=title):
            assert scan(values).kind is kind


ASKED = (
    ("codes of users with many rows", repeated([some("0123456789abcdef", 10) for _ in range(28)])),
    ("seven digits with many rows", repeated([f"58{some(DIGITS, 5)}" for _ in range(30)])),
    (
        "keys of 64 bits, half of them negative",
        [f"{'-' * (at % 2)}3{some(DIGITS, 18)}" for at in range(ROWS)],
    ),
    ("homes of a continent", [f"{draw.uniform(25, 48):.5f}" for _ in range(ROWS)]),
    ("homes of a continent, to the west", [f"{draw.uniform(-122, -70):.6f}" for _ in range(ROWS)]),
    ("P1 to P15, some of which are codes of diseases", repeated([f"P{at}" for at in range(1, 16)], 30)),
    ("hospitals called after people", [f"{name.title()} Hospital" for name in GIVEN]),
    ("four towns that could be families", repeated(["Brno", "Opava", "Praha", "Vsetín"], 150)),
)


def test_what_may_identify_somebody_is_asked_about(subtests: pytest.Subtests) -> None:
    """Neither called an identifier nor kept."""
    for title, values in ASKED:
        with subtests.test(title=title):
            found = scan(values)
            assert (found.classification, found.proposed) == (Class.NONE, Action.DROP)


HARMLESS = (
    ("ages in years and months", [f"{1 + 7 * at % 17}A {1 + at % 11}M" for at in range(216)] * 3),
    ("replicates of a month", [f"{at % 9}.3-Aug 20{14 + at % 4}-{at % 7}" for at in range(ROWS)]),
    (
        "postcodes, of which some are long",
        [f"{at * 1237 % 10**5:05d}" for at in range(ROWS)]
        + ["84794-7637", "66269-8726", "72591-5669", "74897-9751", "60208-8369", "94889-3515", "98090-3675"],
    ),
    (
        "moments without signs between",
        [f"2023{1 + at % 12:02d}17T{at % 24:02d}{at % 60:02d}31" for at in range(ROWS)],
    ),
    ("signs of elements", ELEMENTS * 5),
    ("places where something was", [f"pain (at) rest {at % 9} (at night)" for at in range(ROWS)]),
    ("days of a visit", [f"day {at}" for at in range(1, ROWS)]),
    (
        "towns in two syllables",
        repeated(["Chang Chun", "Da Lian", "Wu Xi", "Bei Jing", "Nan Jing", "Kun Ming", "Ha Er Bin"]),
    ),
    ("wards of a town", repeated([f"Ward -{at}" for at in range(1, 11)])),
    ("offices", repeated(["U.S. Senate", "U.S. House", "Governor", "State House"])),
    (
        "species with a line",
        [
            f"{some('aeioubrtlm', 9)}{draw.choice(('ella', 'omyia', 'ichthys'))}_{some('aeiourtln', 6)}ensis"
            for _ in range(200)
        ],
    ),
)


def test_what_identifies_nobody_in_tables_of_strangers_is_not_called(subtests: pytest.Subtests) -> None:
    for title, values in HARMLESS:
        with subtests.test(title=title):
            assert scan(values).classification is not Class.DIRECT


def test_a_link_is_read_as_its_text_and_a_link_to_a_mailbox_as_it_is() -> None:
    assert text_shown('=HYPERLINK("https://a.example/7","Lovelace, Ada")') == "Lovelace, Ada"
    assert text_shown('=hyperlink("https://a.example/7"; "Ada")') == "Ada"
    assert text_shown('"Ada"') == "Ada"
    to_somebody = '=HYPERLINK("mailto:ada@a.example","Contact")'
    assert text_shown(to_somebody) == to_somebody
    assert scan([to_somebody, "x", "y"]).classification is Class.DIRECT
    for other in ("=SUM(A1)", '"', '""', "", "Ada"):
        assert text_shown(other) == other


def test_a_house_has_no_zero_in_front() -> None:
    assert has_house_number("Hatfield Road 12A")
    assert not has_house_number("Welwyn Hatfield 012A")


def test_an_organisation_has_its_word_in_front_or_behind() -> None:
    assert is_organisation("Katrina Hospital")
    assert is_organisation("Universitas Gadjah Mada")
    assert not is_organisation("Hospital")
    assert not is_organisation("John House Smith")

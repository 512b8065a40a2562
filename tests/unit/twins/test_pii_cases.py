"""Columns that once were proposed to be kept and name people, and columns that were flagged and do not.

Values are made up here. Headers are hidden, and then shown where they say little.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from pii_columns import cpf, digits, draw, family, given

from twins.pii import Action, Class, Finding, Kind
from twins.pii.column import ColumnScan
from worker.pii_model import load

ROWS = 60
Make = Callable[[], str]


def scan(values: list[str], name: str | None) -> Finding:
    column = ColumnScan(name, model=load())
    column.add(values)
    return column.finish()


def one_of(*values: str) -> Make:
    return lambda: draw.choice(values)


def hexadecimal(length: int) -> Make:
    return lambda: f"{draw.randrange(16**length):0{length}x}"


def person(language: str = "en") -> str:
    return f"{given(language)} {family(language)}"


def seldom(common: str, language: str = "en") -> Make:
    few = [person(language) for _ in range(3)]
    return lambda: draw.choice(few) if draw.random() < 0.1 else common


def rrn() -> str:
    day = f"{draw.randint(50, 99)}{draw.randint(1, 12):02d}{draw.randint(1, 28):02d}"
    return f"{day}-{draw.choice('1234')}{digits(6)}"


def numbered(names: tuple[str, ...], form: str = "{number} {name}", most: int = 300) -> Make:
    return lambda: form.format(
        name=draw.choice(names), number=draw.randint(1, most), other=draw.randint(1, 40)
    )


def degrees(most: int, signs: str) -> str:
    return f"{draw.randrange(most)}°{draw.randrange(60):02d}'{draw.randrange(60):02d}\"{draw.choice(signs)}"


def folder() -> str:
    return f"/home/{given('en')[0].lower()}{family('en').lower()}/study/run{draw.randrange(9)}.mat"


def file_of_somebody() -> str:
    return f"sub_{given('en')}_{family('en')}.nii.gz"


ADDRESSES: tuple[tuple[str, Make], ...] = (
    ("no suffix", numbered(("Broadgate", "The Moorings", "Upper Hollow", "Cheapside"))),
    ("number, then name", numbered(("Andrew Trafficway", "Paul Knolls", "Maria Burgs", "Jones Shoal"))),
    ("Polish", numbered(("Lipowa", "Polna", "Kwiatowa"), "ul. {name} {number}/{other}")),
    ("Portuguese", numbered(("das Flores", "do Ouro"), "Rua {name}, {number}, 4000-123 Porto")),
    ("Finnish", numbered(("Koivukuja", "Rantapolku", "Metsätie"), "{name} {number} A {other}", 60)),
    ("Hungarian", numbered(("Petőfi Sándor utca", "Kossuth tér"), "1051 Budapest, {name} {number}.")),
    ("Japanese", numbered(("港区", "台東区", "墨田区"), "東京都{name}3丁目{other}番{number}号", 30)),
    ("Korean", numbered(("강남구 테헤란로", "서초구 반포대로"), "서울특별시 {name} {number}")),
    ("Chinese", numbered(("中山路", "人民路", "解放路"), "{name}{number}号")),
)
NUMBERS: tuple[tuple[str, Make], ...] = (
    ("formatted CPF", cpf),
    ("CPF of random digits", lambda: f"{digits(3)}.{digits(3)}.{digits(3)}-{digits(2)}"),
    ("phones with 0034", lambda: f"0034 6{digits(2)} {digits(3)} {digits(3)}"),
    ("phones with 0034, bare", lambda: f"00346{digits(8)}"),
    ("phones with 0049", lambda: f"0049 30 {digits(7, '123456789')}"),
    ("Korean identity numbers", rrn),
    ("Korean phones", lambda: f"010-{digits(4, '23456789')}-{digits(4)}"),
    (
        "phones with a country in brackets, some without",
        lambda: draw.choice((f"(+965) {digits(8)}", digits(8))),
    ),
    (
        "phones in groups of two and three",
        lambda: f"{digits(1, '256789')}{digits(1)} {digits(3)} {digits(3)}",
    ),
    (
        "phones in two ways",
        lambda: draw.choice((f"{digits(1, '123456789')}-{digits(7)}", digits(8, "123456789"))),
    ),
    ("Korean phones, bare", lambda: f"010{digits(8, '23456789')}"),
    (
        "e-mail, non-ASCII local part",
        numbered(("jürgen", "søren", "zoë", "用户"), "{name}{number}@example.com"),
    ),
    ("e-mail, IDN", numbered(("müller.de", "bücher.org", "例子.中国"), "post{number}@{name}")),
    ("e-mail, Devanagari", lambda: f"संपर्क{digits(2)}@डाटामेल.भारत"),
    ("degrees, minutes, seconds", lambda: f"{degrees(90, 'NS')} {degrees(180, 'EW')}"),
    ("latitudes in degrees, minutes, seconds", lambda: degrees(90, "NS")),
    ("longitudes without signs", numbered(("W", "E"), "{number} {other} {other} {name}", 180)),
)
NAMES: tuple[tuple[str, Make], ...] = (
    ("folders of people", folder),
    ("folders of people, Windows", lambda: f"C:\\Users\\{given('nl')}\\Desktop\\scan{draw.randrange(9)}.dcm"),
    ("files with names", file_of_somebody),
    (
        "files with names, German",
        one_of("sub_Anna_Meier.nii.gz", "sub_Lukas_Schulz.nii.gz", "sub_Sabine_Krause.nii.gz"),
    ),
    (
        "Chinese",
        lambda: (
            draw.choice("王李张刘陈杨赵黄") + draw.choice("伟芳娜敏静丽强磊") + draw.choice(("", "军", "洋"))
        ),
    ),
    ("Korean", lambda: draw.choice("김이박최정강") + draw.choice("민서지하도") + draw.choice("준윤우연현")),
    ("seldom beside other", seldom("other")),
    ("seldom beside self", seldom("self", "nl")),
    ("in JSON", lambda: json.dumps({"reported_by": person(), "score": draw.randrange(9)})),
    ("in a list in JSON", lambda: json.dumps([{"n": 1, "who": person("es")}])),
)
HARMLESS: tuple[tuple[str, Make], ...] = (
    ("area 000", lambda: f"000-{draw.randint(1, 99):02d}-{draw.randint(1, 9999):04d}"),
    ("md5", hexadecimal(32)),
    ("sha1", hexadecimal(40)),
    ("sha256", hexadecimal(64)),
    ("grants, NIH", lambda: f"{draw.choice(('R01MH', 'U54AG', 'K23NS'))}{digits(6)}"),
    ("grants, NIH, long", lambda: f"5R01GM{digits(6)}-0{digits(1, '123456789')}"),
    ("grants, EPSRC", lambda: f"EP/{draw.choice('KLMN')}{digits(6)}/1"),
    ("grants, European", lambda: f"H2020-MSCA-IF-20{digits(2)}-{digits(6)}"),
    ("colours of a screen", lambda: " ".join(str(draw.randrange(256)) for _ in range(3))),
    ("places in a brain", lambda: " ".join(str(draw.randint(-99, 99)) for _ in range(3))),
    ("samples", lambda: f"SAMPLE_{digits(5)}"),
    ("specimens", lambda: f"SPEC-{digits(4)}-A{digits(1)}"),
    ("specimens, TCGA", lambda: f"TCGA-{digits(2)}-{digits(4)}-01A"),
    ("quarters", lambda: f"{draw.randint(1950, 2020)} Q{draw.randint(1, 4)}"),
    ("months of years", lambda: f"{draw.randint(1950, 2020)} {draw.choice(('Jan', 'Feb', 'Oct', 'Dec'))}"),
    ("weeks of years", lambda: f"{draw.randint(1950, 2020)} W{draw.randint(1, 52):02d}"),
    ("four weeks", one_of("Jan  1 - Jan 28", "Jan 29 - Feb 25", "Feb 26 - Mar 26")),
    ("months", one_of("January", "April", "May", "June", "August")),
    ("states and years", lambda: f"{draw.choice(('Albania', 'Austria', 'Chad'))} {draw.randint(95, 99)}"),
    ("means of many", lambda: f"{draw.gauss(28, 2)!r}"),
    ("JSON", lambda: json.dumps({"n": draw.randrange(99), "at": [draw.random(), 2.5], "on": None})),
    ("JSON lists", lambda: json.dumps([draw.random(), draw.random(), draw.randrange(9)])),
    ("JSON of words", one_of('{"task": "rest", "side": "left"}', '{"task": "flanker", "side": "right"}')),
)
ASKED_ALL_THE_SAME = {"md5", "sha1", "sha256"}
"""Flagged as nobody's, but not kept unasked: what a digest is of cannot be seen."""


def column_of(make: Make) -> list[str]:
    draw.seed(20_031)
    return [make() for _ in range(ROWS)]


@pytest.mark.parametrize("table", [ADDRESSES, NUMBERS, NAMES], ids=["addresses", "numbers", "names"])
def test_what_identifies_people_is_found(
    subtests: pytest.Subtests, table: tuple[tuple[str, Make], ...]
) -> None:
    for title, make in table:
        values = column_of(make)
        for header in (None, "c1"):
            with subtests.test(title=title, header=header):
                found = scan(values, header)
                assert found.classification is Class.DIRECT
                assert found.proposed is not Action.KEEP


def test_what_only_looks_so_is_not_flagged(subtests: pytest.Subtests) -> None:
    for title, make in HARMLESS:
        values = column_of(make)
        for header in (None, "c1"):
            with subtests.test(title=title, header=header):
                found = scan(values, header)
                assert found.classification is Class.NONE
                assert found.proposed is Action.KEEP or title in ASKED_ALL_THE_SAME


def test_short_lists_that_repeat_are_asked_for_more_than_long_ones() -> None:
    german = ["Blau", "Schwarz", "Weiß", "Rosa", "Beige", "Grün", "Rot", "Gelb", "Grau", "Braun", "Türkis"]
    for few in (german, ["Hvítur", "Brúnn", "Grænn", "Svartur", "Rauður", "Gulur", "Blár", "Grár"]):
        found = scan(column_of(one_of(*few)) * 5, None)
        assert found.classification is Class.NONE
    repeated = scan(column_of(lambda: given("it")) * 5, None)
    assert (repeated.classification, repeated.kind) == (Class.DIRECT, Kind.PERSON)


def test_what_may_number_people_is_not_kept_unasked() -> None:
    """No identifier for sure: numbers behind one letter are codes of a catalogue as well."""
    for make in (lambda: f"{draw.choice('XY')}{draw.randint(1, 99):02d}", lambda: f"{digits(5)}.{digits(6)}"):
        found = scan(column_of(make), None)
        assert (found.kind, found.proposed) == (Kind.TEXT, Action.DROP)
    for make in (
        lambda: f"{draw.choice('EFIX')}{draw.randint(1, 99):02d}",
        lambda: f"{draw.uniform(0, 9):.3f}",
    ):
        assert scan(column_of(make), None).proposed is Action.KEEP


def test_what_may_be_either_is_asked_about_and_called_no_identifier(subtests: pytest.Subtests) -> None:
    """And beside each what is told from it."""
    for title, make, like_it in (
        ("logarithms", lambda: f"{draw.gauss(8.7, 0.1):.6f}", lambda: f"{draw.gauss(52.37, 0.1):.6f}"),
        ("amounts", lambda: str(draw.randint(1_100_000, 2_200_000)), lambda: digits(7, "123456789")),
        (
            "wells of plates",
            lambda: f"S{draw.randint(10, 99)}-plate{digits(1)}-C{draw.randint(10, 99)}",
            lambda: f"S{draw.randint(10, 99)}-{digits(3)}-C{draw.randint(10, 99)}",
        ),
        (
            "one of a few",
            one_of(*["Protestant"] * 12, "Roman Catholic"),
            one_of(*["other"] * 12, "Gareth Hughes", "Anna Fischer"),
        ),
    ):
        with subtests.test(title):
            found = scan(column_of(make), None)
            assert (found.kind, found.proposed) == (Kind.TEXT, Action.DROP)
            assert scan(column_of(like_it), None).classification is Class.DIRECT


def test_towns_with_their_state_are_places_and_no_names() -> None:
    towns = [f"{town}, {state}" for town in ("Salem", "Jackson", "Lincoln") for state in ("Ohio", "Texas")]
    assert scan(column_of(one_of(*towns)), None).kind is Kind.PLACE
    assert scan(column_of(lambda: f"{family()}, {given()}"), None).kind is Kind.PERSON


def test_days_of_long_ago_are_days() -> None:
    days = [f"{1789 + 4 * term}-03-{term % 27 + 1:02d}" for term in range(45)]
    assert scan(days, None).kind is Kind.DATE


def test_codes_of_things_are_no_identifiers_where_the_header_says_so() -> None:
    values = column_of(lambda: f"{draw.choice('ABC')}{draw.choice('XYZ')}-{digits(5)}")
    for header in ("sample_id", "specimen", "grant", "award number", "tube_code"):
        assert scan(values, header).classification is Class.NONE, header
    for header in (None, "c1", "subject_id"):
        assert scan(values, header).classification is Class.DIRECT, header


def test_accounts_that_are_nobodys_name_nobody() -> None:
    for path in ("/home/shared/run1.mat", "/home/ubuntu/run1.mat", "/data/raw/run1.mat"):
        found = scan([path.replace("1", str(at)) for at in range(ROWS)], None)
        assert found.classification is Class.NONE


def test_one_folder_of_somebody_among_thousands_is_enough() -> None:
    found = scan(["/data/raw/run1.mat"] * 3_000 + ["/home/wvanderbilt/run1.mat"], None)
    assert (found.classification, found.evidence["home of somebody"]) == (Class.DIRECT, 1)


def test_cells_that_only_begin_like_json_are_text() -> None:
    for cell in ("{not json}", "[unknown]", "{" * 9_000 + "}", "[" * 100_000 + "]"):
        assert scan([cell] * 20, None).classification in (Class.NONE, Class.DIRECT)
        assert "json" not in scan([cell] * 20, None).evidence


def test_json_of_many_fields_and_many_values_is_read_in_bounded_memory() -> None:
    wide = json.dumps({f"field{at}": at for at in range(900)})
    column = ColumnScan(None, model=None)
    column.add([wide] * 10)
    assert len(column._within) <= 32
    assert column.finish().classification is Class.NONE


def test_telephone_numbers_are_of_one_country_and_fractions_are_none() -> None:
    home = random.Random(7)
    spanish = [f"{home.choice('67')}{home.randrange(10**8):08d}" for _ in range(ROWS)]
    grouped = [f"{value[:3]} {value[3:5]} {value[5:7]} {value[7:]}" for value in spanish]
    assert scan(grouped, None).kind is Kind.PHONE
    assert scan([f"{value[:3]}.{value[3:]}" for value in spanish], None).kind is Kind.NUMBER


def test_what_is_found_inside_is_named_without_a_value() -> None:
    values = column_of(lambda: json.dumps({"carer": person("nl"), "n": draw.randrange(99)}))
    found = scan([*values, '{"carer": "Wilhelmina Oosterbroek", "n": 4}'], None)
    told = f"{found.why} {found.masked_example} {' '.join(found.evidence)}"
    assert "Wilhelmina" not in told
    assert "carer" not in told
    assert found.why == "Among its fields are people's names."

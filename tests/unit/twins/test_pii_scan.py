"""One column: what counts once, what counts by share, what a header is believed, how much is remembered."""

from __future__ import annotations

import random

import pytest

from twins.pii import Action, Class, Finding, Kind
from twins.pii.column import REMEMBERED, ColumnScan
from twins.pii.header import kind_of_header
from twins.pii.tally import MOST_SHAPES, SKETCH
from worker.pii_model import load

ORDINARY = ["moved house", "no remarks", "called twice", "ok"]


def scan(values: list[str], name: str | None = None, *, with_model: bool = False) -> Finding:
    column = ColumnScan(name, model=load() if with_model else None)
    column.add(values)
    return column.finish()


ONE_VALUE_AMONG_THOUSANDS_IS_ENOUGH = (
    ("write to ann.other@clinic.example please", "has email"),
    ("account NL91 ABNA 0417 1643 00 it is", "has iban"),
    ("ssn was 078-05-1120", "has ssn"),
    ("paid with 4111-1111-1111-1111", "has card"),
    ("ring +31 20 123 45 67 after five", "has phone"),
    ("ring (212) 555-0147", "has phone"),
    ("found at 52.37021, 4.89517", "has coordinates"),
)


def test_one_value_among_thousands_is_enough(subtests: pytest.Subtests) -> None:
    for leak, rule in ONE_VALUE_AMONG_THOUSANDS_IS_ENOUGH:
        with subtests.test(leak=leak, rule=rule):
            values = ORDINARY * 2_000
            assert scan(values).classification is Class.NONE
            found = scan([*values, leak])
            assert (found.kind, found.classification, found.proposed) == (
                Kind.FREE_TEXT,
                Class.DIRECT,
                Action.DROP,
            )
            assert found.evidence[rule] == 1


WHAT_ONLY_LOOKS_SO_IS_LEFT_ALONE = (
    "account NL91 ABNA 0417 1643 01",
    "4111-1111-1111-1112",
    "1.2.840.10008.5.1.4.1.1.2",
    "user@localhost",
    "12-34-5678 and 2019-12-31",
    "version 2.10.4",
    "p < 0.0001, t = 52.3",
    "1-800",
    "10.1016/j.neuroimage.2019.116",
    "2021-03-04 12:30:00+01:00",
    "sub-01_ses-02_task-rest_run-1",
    "ACGT-1234-5678-9012",
)


def test_what_only_looks_so_is_left_alone(subtests: pytest.Subtests) -> None:
    for harmless in WHAT_ONLY_LOOKS_SO_IS_LEFT_ALONE:
        with subtests.test(harmless=harmless):
            assert scan([*ORDINARY * 100, harmless]).classification is Class.NONE


def test_a_weak_check_needs_nearly_all_values() -> None:
    draw = random.Random(5)
    random_numbers = [f"{draw.randrange(10**8, 10**9)}" for _ in range(2_000)]
    found = scan(random_numbers, "amount_total")
    assert found.kind is not Kind.NATIONAL_ID, "one in eleven holds by chance"
    valid = [
        "111222333",
        "123456782",
        "100000009",
        "200000007",
        "300000005",
        "400000003",
        "500000001",
        "111111110",
    ]
    assert scan(valid).kind is Kind.NATIONAL_ID
    assert scan(valid[:4]).kind is not Kind.NATIONAL_ID, "four of them prove nothing"


def test_check_digits_of_catalogues_win_over_chance() -> None:
    # SNOMED CT: diabetes, myocardial infarction, asthma and so on; some pass another check as well
    snomed = [
        "73211009", "22298006", "195967001", "38341003", "84114007",
        "13645005", "44054006", "709044004", "40930008", "267036007",
    ]  # fmt: skip
    assert scan(snomed).classification is Class.NONE


MISSING_CODES_ARE_NO_VALUES = ("", "n/a", "n/a ", " N/A", "NA", "null", "None", "-", "NaN", ".")


def test_missing_codes_are_no_values(subtests: pytest.Subtests) -> None:
    for missing in MISSING_CODES_ARE_NO_VALUES:
        with subtests.test(missing=missing):
            found = scan([missing] * 90 + ["078-05-1120"] * 10)
            assert (found.kind, found.confidence) == (Kind.NATIONAL_ID, 0.99)
            assert found.evidence["missing"] == 90
            assert scan([missing] * 5, "email").kind is Kind.EMAIL
            assert scan([missing] * 5).kind is Kind.EMPTY


WHAT_HEADERS_ANNOUNCE = (
    ("date_of_birth", Kind.DATE_OF_BIRTH),
    ("dateOfBirth", Kind.DATE_OF_BIRTH),
    ("Geburtsdatum", Kind.DATE_OF_BIRTH),
    ("fecha de nacimiento", Kind.DATE_OF_BIRTH),
    ("Data di nascita", Kind.DATE_OF_BIRTH),
    ("Birthday", Kind.DATE_OF_BIRTH),
    ("date de naissance", Kind.DATE_OF_BIRTH),
    ("geboortedatum", Kind.DATE_OF_BIRTH),
    ("Prénom", Kind.PERSON),
    ("Straße", Kind.ADDRESS),
    ("participant_id", Kind.RECORD_ID),
    ("CCNumber", Kind.CARD),
    ("huisarts", Kind.PERSON),
    ("patient e-mail", Kind.EMAIL),
    ("LAT", Kind.COORDINATE),
    ("yearOfBirth", Kind.AGE),
    ("PLZ", Kind.POSTCODE),
    ("phone_type", None),
    ("email_consent", None),
    ("drug_name", None),
    ("trial_id", None),
    ("roi name", None),
    ("heart_rate", None),
    ("n_visits", None),
    ("", None),
    ("_-_", None),
    ("𝕏" * 500, None),
)


def test_what_headers_announce(subtests: pytest.Subtests) -> None:
    for header, kind in WHAT_HEADERS_ANNOUNCE:
        with subtests.test(header=header, kind=kind):
            assert kind_of_header(header) is kind


def test_a_header_alone_flags_nothing_that_its_values_cannot_be() -> None:
    assert scan(["yes", "no"] * 20, "email").classification is Class.NONE
    assert scan(["1", "2", "3"] * 20, "phone").classification is Class.NONE
    assert scan(["left", "right"] * 20, "lat").classification is Class.NONE
    assert scan([str(n % 7) for n in range(50)], "passport").classification is Class.NONE
    assert scan([f"{1940 + n}" for n in range(50)], "birth").kind is Kind.AGE, "a year is no date"


@pytest.mark.parametrize(
    "form", ["{1}/{2}/{0}", "{2:02}.{1:02}.{0}", "{0}-{1:02}-{2:02}", "{2}-Mar-{0}", "{0}{1:02}{2:02}"]
)
def test_dates_that_span_a_lifetime_may_be_birthdays(form: str) -> None:
    lives = [form.format(1930 + 7 * n % 60, 1 + n % 12, 13 + n % 15) for n in range(60)]
    visits = [form.format(2019 + n % 3, 1 + n % 12, 13 + n % 15) for n in range(60)]
    series = [form.format(1930 + n, 1 + n % 12, 13 + n % 15) for n in range(60)]
    assert scan(lives).kind is scan(lives, "x3").kind is Kind.DATE_OF_BIRTH
    assert scan(lives, "admission").kind is Kind.DATE, "a header in plain words is believed"
    assert scan(visits).kind is scan(series).kind is Kind.DATE, "a year, and then the next, is a series"
    assert scan(visits, "dob").kind is Kind.DATE_OF_BIRTH, "of small children"


def test_what_a_spreadsheet_makes_of_dates_and_cards() -> None:
    assert scan([str(14_000 + 431 * n) for n in range(40)], "Birthday").kind is Kind.DATE_OF_BIRTH
    cards = [f"{n % 3 + 4}.{n:05d}E+15" for n in range(40)]
    assert scan(cards).kind is scan(cards, "CCNumber").kind is Kind.CARD


def test_versions_are_no_network_addresses() -> None:
    versions = [f"{n % 12}.{n % 5}.{n % 30}.{n % 9}" for n in range(60)]
    addresses = [f"{n + 20}.{n % 250}.{255 - n}.{n % 7}" for n in range(60)]
    assert scan(versions).classification is Class.NONE
    assert scan(addresses).kind is Kind.IP


def test_answers_that_repeat_are_no_free_text_and_sentences_are() -> None:
    answers = ["I agree with this and I would do it again", "I do not agree with any of this at all"] * 30
    assert scan(answers).kind is Kind.CATEGORY
    told = [f"she said that the pain was worse on day {n} and in the evening" for n in range(60)]
    assert scan(told).kind is Kind.FREE_TEXT


def test_text_that_nobody_knows_is_proposed_for_dropping() -> None:
    found = scan([f"{first}{second}{third}" for first in "abcdefg" for second in "xyzuvw" for third in "klm"])
    assert (found.classification, found.proposed, found.is_flagged) == (Class.NONE, Action.DROP, True)


def test_how_values_arrive_does_not_matter() -> None:
    values = [f"Person{n % 40} Name{n}" for n in range(4_500)] + ["", "n/a"] * 10
    at_once = scan(values, "x", with_model=True)
    pieces = ColumnScan("x", model=load())
    for start in range(0, len(values), 997):
        pieces.add(values[start : start + 997])
    assert pieces.finish().evidence == at_once.evidence
    assert (pieces.finish().kind, pieces.finish().masked_example) == (at_once.kind, at_once.masked_example)


def test_memory_does_not_grow_with_the_number_of_values() -> None:
    column = ColumnScan("x", model=None)
    for shift in range(2):
        column.add([f"AB{n:09d}" + "-x" * (n % 200) for n in range(4_000 * shift, 4_000 * shift + 4_000)])
    kept = [
        len(column._seen),
        len(column._tally.distinct._kept),
        len(column._tally.shapes),
        len(column._tally.marks),
    ]
    assert [
        most >= held for most, held in zip((REMEMBERED, SKETCH, MOST_SHAPES, 100), kept, strict=True)
    ] == [True] * 4
    assert 0.95 < column.finish().evidence["different"] / 8_000 < 1.05, "counted in a sketch"


@pytest.mark.parametrize(
    "part",
    ["a", "@", "a@a.", "1-", "+1 ", "AA00 AAAA ", "1234 ", "1.", "A.", "a b ", "-1.1111,", "\ud800", "00:"],
)
def test_a_cell_of_a_megabyte_is_read_in_linear_time(part: str) -> None:
    """A square of a million steps would run into the time limit of the whole suite."""
    cell = (part * (1_000_000 // len(part) + 1))[:1_000_000]
    for value in (cell, cell[:200], cell[:64], cell[:40]):
        assert scan([value], with_model=True).evidence["values"] <= 1

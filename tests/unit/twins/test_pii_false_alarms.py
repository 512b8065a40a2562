"""What was taken for telephone numbers and addresses, and how few plans of countries are asked."""

from __future__ import annotations

import hashlib
import random
from collections import Counter

import pytest

from twins.pii import Action, Class, Finding, Kind, phones
from twins.pii.check_digits import substance
from twins.pii.column import ColumnScan
from worker.pii_model import load

draw = random.Random(16)
ROWS = 60


def scan(values: list[str], name: str | None) -> Finding:
    column = ColumnScan(name, model=load())
    column.add(values)
    return column.finish()


def test_a_country_is_asked_no_more_once_it_cannot_have_nearly_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan is slow to ask. Who is dropped had missed too many, so what a column is stays the same."""
    asked: Counter[str | None] = Counter()

    def counting(value: str, country: str | None) -> bool:
        asked[country] += 1
        return country == "NL" or (country == "BE" and int(value[-1]) < 7)

    monkeypatch.setattr(phones, "is_of", counting)
    column = phones.Asked()
    for number in range(40):
        column.add(f"020 {1000 + number} 00{number % 10}", number)
    assert (asked["NL"], column.asked, column.share) == (32, 32, 1.0)
    assert asked["DE"] == phones.MOST_MISSED + 1 < asked["BE"] < 20


def test_a_date_is_asked_of_no_country(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phones, "is_of", lambda *_: pytest.fail("a date"))
    scan([f"0{day % 9 + 1}.0{month}.1{960 + day}" for day in range(20) for month in range(1, 9)], None)


def test_amounts_entries_trials_and_models_are_nobodys(subtests: pytest.Subtests) -> None:
    makers = ("Eagle Summit", "Ford Escort", "Honda Civic", "Mazda Protege", "Dodge Colt", "Acura Integra")
    columns = {
        "amounts": [f"{draw.randrange(2000, 4000)} mAh" for _ in range(ROWS)],
        "entries": [f"{number} - {name} Ale" for number in range(1200, 1210) for name in makers],
        "trials": [f"NCT0{draw.randrange(10**6, 10**7)}" for _ in range(ROWS)],
        "trials elsewhere": [f"ISRCTN{draw.randrange(10**7, 10**8)}" for _ in range(ROWS)],
        "models": [f"{name} {trim} 4" for name in makers for trim in ("", "Wagon", "Coupe", "Deluxe")],
    }
    for title, values in columns.items():
        with subtests.test(title):
            assert scan(values, None).classification is Class.NONE
    homes = [f"{name} {draw.randrange(1, 200)}" for name in makers for _ in range(10)]
    assert scan(homes, None).kind is Kind.ADDRESS


def test_one_number_of_many_that_begins_with_two_zeros_is_no_call_from_abroad() -> None:
    barcodes = [f"{draw.randrange(10**12, 10**13)}" for _ in range(99)]
    assert scan([*barcodes, "0049301234567"], None).kind is Kind.RECORD_ID
    assert scan([*barcodes, "0049301234567"] + ["00493012345678"] * 9, None).kind is Kind.PHONE
    assert scan(["none", "unknown"] * 50 + ["0049301234567"], None).classification is Class.DIRECT


def some(signs: str, length: int) -> str:
    return "".join(draw.choice(signs) for _ in range(length))


def test_barcodes_of_cells_and_pairs_of_sequences_are_nobodys_accounts(subtests: pytest.Subtests) -> None:
    columns = {
        "with the number of a run": [f"{some('ACGT', 16)}-{at % 3 + 1}" for at in range(ROWS)],
        "with the other end": [f"{some('ACGT', 10)}+{some('ACGT', 10)}" for _ in range(ROWS)],
    }
    for title, values in columns.items():
        with subtests.test(title):
            assert scan(values, None).kind is Kind.CODE


def test_a_code_that_ends_with_a_well_is_asked_about_and_called_no_number_of_people() -> None:
    wells = [f"P{draw.randrange(1, 40):02d}-{draw.choice('ABCDEFGH')}{at % 12 + 1:02d}" for at in range(ROWS)]
    found = scan(wells, None)
    assert (found.classification, found.proposed) == (Class.NONE, Action.DROP)
    people = [
        f"P{draw.randrange(10, 40)}-{draw.choice('KLMNPR')}{draw.randrange(10, 99)}" for _ in range(ROWS)
    ]
    assert scan(people, None).kind is Kind.RECORD_ID


def test_rows_of_amounts_never_begin_with_zero_and_groups_of_a_number_do() -> None:
    rows = [" ".join(str(draw.randrange(200, 900)) for _ in range(6)) for _ in range(ROWS)]
    found = scan(rows, None)
    assert (found.classification, found.proposed) == (Class.NONE, Action.DROP)
    groups = [" ".join(some("0123456789", 3) for _ in range(4)) for _ in range(ROWS)]
    assert scan(groups, None).kind is Kind.RECORD_ID


def test_a_digest_cut_short_is_asked_about_and_a_letter_before_digits_is_a_number_of_people() -> None:
    found = scan([hashlib.sha1(bytes([at])).hexdigest()[:7] for at in range(ROWS)], None)
    assert (found.classification, found.proposed) == (Class.NONE, Action.DROP)
    assert scan([f"c{some('123456789', 6)}" for _ in range(ROWS)], None).kind is Kind.RECORD_ID


def test_numbers_that_fill_their_length_are_not_kept_and_amounts_are() -> None:
    drawn = [str(number) for number in draw.sample(range(100_000, 1_000_000), ROWS)]
    assert scan(drawn, None).proposed is Action.DROP
    amounts = {
        "mostly small": [str(11_000 + int(60_000 * draw.random() ** 4)) for _ in range(ROWS)],
        "of several lengths": [str(draw.randrange(1_000, 1_000_000)) for _ in range(ROWS)] + ["998", "12000"],
        "that repeat": [str(draw.randrange(10, 100) * 1000) for _ in range(2 * ROWS)],
    }
    assert {title: scan(values, None).proposed for title, values in amounts.items()} == dict.fromkeys(
        amounts, Action.KEEP
    )


def test_offices_with_a_few_short_names_among_them_are_nobody() -> None:
    offices = ["Ospedale San Raffaele", "Hospital das Clínicas", "Policlinico Gemelli"]
    found = scan(["AMC", "UMCU", "Radboudumc"] * 15 + offices * 5, None)
    assert (found.classification, found.proposed) == (Class.NONE, Action.DROP)


def test_pictures_that_begin_with_a_few_words_are_no_accounts() -> None:
    pictures = [f"{draw.choice(('neutral', 'happy', 'sad'))}_{draw.choice('mf')}{at}" for at in range(ROWS)]
    assert scan(pictures, None).classification is Class.NONE


def test_numbers_of_chemicals_have_a_check_digit_of_their_own() -> None:
    begun = [f"{draw.randrange(10_000, 10**6)}-{draw.randrange(10, 100)}" for _ in range(ROWS)]
    numbers = [f"{each}-{digit}" for each in begun for digit in range(10)]
    chemicals = [number for number in numbers if substance(number)]
    assert len(chemicals) == ROWS
    assert scan(chemicals, None).kind is Kind.CODE
    assert scan([f"{each}-7" for each in begun], None).classification is Class.DIRECT


def test_two_dates_with_a_sign_between_are_dates(subtests: pytest.Subtests) -> None:
    for sign in ("/", " - ", " to ", ".."):
        days = [f"20{at % 4 + 10}-0{at % 9 + 1}-{at % 28 + 1:02d}" for at in range(ROWS)]
        with subtests.test(sign):
            assert (
                scan([f"{day}{sign}2021-03-{at % 28 + 1:02d}" for at, day in enumerate(days)], None).kind
                is Kind.DATE
            )
    assert scan([f"{at}/2021-03-04" for at in range(10**6, 10**6 + ROWS)], None).kind is not Kind.DATE


def test_entries_of_archives_of_sequences_are_nobodys(subtests: pytest.Subtests) -> None:
    columns = {
        "projects": [
            f"PRJ{draw.choice(('NA', 'EB', 'DB'))}{draw.randrange(10**5, 10**6)}" for _ in range(ROWS)
        ],
        "runs": [f"{draw.choice(('ERR', 'DRR', 'SRR'))}{draw.randrange(10**6, 10**7)}" for _ in range(ROWS)],
        "alignments": [f"{at + 1}M{draw.randrange(1, 9)}D{draw.randrange(1, 99)}M" for at in range(ROWS)],
        "molecules": [f"hsa-miR-{at + 100}-{draw.choice('35')}p" for at in range(ROWS)],
    }
    for title, values in columns.items():
        with subtests.test(title):
            assert scan(values, None).kind is Kind.CODE


def test_a_dozen_words_that_repeat_are_names_where_the_list_of_names_has_them(
    subtests: pytest.Subtests,
) -> None:
    columns = {
        "trades": (
            "Maurer",
            "Schreiner",
            "Bäcker",
            "Dachdecker",
            "Gärtner",
            "Friseur",
            "Tischler",
            "Schneider",
        ),
        "tools": ("Hammer", "Zange", "Säge", "Bohrer", "Feile", "Schraube", "Nagel", "Meißel"),
        "towns": ("Nitra", "Trnava", "Martin", "Poprad", "Zvolen", "Levice", "Senica", "Bardejov"),
    }
    for title, words in columns.items():
        with subtests.test(title):
            found = scan([*words] * 15, None)
            assert (found.classification, found.proposed) == (Class.NONE, Action.DROP)
    assert scan(["Marco", "Giulia", "Paolo", "Francesca", "Luca", "Chiara"] * 15, None).kind is Kind.PERSON

"""Columns that are told as lists: running numbers, telephones of a plan, frequent names, places of a region.

Each rule has beside it what only looks so. Values are made up here, and headers are hidden.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from twins.pii import Action, Class, Finding, Kind
from twins.pii.column import ColumnScan
from twins.pii.dates import year_of
from twins.pii.japan import is_frequent_name
from worker.pii_model import load

draw = random.Random(4)
MODEL = load()
ROWS = 60


def scan(values: list[str], header: str | None = None) -> Finding:
    column = ColumnScan(header, model=MODEL)
    column.add(values)
    return column.finish()


def repeated(make: Callable[[int], str], different: int = 40, rows: int = 120) -> list[str]:
    return [make(draw.randrange(different)) for _ in range(rows)]


def bare(first: int, width: int) -> str:
    return f"{first}{draw.randrange(10**width):0{width}d}"


CAPITALS = (
    "ACHARD BERTRAND CHEVALIER DUPONT FOURNIER GAUTIER LAMBERT LEFEBVRE MERCIER MOREAU ROUSSEAU VINCENT"
)
JAPAN = (
    "佐藤美咲 鈴木大輔 高橋直樹 田中葵 渡辺陽菜 山本翔太 中村結衣 小林蓮 加藤莉子 吉田悠斗 草彅剛志 剣持遥"
)
READINGS = """
サトウミサキ スズキダイスケ タカハシナオキ タナカアオイ ワタナベヒナ ヤマモトショウタ
ナカムラユイ コバヤシレン クサナギツヨシ ケンモチハルカ
"""

IDENTIFY = (
    ("customers in a row, each once", [f"CLI_{at:04d}" for at in range(1, ROWS + 1)], Kind.RECORD_ID),
    (
        "customers behind rows of eight other kinds",
        [f"{kind}_0001" for kind in "ABDFGHJK"] + [f"CLI_{at:04d}" for at in range(1, 121)],
        Kind.RECORD_ID,
    ),
    ("employees in a row, many times", repeated(lambda at: f"E{10_000 + at}"), Kind.RECORD_ID),
    ("operators of three digits", repeated(lambda at: f"OPE_{at:03d}"), Kind.RECORD_ID),
    ("telephones with .0 behind", [f"{bare(98, 8)}.0" for _ in range(ROWS)], Kind.PHONE),
    ("telephones of Italy, some twice", repeated(lambda at: f"34{7 * at % 10}{at:07d}", 50, 60), Kind.PHONE),
    (
        "passports of letters and digits",
        [f"QL{at:02d}UI{at % 7}B{at % 5}" for at in range(ROWS)],
        None,
    ),
    ("names in capitals", CAPITALS.split() * 2, Kind.PERSON),
    ("names of Japan", JAPAN.split(), Kind.PERSON),
    ("names of Japan as they are read", READINGS.split(), Kind.PERSON),
    (
        "accounts that repeat",
        repeated(lambda at: f"{CAPITALS.split()[at % 12][:5].lower()}{'abc'[at // 14]}01"),
        None,
    ),
)


@pytest.mark.parametrize(("title", "values", "kind"), [pytest.param(*row, id=row[0]) for row in IDENTIFY])
def test_lists_of_people_are_direct_identifiers(title: str, values: list[str], kind: Kind | None) -> None:
    found = scan(values)
    assert found.classification is Class.DIRECT
    assert kind is None or found.kind is kind


ASKED = (
    ("subjects s0 to s13", repeated(lambda at: f"s{at}", 14)),
    ("pages of boxers that repeat", repeated(lambda at: f"http://boxing.example/boxer/{77 * at}", 20)),
    ("places that a program worked out", [f"{51.4 + draw.random() / 5!r}" for _ in range(ROWS)]),
)


def test_what_may_be_people_is_not_kept_unasked(subtests: pytest.Subtests) -> None:
    for title, values in ASKED:
        with subtests.test(title=title):
            assert scan(values).proposed is Action.DROP


HARMLESS = (
    ("electrodes without a width", repeated(lambda at: f"E{at + 1}", 64)),
    ("articles of two families", repeated(lambda at: f"{('JAF', 'BEV')[at % 2]}-{at // 2:03d}", 10)),
    ("terms of an ontology", [f"HP_{draw.randrange(10**7):07d}" for _ in range(ROWS)]),
    ("places in memory", [f"0x{draw.randrange(16**16):x}" for _ in range(ROWS)]),
    (
        "codes of diagnoses with a line",
        [f"{draw.choice('ABCDE')}{at:02d}_{draw.randrange(90)}" for at in range(ROWS)],
    ),
    ("moments in seconds", [str(1_500_000_000 + draw.randrange(10**8)) for _ in range(50)] * 2),
    (
        "postcodes of Japan",
        [f"{draw.choice('0169')}{draw.randrange(10**2):02d}-{at:04d}" for at in range(ROWS)],
    ),
    ("days of the week and dates", [f"Fri Aug {1 + at % 28} 1999" for at in range(ROWS)]),
    ("postcodes and towns", repeated(lambda at: f"9{at:03d} Kieldrecht", 16, 200)),
    (
        "stations of Japan",
        [
            f"{sign}駅"
            for sign in ("小山", "川口", "前田", "石川", "中野", "福島", "千葉", "上野", "高田", "松本")
        ],
    ),
)


def test_what_only_looks_like_a_list_of_people_is_none(subtests: pytest.Subtests) -> None:
    for title, values in HARMLESS:
        with subtests.test(title=title):
            assert scan(values).classification is not Class.DIRECT


def test_running_numbers_of_things_are_codes_where_the_header_says_so() -> None:
    values = [f"SUP-{at:03d}" for at in range(ROWS)]
    assert scan(values).classification is Class.DIRECT
    assert scan(values, "sample_id").kind is Kind.CODE


def test_telephones_in_one_cell_are_telephones_each() -> None:
    numbers = [f"98{draw.randrange(10**8):08d}" for _ in range(4 * ROWS)]
    for between in ("|", "; ", " / ", ", "):
        cells = [between.join(numbers[at : at + 1 + at % 2]) for at in range(2 * ROWS)]
        assert scan(cells).classification is Class.DIRECT, between
    assert scan([f"{low};{low + 5}" for low in range(100, 100 + ROWS)]).proposed is not Action.PSEUDONYMISE


def test_numbers_that_skip_a_length_were_given_by_an_office_and_quantities_skip_none() -> None:
    given = [str(draw.randrange(2 * 10**9, 9 * 10**9)) for _ in range(80)]
    given += [str(draw.randrange(10**7, 10**8)) for _ in range(20)]
    assert scan(given).kind is Kind.RECORD_ID
    amounts = [str(int(10 ** draw.uniform(7, 9.99))) for _ in range(100)]
    assert scan(amounts).kind is Kind.TEXT


def test_numbers_of_people_that_could_be_seconds_are_not_kept(subtests: pytest.Subtests) -> None:
    """Of ten digits that begin with 1, as those of physicians, and of thirteen."""
    of_people = {
        "npi": [f"1{draw.randrange(10**9):09d}" for _ in range(ROWS)],
        "cedula": [str(draw.randrange(10**9, 125 * 10**7)) for _ in range(ROWS)],
        "number": [f"1{draw.randrange(40, 99)}05{draw.randrange(10**8):08d}" for _ in range(ROWS)],
    }
    for header, values in of_people.items():
        for name in (header, None):
            with subtests.test(f"{header} {name}"):
                assert scan(values, name).proposed not in (Action.KEEP, Action.GENERALISE)
    seconds = [str(draw.randrange(14 * 10**8, 17 * 10**8)) for _ in range(ROWS)]
    for header in ("created_at", "timestamp", "visitDate", "unix"):
        with subtests.test(header):
            assert scan(seconds, header).kind is Kind.DATE


def test_numbers_of_people_that_look_like_versions_are_not_kept() -> None:
    grouped = [
        f"{draw.randrange(9, 50)}.{draw.randrange(1000):03d}.{draw.randrange(1000):03d}" for _ in range(ROWS)
    ]
    numbered = [f"V{draw.randrange(1000, 10000)}" for _ in range(ROWS)]
    for values in (grouped, numbered):
        assert scan(values).classification is Class.DIRECT
    for versions in (["v1", "v2", "V3"] * 20, ["1.2.3", "1.10.0", "2.0.14", "1.2.345"] * 20, ["v10.4"] * 20):
        assert scan(versions).proposed is Action.KEEP


def test_what_a_doctor_is_for_is_nobodys_name() -> None:
    fields = ["Cardiology", "Neurology", "Oncology", "Pediatrics", "Radiology", "Urology", "Orthopedics"]
    assert scan(fields * 4, "doctor_specialty").classification is Class.NONE


def test_amounts_of_several_lengths_are_no_telephones() -> None:
    values = [str(draw.randrange(10**6, 9 * 10 ** draw.randrange(7, 10))) for _ in range(ROWS)]
    assert scan(values).kind is not Kind.PHONE


def test_a_frequent_name_of_japan_needs_a_family_of_two_signs_or_all_of_one() -> None:
    assert all(map(is_frequent_name, ("佐藤", "佐々木 希", "森", "サトウ", "スズキ\u3000ハナコ")))
    assert not any(map(is_frequent_name, ("東京", "森林公園入口前", "川口市", "テレビ", "abc", "")))


def test_a_date_may_begin_with_its_day_of_the_week() -> None:
    assert year_of("Fri Aug 6 1999") == 1999
    assert year_of("Monday, 3 May 2021") == 2021
    assert year_of("Mon") is None

"""No identifier is handed out by accident: it is renamed or left out, unless somebody asked for it."""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from lent_data import lent

from companions.scramble import tables
from companions.scramble.agreement import NOTE, agree
from companions.scramble.identifiers import Identifiers
from companions.scramble.leaks import TableLeaks
from companions.scramble.methods import Wishes
from companions.scramble.run import Order, Outcome, scramble
from companions.scramble.tables import Named
from domain.scrambled import MOST_DAYS
from dpgate.errors import DpgateError

TODAY = date(2026, 3, 2)
PEOPLE = 60
IDENTIFYING = ("id", "SSN", "MRN", "name", "email")
SURNAMES = (
    "Abara",
    "Bakker",
    "Castillo",
    "Dubois",
    "Eriksen",
    "Fischer",
    "Garcia",
    "Hughes",
    "Ivanova",
    "Jansen",
)
FIRST = ("Anna", "Boris", "Clara", "David", "Emma", "Farid")


def people() -> list[dict[str, str]]:
    draw = random.Random(3)
    return [
        {
            "id": f"{number + 48_210}",
            "SSN": f"{draw.randint(100, 665)}-{draw.randint(10, 99)}-{draw.randint(1000, 9999)}",
            "MRN": f"MRN{draw.randint(10**6, 10**7)}",
            "name": f"{FIRST[number % 6]} {SURNAMES[number // 6]}",
            "email": f"person{number}@hospital.org",
            "age": str(20 + number),
            "height": f"{150 + draw.random() * 50:.1f}",
            "weight": f"{50 + draw.random() * 50:.1f}",
            "hand": "lr"[number % 2],
        }
        for number in range(PEOPLE)
    ]


def written(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run(source: Path, out: Path, *, named: Named | None = None, **wishes: Any) -> Outcome:
    signed = agree("A. Holder", "DTA 12", (TODAY + timedelta(days=MOST_DAYS)).isoformat(), today=TODAY)
    asked = Wishes(**{"method": "permute", **wishes})
    return scramble(Order(source, out, asked, signed, named=named or Named()), today=TODAY)


def found(outcome: Outcome) -> dict[str, tuple[str, int, int]]:
    (table,) = outcome.tables
    return {one.name: (one.fate, one.values, one.reappear) for one in table.identifiers}


def shown(path: Path, rows: list[dict[str, str]]) -> dict[str, int]:
    """How many real values of each identifying column stand anywhere in a written table."""
    cells = {cell for row in read(path) for cell in row.values()}
    return {name: len({row[name] for row in rows} & cells) for name in IDENTIFYING}


@pytest.mark.parametrize("method", ["permute", "swap", "jitter"])
def test_no_identifier_comes_out(tmp_path: Path, method: str) -> None:
    rows = people()
    outcome = run(written(tmp_path / "t.csv", rows), tmp_path / "out", method=method)
    assert shown(tmp_path / "out" / "t.csv", rows) == dict.fromkeys(IDENTIFYING, 0)
    fates = {name: fate for name, (fate, *_) in found(outcome).items()}
    assert fates == dict.fromkeys(("SSN", "name", "email"), "left out") | dict.fromkeys(
        ("id", "MRN"), "renamed"
    )
    assert {row["id"][0] for row in read(tmp_path / "out" / "t.csv")} == {"p"}
    assert outcome.people == 2 * PEOPLE  # by two numbers, which nothing says belong to one person
    report = outcome.report.read_text()
    assert f"`SSN` identifies people (NATIONAL_ID) and was left out; of its {PEOPLE} real values 0" in report


def test_without_the_detector_they_come_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: it is what was handed out under names that are no participant_id."""
    monkeypatch.setattr(tables, "find_identifiers", lambda *_, **__: Identifiers())
    rows = people()
    run(written(tmp_path / "t.csv", rows), tmp_path / "out")
    assert shown(tmp_path / "out" / "t.csv", rows) == dict.fromkeys(IDENTIFYING, PEOPLE)


def test_what_is_kept_was_asked_for_and_is_told(tmp_path: Path) -> None:
    rows = people()
    outcome = run(written(tmp_path / "t.csv", rows), tmp_path / "out", named=Named(keep=("MRN",)))
    there = shown(tmp_path / "out" / "t.csv", rows)
    assert there == dict.fromkeys(IDENTIFYING, 0) | {"MRN": PEOPLE}
    assert found(outcome)["MRN"] == ("kept", PEOPLE, PEOPLE)
    assert f"was kept; of its {PEOPLE} real values {PEOPLE} stand in the table" in outcome.report.read_text()
    assert "Columns with real identifiers: MRN." in (tmp_path / "out" / NOTE).read_text()


@pytest.mark.parametrize(
    ("keep", "wishes"),
    [
        (("MRN",), {"together": (("MRN", "age", "height", "weight"),)}),
        (("SSN",), {"method": "swap", "share": 0.05}),
    ],
)
def test_a_row_that_is_somebodys_with_their_identifier_is_refused(
    tmp_path: Path, keep: tuple[str, ...], wishes: dict[str, Any]
) -> None:
    source = written(
        tmp_path / "t.csv",
        [{name: row[name] for name in (*keep, "age", "height", "weight", "hand")} for row in people()],
    )
    with pytest.raises(DpgateError, match=rf"rows of t\.csv would come out as they are, with {keep[0]}"):
        run(source, tmp_path / "out", named=Named(keep=keep), **wishes)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_what_may_identify_people_is_left_out_as_well(tmp_path: Path) -> None:
    """Surnames that repeat under a header that says nothing look like categories, and numbers of people like
    codes of a catalogue."""
    draw = random.Random(1)
    names = [
        "Jansen",
        "Vermeulen",
        "Bakker",
        "Hendriks",
        "Okafor",
        "Nguyen",
        "Kowalski",
        "Dijkstra",
        "Mulder",
    ]
    more = [
        {"q3": draw.choice(names), "q4": f"{draw.choice('XY')}{draw.randrange(1, 90):02}"}
        for _ in range(PEOPLE)
    ]
    source = written(tmp_path / "t.csv", [row | of_it for row, of_it in zip(people(), more, strict=True)])
    outcome = run(source, tmp_path / "out", named=Named(keep=("q4",)))
    said = outcome.report.read_text()
    assert f"`q3` may identify people (TEXT) and was left out; of its {len(names)} real values 0" in said
    assert "`q4` may identify people (TEXT) and was kept" in said
    out = read(tmp_path / "out" / "t.csv")
    assert "q4" in out[0]
    assert not {cell for row in out for cell in row.values()} & set(names)


def test_a_column_that_is_left_out_cannot_be_ordered_about(tmp_path: Path) -> None:
    source = written(tmp_path / "t.csv", people())
    with pytest.raises(DpgateError, match="SSN identifies people, or may, and is left out; --keep it"):
        run(source, tmp_path / "out", within="SSN")


def test_numbers_of_records_still_meet_between_tables(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    rows = people()
    written(
        data / "people.csv", [{"id": row["id"], "age": row["age"], "height": row["height"]} for row in rows]
    )
    visits = [{"patient": row["id"], "score": str(n % 7), "day": str(n)} for n, row in enumerate(rows)]
    written(data / "visits.csv", visits)
    outcome = run(data, tmp_path / "out")
    met = [
        {row[name] for row in read(tmp_path / "out" / path)}
        for path, name in (("people.csv", "id"), ("visits.csv", "patient"))
    ]
    assert met[0] == met[1]
    assert outcome.people == PEOPLE


def with_copies(data: Path) -> list[dict[str, str]]:
    """The people's numbers under names that say nothing, beside those that do, and in another table."""
    data.mkdir()
    rows = people()
    written(
        data / "a.csv", [{"participant_id": row["id"], "ref": row["id"], "age": row["age"]} for row in rows]
    )
    written(data / "b.csv", [{"code": row["id"], "height": row["height"], "age": row["age"]} for row in rows])
    return rows


def test_numbers_that_are_renamed_in_one_place_stand_in_no_other(tmp_path: Path) -> None:
    rows = with_copies(tmp_path / "data")
    outcome = run(tmp_path / "data", tmp_path / "out")
    text = "".join(file.read_text() for file in (tmp_path / "out").rglob("*.csv"))
    assert not [row["id"] for row in rows if row["id"] in text]
    assert [(one.name, one.fate) for table in outcome.tables for one in table.identifiers] == [
        ("ref", "renamed"),
        ("code", "renamed"),
    ]
    kept = run(tmp_path / "data", tmp_path / "kept", named=Named(keep=("code",)))
    assert [one.reappear for table in kept.tables for one in table.identifiers if one.name == "code"] == [
        PEOPLE
    ]


@pytest.mark.parametrize("form", ["{}.0", " {}", "sub-{}", "{};x", '{{"of": {}}}'])
def test_a_number_is_found_in_another_spelling_too(tmp_path: Path, form: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    rows = people()
    written(data / "a.csv", [{"id": row["id"], "age": row["age"], "hand": row["hand"]} for row in rows])
    spelled = [{"q": form.format(row["id"]), "height": row["height"], "age": row["age"]} for row in rows]
    written(data / "b.csv", spelled)
    run(data, tmp_path / "out")
    text = (tmp_path / "out" / "b.csv").read_text()
    assert not [row["id"] for row in rows if row["id"] in text]


def test_without_the_search_they_stand_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: nothing in these columns' names or cells says that they number people."""
    monkeypatch.setattr(tables, "find_strays", lambda *_, **__: ())
    rows = with_copies(tmp_path / "data")
    run(tmp_path / "data", tmp_path / "out")
    text = (tmp_path / "out" / "b.csv").read_text()
    assert all(row["id"] in text for row in rows)


@pytest.mark.parametrize(
    ("path", "header", "said"),
    [
        ("scan_48211.nii", "height", "the path scan_48211.nii names somebody"),
        ("48211/scan.json", "height", "the path 48211/scan.json names somebody"),
        ("scan.nii", "48211", "a column of b.csv names somebody"),
    ],
)
def test_a_number_in_a_path_or_a_header_is_refused(tmp_path: Path, path: str, header: str, said: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    rows = people()
    written(data / "a.csv", [{"id": row["id"], "age": row["age"], "hand": row["hand"]} for row in rows])
    written(data / "b.csv", [{header: row["height"], "weight": row["weight"]} for row in rows])
    (data / path).parent.mkdir(exist_ok=True)
    (data / path).touch()
    with pytest.raises(DpgateError, match=said):
        run(data, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_few_equal_numbers_are_chance(tmp_path: Path) -> None:
    """Steps of a day, of which three are somebody's number, too."""
    data = tmp_path / "data"
    data.mkdir()
    rows = people()
    steps = [row["id"] if at < 3 else str(9000 + 7 * at) for at, row in enumerate(rows)]
    each = [
        {"id": row["id"], "steps": one, "hand": row["hand"]} for row, one in zip(rows, steps, strict=True)
    ]
    each[5] |= {"id": "unknown", "hand": "unknown"}
    outcome = run(written(data / "a.csv", each), tmp_path / "out")
    assert found(outcome)["id"][0] == "renamed"
    assert set(found(outcome)) == {"id"}


def test_a_table_of_nothing_but_identifiers_is_refused(tmp_path: Path) -> None:
    source = written(tmp_path / "t.csv", [{"SSN": row["SSN"], "name": row["name"]} for row in people()])
    with pytest.raises(DpgateError, match="no column left"):
        run(source, tmp_path / "out")


def test_of_a_register_of_others_nobody_is_named(tmp_path: Path) -> None:
    """Synthea's patients: seven columns of names and numbers, none called participant_id."""
    source = lent("synthea_apr2020") / "patients.csv"
    outcome = run(source, tmp_path / "out")
    (table,) = outcome.tables
    assert isinstance(table, TableLeaks)
    fates = {one.name: one.fate for one in table.identifiers}
    direct = ("SSN", "DRIVERS", "PASSPORT", "FIRST", "LAST", "MAIDEN", "ADDRESS", "BIRTHDATE", "LAT", "LON")
    assert fates == dict.fromkeys(direct, "left out") | {"Id": "renamed"}
    cells = {cell for row in read(tmp_path / "out" / "patients.csv") for cell in row.values()}
    for name in ("Id", "SSN", "DRIVERS", "PASSPORT", "ADDRESS", "LAST"):
        real = {row[name] for row in read(source)} - {""}
        assert len(real) > 300, name
        assert not real & cells, name

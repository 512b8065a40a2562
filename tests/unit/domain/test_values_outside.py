"""The rights holder is told of values that their declaration does not hold, where the data are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from domain.dataset import Declaration
from domain.model import parse
from dpgate.outside import about_outside

COLUMNS = [
    {"name": "person", "kind": "person"},
    {"name": "age", "kind": "integer", "lower": 18, "upper": 80, "missing_rate": 0.1},
    {"name": "site", "kind": "categorical", "categories": ["Bonn", "Trier"], "missing": "-9"}
    | {"missing_rate": 0.1},
    {"name": "seen", "kind": "date", "lower": "2019-01-01", "upper": "2019-06-30", "missing_rate": 0.1},
]
WITHIN = "a,18,Bonn,2019-01-01\nb,80,Trier,2019-06-30\nc,20,-9,n/a\nd,,bonn-is-not-here,2019-03-01\n"
RATHER = "Check the unit, or declare wider bounds from what is public."


def declared(**more: Any) -> Declaration:
    fields = {
        "name": "clinic",
        "title": "Visits",
        "privacy_unit": {"table": "people.csv", "column": "person"},
        "nominal_size": 60,
        "tables": [{"path": "people.csv", "columns": COLUMNS}],
        "new_people": True,
        "budget_epsilon": "5",
        "policy": {},
    }
    return parse(Declaration, fields | more)


def told(folder: Path, rows: str) -> list[str]:
    (folder / "people.csv").write_text("person,age,site,seen\n" + rows, encoding="utf-8")
    return [*about_outside(folder, declared())]


def test_values_within_are_not_spoken_of(tmp_path: Path) -> None:
    assert told(tmp_path, WITHIN.replace("bonn-is-not-here", "Bonn")) == []


def test_a_column_is_named_with_the_first_value_that_is_outside(tmp_path: Path) -> None:
    rows = WITHIN + "e,17.5,Bonn,2019-07-01\nf,old,Bonn,2019-07-02\ng,200,Bonn,01/02/2019\n"
    assert told(tmp_path, rows) == [
        "people.csv, age: 3 of 6 values are no integer from 18 to 80, such as 17.5 in line 6. A trusted "
        f"query counts a number beyond a bound as it. {RATHER}",
        "people.csv, site: 1 of 6 values are no declared category, such as bonn-is-not-here in line 5. Spell "
        "them alike, or declare the category.",
        f"people.csv, seen: 3 of 6 values are no date from 2019-01-01 to 2019-06-30, such as 2019-07-01 in "
        f"line 6. {RATHER}",
    ]


def test_missing_values_are_told_where_the_twin_would_have_none(tmp_path: Path) -> None:
    columns = [{**column, "missing_rate": 0} for column in COLUMNS[1:]]
    without = declared(tables=[{"path": "people.csv", "columns": [COLUMNS[0], *columns]}])
    (tmp_path / "people.csv").write_text(f"person,age,site,seen\n{WITHIN}", encoding="utf-8")
    about = [line for line in about_outside(tmp_path, without) if "are missing" in line]
    assert [line.partition(" values")[0] for line in about] == [
        "people.csv, age: 1 of 4",
        "people.csv, site: 1 of 4",
        "people.csv, seen: 1 of 4",
    ]
    assert about[0].endswith("Declare missing_rate, about what is known in public.")

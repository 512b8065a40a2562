"""Twins from noisy counts: rows for every person, columns as counted, the rest from the declaration."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import pytest
from factories import column_fields, make_declaration, table_fields

from domain.twin import LABEL, README, TableCounts, cell_grid
from privacy.twin import ColumnCounts, NoisyCounts, Patterns
from twins.drawn import make_twin

PERSON = {"name": "participant_id", "kind": "person"}
SEX = {"name": "sex", "kind": "categorical", "categories": ["f", "m", "d"], "count_missing": True}
DAYS = {"kind": "date", "lower": "2019-01-01", "upper": "2020-12-31"}
PEOPLE = {"path": "people.tsv", "columns": [PERSON, column_fields(), SEX, column_fields(name="blank")]}
VISITS = {
    "path": "visits.csv",
    "rows_per_person": "many",
    "typical_rows": 3,
    "columns": [PERSON, {"name": "start", **DAYS}, {"name": "end", **DAYS}],
    "row_rules": ["end >= start"],
}


def declared(**overrides):
    fields = {"privacy_unit": {"table": "people.tsv", "column": "participant_id"}, "nominal_size": 200}
    return make_declaration(**{**fields, "tables": [PEOPLE, VISITS], **overrides})


def counts_of(declaration, path, names, totals=None, level=1):
    """Counts at a price at which the noise is next to nothing."""
    table = next(table for table in declaration.tables if table.path == path)
    columns = {column.name: column for column in table.columns}
    cells = tuple(cell_grid(columns[name], declaration.nominal_size).count for name in names)
    mechanism = ColumnCounts(cells, 10**8)
    if level == 2:
        mechanism = Patterns(cells, 10**8, nominal_size=declaration.nominal_size)
    totals = totals or [100] * mechanism.width
    return TableCounts(tuple(names), mechanism.release(totals), level)


def rows_of(declaration, twin, path):
    table = next(table for table in declaration.tables if table.path == path)
    header, *rows = table.split(twin[path].decode())
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_counted_columns_follow_the_counts_and_the_others_the_declaration():
    declaration = declared()
    ages = [0] * 9 + [500]  # everybody in the last of ten bins
    counts = {"people.tsv": counts_of(declaration, "people.tsv", ["age", "sex"], [*ages, 300, 0, 0, 200])}
    rows = rows_of(declaration, make_twin(declaration, counts=counts), "people.tsv")
    assert len({row["participant_id"] for row in rows}) == len(rows) == 200
    assert sum(int(row["age"]) >= 108 for row in rows) > 190
    sexes = Counter(row["sex"] for row in rows)
    assert 100 < sexes["f"] < 140
    assert 60 < sexes["n/a"] < 100
    assert len({row["blank"] for row in rows}) > 50


def test_patterns_keep_what_belongs_together():
    declaration = declared(tables=[table_fields(path="people.tsv", columns=[
        PERSON, {**SEX, "name": "x", "count_missing": False}, {**SEX, "name": "y", "count_missing": False}
    ])])  # fmt: skip
    together = [200 if at == other else 0 for at in range(3) for other in range(3)]
    counts = counts_of(declaration, "people.tsv", ["x", "y"], [200] * 6 + together, level=2)
    rows = rows_of(declaration, make_twin(declaration, counts={"people.tsv": counts}), "people.tsv")
    assert sum(row["x"] == row["y"] for row in rows) > 180


def test_every_person_has_rows_in_every_table_whatever_its_level():
    declaration = declared()
    counts = {"visits.csv": counts_of(declaration, "visits.csv", ["start", "end"])}
    twin = make_twin(declaration, counts=counts)
    people = [row["participant_id"] for row in rows_of(declaration, twin, "people.tsv")]
    visits = rows_of(declaration, twin, "visits.csv")
    held = Counter(row["participant_id"] for row in visits)
    assert sorted(held) == people
    assert max(held.values()) == 5
    assert all(row["start"] <= row["end"] for row in visits)


def test_any_number_of_twins_is_drawn_from_the_same_counts():
    declaration = declared()
    counts = {"people.tsv": counts_of(declaration, "people.tsv", ["age", "sex"])}
    first, again = (make_twin(declaration, counts=counts) for _ in range(2))
    assert first == again
    assert make_twin(declaration, counts=counts, seed=1)["people.tsv"] != first["people.tsv"]
    small = make_twin(declaration, counts=counts, people=7)
    assert [row["participant_id"] for row in rows_of(declaration, small, "people.tsv")][-1] == "twin-7"
    with pytest.raises(ValueError, match="1 person or more"):
        make_twin(declaration, people=0)


def test_the_twin_says_which_of_its_tables_were_counted():
    declaration = declared()
    counts = {"people.tsv": counts_of(declaration, "people.tsv", ["age", "sex"])}
    said = make_twin(declaration, counts=counts)[README].decode()
    assert "`people.tsv`: LEVEL 1" in said
    assert "pure_dp" in said
    assert f"`visits.csv`: {LABEL}" in said
    assert "2 of its columns" in said


def test_counts_are_read_as_they_were_written():
    found = counts_of(declared(), "people.tsv", ["age", "sex"])
    document = json.loads(json.dumps(found.document()))
    assert TableCounts.parse(document) == found


COUNTS_THAT_ARE_NONE_ARE_REFUSED = (
    {"level": 3},
    {"level": True},
    {"columns": ["age"]},
    {"columns": ["age", "age"]},
    {"columns": "ab"},
    {"columns": [1, 2]},
    {"counts": {}},
    {"more": 1},
)


def test_counts_that_are_none_are_refused(subtests):
    for change in COUNTS_THAT_ARE_NONE_ARE_REFUSED:
        with subtests.test(change=change):
            document = counts_of(declared(), "people.tsv", ["age", "sex"]).document()
            with pytest.raises(ValueError, match=r"counts|columns|level"):
                TableCounts.parse({**document, **change})


@pytest.mark.parametrize(
    ("path", "names", "changed", "words"),
    [
        ("people.tsv", ["age"], {"tables": [VISITS]}, "does not declare"),
        ("people.tsv", ["age"], {"nominal_size": 600}, "another version"),
        ("people.tsv", ["blank"], {"tables": [{**PEOPLE, "columns": [PERSON, SEX]}]}, "does not declare"),
    ],
)
def test_counts_of_another_declaration_are_refused(path, names, changed, words):
    counts = {path: counts_of(declared(), path, names)}
    unit = (
        {"privacy_unit": {"table": "visits.csv", "column": "participant_id"}} if "tables" in changed else {}
    )
    if changed.get("tables", [{}])[0].get("path") == "people.tsv":
        unit = {}
    with pytest.raises(ValueError, match=words):
        make_twin(declared(**changed, **unit), counts=counts)


def test_noisy_counts_below_zero_make_a_twin_all_the_same():
    declaration = declared()
    cells = (10, 4)
    ones = (tuple([-3] * 10), (-5, -1, -2, -9))
    counts = TableCounts(("age", "sex"), NoisyCounts(cells, ones, Fraction(2)), 1)
    rows = rows_of(declaration, make_twin(declaration, counts={"people.tsv": counts}), "people.tsv")
    assert len(rows) == 200

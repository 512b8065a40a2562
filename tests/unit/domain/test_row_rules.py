"""Rules between columns: read strictly, refused where no twin could keep them, kept by every row."""

from __future__ import annotations

import random
from datetime import date, datetime
from itertools import pairwise

import pytest
from factories import make_declaration, make_table
from hypothesis import given
from hypothesis import strategies as st

from domain.dataset.row_rules import InOrder, OnALine, Rising, read_rule
from domain.errors import InvalidRequest
from twins.drawn import make_twin
from twins.drawn.rules import MOST_DEVIATIONS, RowRules

PERSON = {"name": "id", "kind": "person"}
DAYS = {"kind": "date", "lower": "2019-01-01", "upper": "2019-03-31", "missing_rate": 0.2}
COLUMNS = [
    PERSON,
    {"name": "visit", "kind": "integer", "lower": 1, "upper": 9},
    {"name": "start", **DAYS},
    {"name": "end day", **DAYS},
    {"name": "a", "kind": "number", "lower": 0, "upper": 2.25, "decimals": 1},
    {"name": "b", "kind": "number", "lower": 0, "upper": 2.25, "decimals": 3},
    {"name": "n", "kind": "integer", "lower": -4, "upper": 4},
    {"name": "Height", "kind": "number", "lower": 130, "upper": 220, "instrument": "height-cm"},
    {"name": "Weight", "kind": "number", "lower": 35, "upper": 200, "instrument": "weight"},
    {"name": "sex", "kind": "categorical", "categories": ["f", "m"]},
    {"name": "begun", **DAYS, "with_time": True},
    {"name": "ended", **DAYS, "with_time": True},
]


def table(*rules, many=True):
    rows = "many" if many else "one"
    return make_table(path="v.csv", columns=COLUMNS, rows_per_person=rows, row_rules=list(rules))


def rows_of(*rules):
    visits = {"path": "v.csv", "columns": COLUMNS, "rows_per_person": "many", "typical_rows": 5}
    declaration = make_declaration(
        privacy_unit={"table": "p.tsv", "column": "id"},
        tables=[{"path": "p.tsv", "columns": [PERSON]}, {**visits, "row_rules": list(rules)}],
    )
    header, *rows = declaration.tables[1].split(make_twin(declaration)["v.csv"].decode())
    return [dict(zip(header, row, strict=True)) for row in rows]


THE_FORMS_OF_A_RULE = (
    ("end >= start", InOrder("end", ">=", "start")),
    (" a<b ", InOrder("a", "<", "b")),
    ("`end day` <= start.x", InOrder("end day", "<=", "start.x")),
    ("Weight ~ -85 + 0.94 * Height, sd 12", OnALine("Weight", -85, 0.94, "Height", 12)),
    ("w~1e2-2*h,sd 0.5", OnALine("w", 100, -2, "h", 0.5)),
    ("`visit date` rises with visit", Rising("visit date", "visit")),
)


def test_the_forms_of_a_rule(subtests):
    for text, rule in THE_FORMS_OF_A_RULE:
        with subtests.test(text=text, rule=rule):
            assert read_rule(text) == rule


NO_RULES = (
    "",
    "a",
    "a == b",
    "a >= 3",
    "a >= b >= c",
    "a ~ b",
    "a ~ 1 + 2 * b",
    "a ~ 1 + 2 * b, sd -1",
    "`` > b",
)


def test_anything_else_is_refused_with_the_forms_that_there_are(subtests):
    for text in NO_RULES:
        with subtests.test(text=text), pytest.raises(ValueError, match="write one like"):
            read_rule(text)


RULES_THAT_NOT_EVERY_TWIN_COULD_KEEP = (
    (["a >= c"], "c is not a declared column"),
    (["a >= sex"], "sex must be of kind"),
    (["a >= a"], "two different columns"),
    (["a >= start"], "a date is compared with dates"),
    (["ended >= start"], "a column with_time is compared"),
    (["ended > begun"], "a column with_time is compared"),
    (["start ~ 1 + 2 * a, sd 1"], "a line is for numbers"),
    (["a > b"], "upper bound of a must be above that of b"),
    (["n >= Height"], "upper bound of n must be at or above"),
    (["Height >= n", "n ~ 1 + 1 * a, sd 1"], "has changed or used n"),
    (["b >= a", "a >= b"], "has changed or used a"),
)


def test_rules_that_not_every_twin_could_keep(subtests):
    for rules, words in RULES_THAT_NOT_EVERY_TWIN_COULD_KEEP:
        with subtests.test(rules=rules, words=words), pytest.raises(InvalidRequest, match=words):
            table(*rules)


def test_rising_needs_several_rows():
    with pytest.raises(InvalidRequest, match="rows_per_person: many"):
        table("start rises with visit", many=False)


def test_rows_of_a_blank_form_keep_all_rules():
    rows = rows_of(
        "start rises with visit",
        "`end day` >= start",
        "ended >= begun",
        "b >= a",
        "n < Height",
        "Weight ~ -85 + 0.94 * Height, sd 12",
    )
    assert len(rows) > 200
    for row in rows:
        if "n/a" not in (row["start"], row["end day"]):
            assert date.fromisoformat(row["start"]) <= date.fromisoformat(row["end day"])
        if "n/a" not in (row["begun"], row["ended"]):
            assert datetime.fromisoformat(row["begun"]) <= datetime.fromisoformat(row["ended"])
        assert float(row["a"]) <= float(row["b"]) <= 2.25
        middle = -85 + 0.94 * float(row["Height"])
        assert abs(float(row["Weight"]) - middle) <= MOST_DEVIATIONS * 12 + 0.01
    assert {row["start"] == "n/a" for row in rows} == {True, False}
    for person in {row["id"] for row in rows}:
        own = [row for row in rows if row["id"] == person and row["start"] != "n/a"]
        own.sort(key=lambda row: int(row["visit"]))
        for before, after in pairwise(own):
            assert before["visit"] == after["visit"] or before["start"] <= after["start"]


def test_a_rule_draws_weights_that_go_with_heights():
    rows = rows_of("Weight ~ -85 + 0.94 * Height, sd 5")
    tall = [float(row["Weight"]) for row in rows if float(row["Height"]) > 175]
    small = [float(row["Weight"]) for row in rows if float(row["Height"]) < 165]
    assert sum(tall) / len(tall) > sum(small) / len(small) + 8


CELLS = st.integers(0, 225).map(lambda number: f"{number / 100:.2f}")


@given(CELLS, CELLS, st.sampled_from([">=", "<="]), st.sampled_from(["ab", "ba"]))
def test_an_order_is_kept_whatever_the_decimals(left, right, order, names):
    rules = RowRules(table(f"{names[0]} {order} {names[1]}", many=False))
    row = ["p", "1", "n/a", "n/a", left, right, "0", "170", "70", "f"]
    at = {"a": 4, "b": 5}
    before = row[at[names[1]]]
    rules.keep([row], random.Random(1))
    low, high = (row[at[name]] for name in (names if order == "<=" else names[::-1]))
    assert float(low) <= float(high)
    assert row[at[names[1]]] == before  # only the left column moves
    assert 0 <= float(low) <= float(high) <= 2.25


def test_counted_values_are_moved_no_farther_than_they_must():
    rules = RowRules(table("Weight ~ -85 + 0.94 * Height, sd 5"), counted=["Weight", "Height"])
    on_line = 0.94 * 170 - 85
    for weight, kept in (
        ("75.00", "75.00"),
        ("150.00", f"{on_line + 15:.2f}"),
        ("36.00", f"{on_line - 15:.2f}"),
    ):
        row = ["p", "1", "n/a", "n/a", "0", "0", "0", "170", weight, "f"]
        rules.keep([row], random.Random(1))
        assert row[8] == kept

"""k, l and t of the tables that the papers print, and of drawn tables against a second implementation."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lent_data import lent

from domain.errors import InvalidRequest
from twins.anonymity.plan import Goal, Sensitive
from twins.anonymity.release import Standing, secrets_of, standing
from twins.anonymity.table import TextTable, codes_of, text_table

# Sweeney 2002, figure 2: race, birth, gender, zip, problem
SWEENEY = """\
Black 1965 m 0214* short-breath
Black 1965 m 0214* chest-pain
Black 1965 f 0213* hypertension
Black 1965 f 0213* hypertension
Black 1964 f 0213* obesity
Black 1964 f 0213* chest-pain
White 1964 m 0213* chest-pain
White 1964 m 0213* obesity
White 1964 m 0213* short-breath
White 1967 m 0213* chest-pain
White 1967 m 0213* chest-pain"""
# Machanavajjhala et al. 2007, figures 2 and 3: zip, age, nationality, condition
FOUR_ANONYMOUS = """\
130** <30 * heart
130** <30 * heart
130** <30 * viral
130** <30 * viral
1485* >=40 * cancer
1485* >=40 * heart
1485* >=40 * viral
1485* >=40 * viral
130** 3* * cancer
130** 3* * cancer
130** 3* * cancer
130** 3* * cancer"""
THREE_DIVERSE = """\
1305* <=40 * heart
1305* <=40 * viral
1305* <=40 * cancer
1305* <=40 * cancer
1485* >40 * cancer
1485* >40 * heart
1485* >40 * viral
1485* >40 * viral
1306* <=40 * heart
1306* <=40 * viral
1306* <=40 * cancer
1306* <=40 * cancer"""
# Li et al. 2007, tables 4 and 5: zip, age, salary in thousands
THREE_CLOSE = [
    ("476**", "2*", "3"), ("476**", "2*", "4"), ("476**", "2*", "5"),
    ("4790*", ">=40", "6"), ("4790*", ">=40", "11"), ("4790*", ">=40", "8"),
    ("476**", "3*", "7"), ("476**", "3*", "9"), ("476**", "3*", "10"),
]  # fmt: skip


def measured(
    table: TextTable, quasi: list[str], sensitive: str | None = None, distance: Any = "equal"
) -> Standing:
    wanted = [Sensitive(name=sensitive, distance=distance)] if sensitive else []
    codes = [codes_of(table.column(name, field="quasi")) for name in quasi]
    return standing(codes, secrets_of(table, wanted), table.rows)


def table_of(header: str, text: str) -> TextTable:
    return text_table(header.split(), [line.split() for line in text.splitlines()])


def test_k_of_sweeneys_table() -> None:
    table = table_of("race birth gender zip problem", SWEENEY)
    found = measured(table, ["race", "birth", "gender", "zip"], "problem")
    assert (found.rows, found.classes, found.k, found.unique) == (11, 5, 2, 0)
    # two of the people who are alike share their problem: k says nothing about that
    assert found.diversities[0].distinct == 1


def test_l_of_the_tables_of_the_diversity_paper() -> None:
    header, quasi = "zip age nationality condition", ["zip", "age", "nationality"]
    four = measured(table_of(header, FOUR_ANONYMOUS), quasi, "condition")
    assert (four.k, four.diversities[0].distinct, four.diversities[0].entropy) == (4, 1, pytest.approx(1))
    three = measured(table_of(header, THREE_DIVERSE), quasi, "condition")
    assert (three.k, three.diversities[0].distinct) == (4, 3)
    # half, a quarter, a quarter: an entropy of 1.5 bits
    assert three.diversities[0].entropy == pytest.approx(2**1.5)
    assert three.reaches(Goal(k=4, l=3))
    assert not three.reaches(Goal(k=4, l=3, diversity="entropy"))


def test_t_of_the_table_of_the_closeness_paper() -> None:
    table = text_table(("zip", "age", "salary"), THREE_CLOSE)
    found = measured(table, ["zip", "age"], "salary", "ordered")
    # the paper: D[{3k, 4k, 5k}, Q] = 0.375 and D[{6k, 8k, 11k}, Q] = 0.167
    assert found.diversities[0].closeness == pytest.approx(0.375)
    second = [row if row[2] in ("6", "8", "11") else ("*", "*", row[2]) for row in THREE_CLOSE]
    rest = measured(text_table(("zip", "age", "salary"), second), ["zip", "age"], "salary", "ordered")
    assert rest.diversities[0].closeness == pytest.approx(1 / 6)
    # of nine salaries three are in each class: two thirds of the values have to go
    assert measured(table, ["zip", "age"], "salary").diversities[0].closeness == pytest.approx(2 / 3)


def test_synthea_without_names() -> None:
    quasi = ["RACE", "ETHNICITY", "GENDER", "BIRTHPLACE", "CITY", "COUNTY", "ZIP", "MARITAL"]
    with (lent("synthea_apr2020") / "patients.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    found = measured(text_table(header, rows), quasi)
    assert (found.rows, found.k, found.unique) == (1171, 1, 1155)


def test_tables_without_rows_or_order() -> None:
    empty = text_table(("a", "b"), [])
    found = measured(empty, ["a"], "b")
    assert (found.rows, found.k, found.diversities[0].distinct) == (0, 0, 0)
    assert not found.reaches(Goal())
    with pytest.raises(InvalidRequest, match=r"sensitive\.b: is no number in row 2") as refused:
        measured(text_table(("a", "b"), [("x", "1"), ("x", "secret")]), ["a"], "b", "ordered")
    assert "secret" not in str(refused.value)
    with pytest.raises(InvalidRequest, match="lacks"):
        measured(empty, ["c"])
    with pytest.raises(InvalidRequest, match="two columns named 'a'"):
        text_table(("a", "a"), [])


ROWS = st.lists(st.tuples(*[st.sampled_from("abc")] * 2, st.sampled_from("12359")), min_size=1, max_size=25)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_a_second_implementation_agrees(rows: list[tuple[str, str, str]]) -> None:
    for distance in ("equal", "ordered"):
        found = measured(text_table(("p", "q", "s"), rows), ["p", "q"], "s", distance)
        k, unique, distinct, entropy, closeness = naive(rows, distance)
        assert (found.k, found.unique, found.diversities[0].distinct) == (k, unique, distinct)
        assert found.diversities[0].entropy == pytest.approx(entropy)
        assert found.diversities[0].closeness == pytest.approx(closeness, abs=1e-12)


def naive(rows: list[Any], distance: str) -> tuple[int, int, int, float, float]:
    """From the definitions, with dictionaries: the last cell is sensitive, all others are quasi."""
    groups: dict[Any, list[str]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[:-1])].append(row[-1])
    everybody = Counter(row[-1] for row in rows)
    values = sorted(everybody, key=float)
    entropies, distances = [], []
    for group in groups.values():
        shares = [count / len(group) for count in Counter(group).values()]
        entropies.append(math.exp(-sum(share * math.log(share) for share in shares)))
        apart = [group.count(value) / len(group) - everybody[value] / len(rows) for value in values]
        if distance == "equal":
            distances.append(sum(map(abs, apart)) / 2)
        else:
            sums = [abs(sum(apart[: place + 1])) for place in range(len(values))]
            distances.append(sum(sums) / max(1, len(values) - 1))
    sizes = [len(group) for group in groups.values()]
    distinct = min(len(set(group)) for group in groups.values())
    return min(sizes), sizes.count(1), distinct, min(entropies), max(distances)

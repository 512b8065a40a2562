"""Generalising: the result has what was asked for, loses least, and tells the order of the rows to nobody."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_anonymity_measures import naive

from domain.errors import InvalidRequest
from domain.model import parse
from twins.anonymity.ladders import Categories, Intervals, Ladder, Prefix, climb, height
from twins.anonymity.plan import Plan
from twins.anonymity.search import Generalised, generalise
from twins.anonymity.table import TextTable, text_table

AGES = {"kind": "intervals", "widths": [10, 20]}
ZIPS = {"kind": "prefix", "keep": [4, 3]}
WORK = {"kind": "categories", "maps": [{"a": "x", "b": "x", "c": "y"}, {"x": "any", "y": "any"}]}


def plan_of(**changes: Any) -> Plan:
    content: dict[str, Any] = {
        "quasi": [{"name": "age", "ladder": AGES}, {"name": "zip", "ladder": ZIPS}],
        "sensitive": [{"name": "ill"}],
        "goal": {"k": 2},
    }
    return parse(Plan, {**content, **changes})


PEOPLE = text_table(
    ("age", "zip", "ill"),
    [
        ("23", "02138", "flu"), ("27", "02139", "cold"), ("31", "02141", "flu"), ("39", "02142", "cold"),
        ("42", "02138", "flu"), ("55", "02139", "cold"),
    ],
)  # fmt: skip


def rows_of(table: TextTable) -> list[tuple[str, ...]]:
    return list(zip(*table.columns, strict=True))


def test_the_least_is_lost() -> None:
    found = generalise(PEOPLE, plan_of())
    # ages by twenty and zips by four digits leave groups of 2; one step less anywhere does not
    assert found.steps == (("age", 2, 3), ("zip", 1, 3))
    assert found.loss == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found.after.k == 2
    assert found.suppressed == 0
    assert found.before.unique == 6
    assert rows_of(found.table)[0] == ("[20, 40)", "0213*", "cold")
    assert found.discernibility == 2 * 2 * 3


def test_rows_are_in_no_order_that_lines_up_with_another_table() -> None:
    backwards = text_table(PEOPLE.names, rows_of(PEOPLE)[::-1])
    assert generalise(backwards, plan_of()).table == generalise(PEOPLE, plan_of()).table


def test_one_row_left_out_can_be_the_smaller_loss() -> None:
    rows = [*rows_of(PEOPLE)[:2] * 5, ("90", "99999", "flu")]
    table = text_table(PEOPLE.names, rows)
    strict = generalise(table, plan_of())
    loose = generalise(table, plan_of(most_suppressed=0.1))
    assert (strict.suppressed, loose.suppressed) == (0, 1)
    assert loose.loss == pytest.approx(1 / 11)
    assert loose.loss < strict.loss
    assert loose.table.rows == 10


def test_greedy_takes_the_column_with_most_values() -> None:
    found = generalise(PEOPLE, plan_of(search="greedy"))
    assert not found.is_best
    assert found.after.k >= 2
    # six ages, then four zips, then three tens of ages and two prefixes: Datafly's steps by hand
    assert found.steps == (("age", 2, 3), ("zip", 1, 3))
    assert found.loss >= generalise(PEOPLE, plan_of()).loss


def test_what_cannot_be_reached_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="goal: is not reached even"):
        generalise(PEOPLE, plan_of(goal={"k": 7}))
    with pytest.raises(InvalidRequest, match="too few sensitive values"):
        generalise(PEOPLE, plan_of(goal={"k": 2, "l": 3}))
    long = [{"name": "age", "ladder": {"kind": "prefix", "keep": list(range(20, 0, -1))}}]
    many = [{"name": f"q{number}", "ladder": long[0]["ladder"]} for number in range(3)]
    wide = text_table([f"q{number}" for number in range(3)], [("a", "a", "a")] * 2)
    with pytest.raises(InvalidRequest, match="combinations"):
        generalise(wide, parse(Plan, {"quasi": many, "goal": {"k": 2}, "search": "best"}))
    assert not generalise(wide, parse(Plan, {"quasi": many, "goal": {"k": 2}})).is_best


PLANS_THAT_ARE_NONE = (
    ({"keep": ["age"]}, "'age' has two roles"),
    ({"sensitive": []}, "gives no role to the column 'ill'"),
    ({"drop": ["name"]}, "'name' that the table lacks"),
    ({"goal": {}}, "ask for k of 2 or more"),
    ({"goal": {"k": 2, "t": 0.2}, "sensitive": [], "keep": ["ill"]}, "name at least one"),
    ({"goal": {"k": 2, "t": float("nan")}}, "finite"),
    ({"most_suppressed": 1}, "Use less than 1"),
    ({"quasi": [{"name": "age", "ladder": {**AGES, "widths": [10, 15]}}]}, "multiple"),
    ({"quasi": [{"name": "age", "ladder": {**ZIPS, "keep": [3, 3]}}]}, "smaller"),
    ({"quasi": [{"name": "age", "ladder": {**WORK, "maps": [{"a": "x"}, {"y": "z"}]}}]}, "does not take"),
)


def test_plans_that_are_none(subtests: pytest.Subtests) -> None:
    for changes, words in PLANS_THAT_ARE_NONE:
        with subtests.test(changes=changes, words=words), pytest.raises(InvalidRequest, match=words):
            generalise(PEOPLE, plan_of(**changes))


def test_ladders() -> None:
    ages = parse(Intervals, {**AGES, "origin": 5})
    assert climb(ages, ("4", "5", "24.9", "", "n/a"), 1, name="age") == (
        "[-5, 5)",
        "[5, 15)",
        "[15, 25)",
        "",
        "n/a",
    )
    assert climb(ages, ("4", ""), height(ages), name="age") == ("*", "*")
    tenths = parse(Intervals, {"kind": "intervals", "widths": [0.1, 0.3]})
    # 0.3 is three tenths, whatever floats say
    assert climb(tenths, ("0.3", "0.29"), 1, name="x") == ("[0.3, 0.4)", "[0.2, 0.3)")
    assert climb(parse(Prefix, ZIPS), ("02138", "9"), 2, name="zip") == ("021**", "9")
    assert climb(parse(Categories, WORK), ("a", "c"), 1, name="job") == ("x", "y")
    for odd in ("thirty", "1e999999999", "nan", "inf"):
        with pytest.raises(
            InvalidRequest, match=r"quasi\.age\.ladder: does not know the value in row 2"
        ) as no:
            climb(ages, ("4", odd), 1, name="age")
        assert odd not in str(no.value)
    with pytest.raises(InvalidRequest, match="row 1"):
        climb(parse(Categories, WORK), ("d",), 1, name="job")


@pytest.mark.parametrize("ladder", [parse(Intervals, AGES), parse(Prefix, ZIPS), parse(Categories, WORK)])
def test_each_step_is_a_function_of_the_one_below(ladder: Ladder) -> None:
    cells = tuple("abc") if ladder.kind == "categories" else tuple(str(number) for number in range(120))
    steps = [climb(ladder, cells, step, name="x") for step in range(height(ladder) + 1)]
    for below, above in itertools.pairwise(steps):
        assert len(set(zip(below, above, strict=True))) == len(set(below))


ROWS = st.lists(
    st.tuples(st.integers(0, 79).map(str), st.sampled_from("abc"), st.sampled_from("123")),
    min_size=1,
    max_size=20,
)
GOALS = st.fixed_dictionaries(
    {
        "k": st.integers(1, 4),
        "l": st.sampled_from([1, 2]),
        "diversity": st.sampled_from(["distinct", "entropy"]),
    },
    optional={"t": st.sampled_from([0.2, 0.5])},
)


@settings(max_examples=60, deadline=None)
@given(ROWS, GOALS, st.sampled_from([0, 0.3]), st.sampled_from(["equal", "ordered"]))
def test_the_result_has_what_was_asked_for(
    rows: list[tuple[str, str, str]], goal: dict[str, Any], most: float, distance: str
) -> None:
    """Measured by the other implementation, on what is written; no combination that reaches it loses less."""
    quasi = [{"name": "age", "ladder": AGES}, {"name": "job", "ladder": WORK}]
    content = {
        "quasi": quasi,
        "sensitive": [{"name": "s", "distance": distance}],
        "goal": goal,
        "most_suppressed": most,
    }
    table = text_table(("age", "job", "s"), rows)
    found: dict[str, Generalised] = {}
    for search in ("best", "greedy"):
        try:
            found[search] = generalise(table, parse(Plan, {**content, "search": search}))
        except InvalidRequest:
            assert not is_good(goal, distance, [("*", "*", row[2]) for row in rows])
            return
    for one in found.values():
        written = rows_of(one.table)
        assert is_good(goal, distance, written)
        assert one.suppressed == len(rows) - len(written) <= most * len(rows)
        assert Counter(row[2] for row in written) <= Counter(row[2] for row in rows)
    assert found["best"].loss <= found["greedy"].loss + 1e-12
    assert found["best"].loss <= min(naive_losses(rows, goal, distance), default=1) + 1e-12


def is_good(goal: dict[str, Any], distance: str, written: list[Any]) -> bool:
    k, _, distinct, entropy, closeness = naive(written, distance)
    diverse = distinct if goal["diversity"] == "distinct" else entropy + 1e-9
    return k >= goal["k"] and diverse >= goal["l"] and closeness <= goal.get("t", 1) + 1e-9


def naive_losses(rows: list[Any], goal: dict[str, Any], distance: str) -> list[float]:
    """Of all combinations that need no row left out."""
    ages, jobs = parse(Intervals, AGES), parse(Categories, WORK)
    good = []
    for one, two in itertools.product(range(4), range(4)):
        made = list(
            zip(
                climb(ages, [row[0] for row in rows], one, name="a"),
                climb(jobs, [row[1] for row in rows], two, name="j"),
                [row[2] for row in rows],
                strict=True,
            )
        )
        if is_good(goal, distance, made):
            good.append((one / 3 + two / 3) / 2)
    return good

"""T7 of the privacy design for trusted queries: through the whole scan, one person moves the exact sums by no
more than the noise is made for, and nothing else moves them at all."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scan_reference import COLUMNS, ask, declaration_of, scan

from privacy.trusted import Count, Groups, Histogram, Mean, Quantile, Sum, TrustedQuery, Variance
from worker.scan.source import plain_file

EXTREMES = ["0", "120", "60", "-1e9", "1e9", "n/a", "nan", "x"]
cells = st.fixed_dictionaries(
    {
        "age": st.sampled_from(EXTREMES),
        "height": st.sampled_from(["1", "2.2", "-7", "7", ""]),
        "sex": st.sampled_from(["f", "m", "d", "?"]),
        "site": st.just("north"),
    }
)
others = st.lists(st.tuples(st.sampled_from(["s1", "s2", "s3"]), cells), max_size=12)
newcomers = st.lists(cells, min_size=1, max_size=12)

QUERIES = [
    {"kind": "count"},
    {"kind": "sum", "column": "age"},
    {"kind": "mean", "column": "age", "where": [{"column": "height", "operator": ">", "value": 1}]},
    {"kind": "variance", "column": "age", "by": ["sex"]},
    {"kind": "histogram", "column": "age", "bins": 5, "by": ["sex"]},
    {"kind": "quantile", "column": "height"},
    {"kind": "covariance", "columns": ["age", "height"]},
    {"kind": "regression", "features": ["age"], "target": "height", "by": ["sex"]},
]
RULES = [{"rows": 1}, {"rows": 4}, {"reduce": "mean"}, {"reduce": "greatest"}]
TALL = {"age": "1e9", "height": "7", "sex": "f", "site": "north"}
SMALL = {"age": "-1e9", "height": "1", "sex": "f", "site": "north"}
# an engine takes longer to open than a table takes to scan
few = settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])


def crowd() -> list[tuple[str, dict[str, str]]]:
    """Three others with each extreme cell beside each other one."""
    draw = random.Random(6)
    rows = [
        (f"s{1 + number % 3}", {"age": age, "height": height, "sex": draw.choice("fmd?"), "site": "north"})
        for number, (age, height) in enumerate(itertools.product(EXTREMES, ["1", "2.2", "-7", "7", ""]))
    ]
    return [*rows, ("s1", TALL), ("s2", SMALL)]


OTHERS = crowd()


def write(folder: Path, rows, *, path: str = "people.csv"):
    names = [column["name"] for column in COLUMNS]
    lines = [names, *([person, *(row[name] for name in names[1:])] for person, row in rows)]
    (folder / path).write_text(declaration_of(path=path).tables[0].join(lines), newline="")
    return plain_file(folder / path)


def moved(query: TrustedQuery, before: Sequence[int], after: Sequence[int]) -> float:
    """How far the sums moved, in rows: 1 is what the noise of one row per person is made for."""
    if isinstance(query, Groups):
        width = query.query.width
        parts = range(0, len(before), width)
        return sum(moved(query.query, before[i : i + width], after[i : i + width]) for i in parts)
    distances = [abs(one - other) for one, other in zip(before, after, strict=True)]
    if isinstance(query, Histogram | Quantile):
        return sum(distances)
    if isinstance(query, Count | Sum | Mean | Variance):
        bounds = query._sums.bounds
    else:
        bounds = query.moments.noisy.bounds
    return max(distance / bound for distance, bound in zip(distances, bounds, strict=True))


def with_newcomer(others, newcomer):
    everybody = [*others, *(("newcomer", row) for row in newcomer)]
    random.Random(len(everybody)).shuffle(everybody)
    return everybody


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_person_with_many_rows(tmp_path, subtests, rule):
    """As far as a person can reach, upwards and downwards."""
    declaration = declaration_of(rows="many")
    for query in QUERIES:
        request = ask({**query, "contribution": rule})
        without = scan(write(tmp_path, OTHERS), request, declaration)
        for row in (TALL, SMALL):
            with subtests.test(query=query, row=row):
                with_them = scan(write(tmp_path, with_newcomer(OTHERS, [row] * 12)), request, declaration)
                distance = moved(request.mechanism_for(declaration), without, with_them)
                assert distance <= rule.get("rows", 1)


@few
@given(others=others, newcomer=newcomers, query=st.sampled_from(QUERIES), rule=st.sampled_from(RULES))
def test_any_person_with_many_rows(tmp_path, query, rule, others, newcomer):
    declaration, request = declaration_of(rows="many"), ask({**query, "contribution": rule})
    with_them = scan(write(tmp_path, with_newcomer(others, newcomer)), request, declaration)
    without = scan(write(tmp_path, others), request, declaration)
    assert moved(request.mechanism_for(declaration), without, with_them) <= rule.get("rows", 1)


def test_a_person_with_one_row(tmp_path, subtests):
    declaration = declaration_of()
    for query in QUERIES:
        request = ask(query)
        without = scan(write(tmp_path, []), request, declaration)
        for row in (TALL, SMALL):
            with subtests.test(query=query, row=row):
                with_them = scan(write(tmp_path, [("s1", row)]), request, declaration)
                assert moved(request.mechanism_for(declaration), without, with_them) <= 1


@few
@given(newcomer=cells, query=st.sampled_from(QUERIES))
def test_any_person_with_one_row(tmp_path, query, newcomer):
    declaration, request = declaration_of(), ask(query)
    with_them = scan(write(tmp_path, [("s1", newcomer)]), request, declaration)
    without = scan(write(tmp_path, []), request, declaration)
    assert moved(request.mechanism_for(declaration), without, with_them) <= 1


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_limit_is_reached(tmp_path, rule):
    """The test of the test: a bound that nothing reaches would hide a scan that reads nothing."""
    declaration = declaration_of(rows="many")
    request = ask({"kind": "histogram", "column": "age", "bins": 5, "contribution": rule})
    row = {"age": "120", "height": "2", "sex": "f", "site": "north"}
    found = scan(write(tmp_path, [("s1", row)] * 9), request, declaration)
    assert moved(request.mechanism_for(declaration), [0] * 5, found) == rule.get("rows", 1)


@pytest.mark.parametrize("rows", ["one", "many"])
def test_order_moves_no_sum(tmp_path, subtests, rows):
    """privacy design, section 1e: reordering moves a sum of floats by more than any noise; ours not by
    one."""
    draw = random.Random(3)
    table = [
        (
            f"s{i}",
            {"age": repr(draw.uniform(0, 120)), "height": repr(draw.uniform(1, 2.2)), "sex": "f", "site": ""},
        )
        for i in range(2_000)
    ]
    declaration = declaration_of(rows=rows)
    sources = []
    for folder in ("one", "other"):
        draw.shuffle(table)
        (tmp_path / folder).mkdir()
        sources.append(write(tmp_path / folder, table))
    for query in QUERIES:
        with subtests.test(query=query):
            one, other = (scan(source, ask(query), declaration) for source in sources)
            assert one == other


def test_what_reordering_does_to_floats():
    draw = random.Random(4)
    values = [draw.uniform(0, 1e15) for _ in range(2_000)]
    # more than noise made for a sum of thousandths at epsilon 1 would hide
    assert abs(sum(values) - sum(sorted(values))) > 1

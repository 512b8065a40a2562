"""What the engine adds up is what the rules of the declaration say, row by row, whatever the cells hold."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pytest
from factories import make_declaration
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scan_reference import COLUMNS, COMPARE, ask, declaration_of, expected_totals, scan

from domain.errors import NotReady
from worker.scan.scan import Limits
from worker.scan.source import plain_file
from worker.scan.winners import Choice

NUMBERS = ["0", "17", "39.5", "40", "64", "120", "1", "1.7", "2.2", "-3", "1e3", "1e308", "-1e308", "1e999"]
STRANGE = ["", "n/a", "-9", "nan", "inf", "-inf", "abc", "1.7.2", "--1", '"', "it's", "1;2", "0x10", "Ⅷ"]
CATEGORIES = ["f", "m", "d", "F", "north", "so'uth", "", "n/a", "south; DROP TABLE t", '"f"']

cells = {
    "person": st.sampled_from(["s1", "s2", "s3", " s1", "s2\u3000", "s4"]),
    "age": st.sampled_from([*NUMBERS, *STRANGE]),
    "height": st.sampled_from([*NUMBERS, *STRANGE]),
    "sex": st.sampled_from(CATEGORIES),
    "site": st.sampled_from(CATEGORIES),
}
tables = st.lists(st.fixed_dictionaries(cells), max_size=14)


def every_cell() -> list[dict[str, str]]:
    """Each number and each strange cell of one column beside nine of the other, for 26 people with about ten
    rows each."""
    draw = random.Random(5)
    people = ["s1", " s1", "s2\u3000", *(f"s{i}" for i in range(2, 26))]
    rows = [
        {
            "person": draw.choice(people),
            "age": age,
            "height": height,
            "sex": draw.choice(CATEGORIES),
            "site": draw.choice(CATEGORIES),
        }
        for age in [*NUMBERS, *STRANGE]
        for height in [*draw.sample(NUMBERS, 5), *draw.sample(STRANGE, 4)]
    ]
    draw.shuffle(rows)
    return rows


EVERY_CELL = every_cell()
PEOPLE = 2000

ADULT = {"column": "age", "operator": ">=", "value": 18}
QUERIES = [
    {"kind": "count"},
    {"kind": "count", "where": [ADULT, {"column": "sex", "operator": "!=", "value": "m"}]},
    {"kind": "count", "by": ["sex", "site"]},
    {"kind": "sum", "column": "height"},
    {"kind": "mean", "column": {"name": "age", "lower": 30, "upper": 60.5}},
    {"kind": "mean", "column": "age", "by": ["site"], "where": [ADULT]},
    {"kind": "variance", "column": "height", "where": [{"column": "age", "operator": "<", "value": 40}]},
    {"kind": "histogram", "column": "age", "bins": 7},
    {"kind": "histogram", "column": "age", "edges": [18, 40, 65.5], "by": ["sex"]},
    {"kind": "quantile", "column": "height", "probabilities": ["0.25", "0.5"]},
    {"kind": "covariance", "columns": ["age", "height"]},
    {"kind": "regression", "features": ["age"], "target": "height", "by": ["sex"]},
    {"kind": "count", "where": [{"column": "site", "operator": "in", "value": ["so'uth", ""]}]},
    {"kind": "count", "where": [{"column": "age", "operator": "in", "value": [40, 64, 500]}]},
    {"kind": "count", "where": [{"column": "age", "operator": "!=", "value": 40}]},
    {"kind": "count", "where": [{"column": "age", "operator": ">", "value": 1e300}]},
    {"kind": "count", "where": [{"column": "sex", "operator": "in", "value": ["f", "m", "d"]}]},
]
RULES = [{"rows": 1}, {"rows": 3}, {"reduce": "mean"}, {"reduce": "least"}, {"reduce": "greatest"}, None]
# an engine takes longer to open than a table takes to scan
few = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(folder: Path, rows, *, path: str = "people.csv"):
    """The table as the import leaves it, in an order of its own."""
    declaration = declaration_of(path=path)
    table = declaration.tables[0]
    names = [column["name"] for column in COLUMNS]
    text = table.join([names, *([row[name] for name in names] for row in rows)])
    (folder / path).write_bytes(text.encode())
    return plain_file(folder / path)


def test_one_row_per_person(tmp_path, subtests):
    source, declaration = write(tmp_path, EVERY_CELL), declaration_of()
    for query in QUERIES:
        with subtests.test(query=query):
            request = ask(query)
            found = scan(source, request, declaration, limits=Limits(memory_mib=512))
            assert found == expected_totals(EVERY_CELL, request, declaration)


OF_MANY_ROWS = [QUERIES[i] for i in (0, 2, 5, 8, 9, 11)]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_many_rows_per_person(tmp_path, subtests, rule):
    source, declaration = write(tmp_path, EVERY_CELL), declaration_of(rows="many")
    for query in OF_MANY_ROWS:
        with subtests.test(query=query):
            request = ask({**query, "contribution": rule})
            assert scan(source, request, declaration) == expected_totals(EVERY_CELL, request, declaration)


@few
@given(rows=tables, query=st.sampled_from(QUERIES))
@example(rows=[], query=QUERIES[0])
@example(rows=[], query=QUERIES[5])
def test_few_rows_or_none_with_one_per_person(tmp_path, rows, query):
    declaration, request = declaration_of(), ask(query)
    found = scan(write(tmp_path, rows), request, declaration)
    assert found == expected_totals(rows, request, declaration)


@few
@given(rows=tables, query=st.sampled_from(OF_MANY_ROWS), rule=st.sampled_from(RULES))
@example(rows=[], query=QUERIES[5], rule={"reduce": "mean"})
def test_few_rows_or_none_with_many_per_person(tmp_path, rows, query, rule):
    declaration, request = declaration_of(rows="many"), ask({**query, "contribution": rule})
    assert scan(write(tmp_path, rows), request, declaration) == expected_totals(rows, request, declaration)


@pytest.mark.parametrize("path", ["people.csv", "people.tsv"])
def test_conditions_compare_whole_numbers_of_a_wide_column(tmp_path, subtests, path):
    """A step of its grid holds eight of them, and one of eight was asked for."""
    wide = {"name": "income", "kind": "integer", "lower": 0, "upper": 10_000_000}
    table = {"path": path, "columns": [COLUMNS[0], wide], "rows_per_person": "one"}
    declaration = make_declaration(tables=[table], privacy_unit={"table": path, "column": "person"})
    values = [*range(50_000, 50_020), -5, 10_000_001, -0.0, 4_503_599_627_370_497]
    rows = [["person", "income"], *([f"s{place}", str(value)] for place, value in enumerate(values))]
    content = declaration.tables[0].join([*rows, ["s98", "nan"], ["s99", "inf"]])
    (tmp_path / path).write_bytes(content.encode())
    within = [min(max(value, 0), 10_000_000) for value in values]
    for wanted in (50_003, 0, 10_000_000, 10_000_001):
        for name, compare in COMPARE.items():
            asked = [wanted, 50_010] if name == "in" else wanted
            with subtests.test(f"{name} {asked}"):
                where = [{"column": "income", "operator": name, "value": asked}]
                found = scan(plain_file(tmp_path / path), ask({"kind": "count", "where": where}), declaration)
                assert found == (sum(compare(value, asked) for value in within),)


def sum_of_shares(folder, shares, request):
    """In steps of the grid, and the size of one; each person has as many of them."""
    rows_each = len(shares) // PEOPLE
    one = {"name": "share", "kind": "number", "lower": 0, "upper": 1}
    kept = {"columns": [COLUMNS[0], one], "rows_per_person": "one" if rows_each == 1 else "many"}
    unit = {"table": "people.csv", "column": "person"}
    declaration = make_declaration(tables=[{"path": "people.csv", **kept}], privacy_unit=unit)
    rows = [["person", "share"], *([f"s{at // rows_each}", repr(share)] for at, share in enumerate(shares))]
    (folder / "people.csv").write_bytes(declaration.tables[0].join(rows).encode())
    (grid,) = request.mechanism_for(declaration).grids
    (found,) = scan(plain_file(folder / "people.csv"), request, declaration)
    return found, float(grid.step)


def test_numbers_between_steps_are_read_as_the_nearest(tmp_path):
    """Read as the step below, two thousand of them lie a thousand steps too low together."""
    drawn = random.Random(7)
    shares = [drawn.random() for _ in range(PEOPLE)]
    found, step = sum_of_shares(tmp_path, shares, ask({"kind": "sum", "column": "share"}))
    assert abs(found - sum(shares) / step) < 150


def test_a_persons_mean_is_the_nearest_step(tmp_path):
    """Of three rows, the step below lies a third of a step too low: for two thousand people 667 steps."""
    drawn = random.Random(8)
    shares = [drawn.random() for _ in range(3 * PEOPLE)]
    request = ask({"kind": "sum", "column": "share", "contribution": {"reduce": "mean"}})
    found, step = sum_of_shares(tmp_path, shares, request)
    assert abs(found - sum(shares) / 3 / step) < 150


def many_rows(seed: int, number: int):
    draw = random.Random(seed)
    return [
        {
            "person": f"s{draw.randrange(number // 5)}",
            "age": draw.choice([str(draw.randrange(130)), f"{draw.uniform(-5, 130):.3f}", "n/a"]),
            "height": f"{draw.uniform(0.8, 2.4):.4f}",
            "sex": draw.choice("fmdx"),
            "site": draw.choice(["north", "so'uth", "east"]),
        }
        for _ in range(number)
    ]


def source_of(folder: Path, table, path: str):
    text = "people.tsv" if path == "people.tsv" else "people.csv"
    source = write(folder, table, path=text)
    if path != "people.parquet":
        return source
    into, place = folder / path, folder / text
    types = "{" + ", ".join(f"'{column['name']}': 'VARCHAR'" for column in COLUMNS) + "}"
    duckdb.execute(f"COPY (FROM read_csv('{place}', columns={types}, header=true)) TO '{into}'")
    return plain_file(into)


KINDS_OF_FILES = pytest.mark.parametrize("path", ["people.csv", "people.tsv", "people.parquet"])


def check_kind_of_file(folder: Path, subtests, path: str, rows: str, queries) -> None:
    table = many_rows(1, 500)
    source = source_of(folder, table, path)
    declaration = declaration_of(path="people.csv" if path == "people.parquet" else path, rows=rows)
    for query in queries:
        with subtests.test(query=query):
            request = ask(query)
            assert scan(source, request, declaration) == expected_totals(table, request, declaration)


@KINDS_OF_FILES
@pytest.mark.parametrize("rows", ["one", "many"])
def test_every_kind_of_file(tmp_path, subtests, path, rows):
    """Each kind of column read, compared and grouped by."""
    check_kind_of_file(tmp_path, subtests, path, rows, [QUERIES[i] for i in (5, 6, 8, 12)])


@pytest.mark.deep("what a query adds up does not depend on how its columns were read")
@KINDS_OF_FILES
@pytest.mark.parametrize("rows", ["one", "many"])
def test_every_query_of_every_kind_of_file(tmp_path, subtests, path, rows):
    check_kind_of_file(tmp_path, subtests, path, rows, QUERIES)


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT", "DECIMAL(9,4)", "INTEGER", "UBIGINT"])
def test_numbers_of_a_parquet_file(tmp_path, kind):
    path = tmp_path / "people.parquet"
    sql = f"SELECT range AS person, (range % 130)::{kind} AS age FROM range(1000)"
    duckdb.execute(f"COPY (SELECT * FROM ({sql})) TO '{path}'")
    declaration, request = declaration_of(rows="many"), ask({"kind": "sum", "column": "age"})
    rows = [{"person": str(i), "age": str(i % 130)} for i in range(1000)]
    assert scan(plain_file(path), request, declaration) == expected_totals(rows, request, declaration)


def test_a_parquet_file_with_gaps_and_strange_numbers(tmp_path):
    path = tmp_path / "people.parquet"
    values = "NULL, 'nan', 'inf', '-inf', '1e308', '-1e308', '17', '120.5'"
    duckdb.execute(f"COPY (SELECT unnest([{values}])::DOUBLE AS age, 'x' AS person) TO '{path}'")
    found = scan(plain_file(path), ask({"kind": "mean", "column": "age"}), declaration_of())
    grid = ask({"kind": "mean", "column": "age"}).mechanism_for(declaration_of()).grid
    # 1e308 is 2^63 steps away and more: no number. 120.5 is clipped
    assert found == (2, (2 * grid.snap(17) - grid.cells) + grid.cells)


def test_several_passes_over_the_people_and_turns_over_their_rows(tmp_path, monkeypatch):
    """Each pass keeps a part of the people in memory; together they are everybody, once. So do turns, each a
    part of the rows."""
    rows, declaration = many_rows(2, 200), declaration_of(rows="many", nominal_size=1_500_000)
    source = write(tmp_path, rows)
    for rule in RULES:
        request = ask({"kind": "mean", "column": "age", "by": ["sex"], "contribution": rule})
        expected = expected_totals(rows, request, declaration)
        assert scan(source, request, declaration, limits=Limits(memory_mib=1800, threads=1)) == expected
        with monkeypatch.context() as changed:
            changed.setattr(Choice, "turns", lambda *_, parts, memory_mib: [3, 1, 2, 1][:parts])
            assert scan(source, request, declaration, limits=Limits(memory_mib=4096)) == expected


@pytest.mark.parametrize("path", ["people.csv", "people.tsv"])
def test_a_file_of_its_own_order_and_columns(tmp_path, path):
    """Columns that nobody declared are not looked at, wherever they are."""
    delimiter = "\t" if path.endswith("tsv") else ","
    lines = [["extra", "sex", "age", "person", "site", "height"], ["7", "f", "30", "s1", "north", "1.5"]]
    (tmp_path / path).write_text("".join(delimiter.join(line) + "\n" for line in lines))
    found = scan(
        plain_file(tmp_path / path), ask({"kind": "count", "by": ["sex"]}), declaration_of(path=path)
    )
    assert found == (1, 0, 0)


def test_a_column_that_the_file_lacks(tmp_path):
    (tmp_path / "people.csv").write_text("person,sex\ns1,f\n")
    with pytest.raises(NotReady, match="has no column age"):
        scan(plain_file(tmp_path / "people.csv"), ask({"kind": "mean", "column": "age"}), declaration_of())


def test_a_parquet_file_that_is_none(tmp_path):
    (tmp_path / "people.parquet").write_text("person,sex\ns1,f\n")
    with pytest.raises(NotReady, match="is not a Parquet file"):
        plain_file(tmp_path / "people.parquet")


def test_categories_of_a_parquet_file_that_are_no_text(tmp_path):
    path = tmp_path / "people.parquet"
    kinds = "['f', 'm', 'x'][1 + range % 3]::ENUM('f', 'm', 'x') AS sex, range AS person"
    duckdb.execute(f"COPY (SELECT {kinds} FROM range(9)) TO '{path}'")
    assert scan(plain_file(path), ask({"kind": "count", "by": ["sex"]}), declaration_of()) == (3, 3, 0)

"""What the engine counts for a twin is what the declared cells say of the same text, one row at a time."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.dataset import Column, Table
from domain.model import parse
from domain.twin import cell_grid
from privacy.twin import ColumnCounts, Patterns, TwinMechanism
from worker.scan.scan import Limits
from worker.scan.source import plain_file
from worker.scan.winners import Choice
from worker.twin.count import Counting, count

LIMITS = Limits(memory_mib=256, threads=1)
PERSON = {"name": "who", "kind": "person"}
AGE = {"name": "age", "kind": "integer", "lower": 0, "upper": 100, "special_values": [0, 7]}
MASS = {"name": "mass", "kind": "number", "lower": -1.5, "upper": 2.25, "bins": 7, "count_missing": True}
GAIN = {"name": "gain", "kind": "number", "lower": 0, "upper": 1e6, "scale": "log", "special_values": [0]}
BORN = {"name": "born", "kind": "date", "lower": "1900-01-01", "upper": "2020-12-31", "missing_rate": 0.1}
SEEN = {"name": "seen", "kind": "date", "lower": "1900-01-01", "upper": "2020-12-31", "with_time": True}
SITE = {"name": "site", "kind": "categorical", "categories": ["north", "", "it's", "other"]}
AREA = {
    "name": "area",
    "kind": "categorical",
    "categories": ["a", "b", "c"],
    "coarsen": {"a": "x", "b": "y", "c": "x"},
    "missing_rate": 0.5,
}
HOUSE = {"name": "house", "kind": "categorical", "categories": ["7"]}
COLUMNS = (AGE, MASS, GAIN, BORN, SEEN, SITE, AREA, HOUSE)
SPELLED = (
    "n/a", "", "0", "-0", "7", "7.0", " 42 ", "100", "100.5", "1e2", "1e999", "-1e999", "nan", "inf", "0x10",
    "1_0", "1_", "1__0", "_1", "1_0.5_0", "1e1_0", "٣", "+5", ".5", "5.", "5e", "--5", "1,5",
    "north", "NORTH", "it's", "a", "c", "1900-01-01",
    "2020-12-31", "2021-01-01", "0000-01-01", "0001-01-01", "9999-12-31", "2020-02-30", "2020-1-1",
    "20200101",
    "2020-01-01 10:00", "1900-01-01T00:00:00", "2020-12-31T23:59:59", "2020-02-30T10:00:00",
    "2020-01-01T24:00:00", "2020-01-01T10:60:00", "2020-01-01T23:59:60", "0000-01-01T00:00:00",
    "9999-12-31T23:59:59", "0001-01-01T00:00:00", "1582-10-10T12:00:00",
    "NULL", "null", "true", "\x0b5", "1e-400",
)  # fmt: skip
CELL = st.one_of(
    st.sampled_from(SPELLED),
    st.floats(-3, 200).map(repr),
    st.integers(-5, 10**7).map(str),
    st.dates().map(lambda day: day.isoformat()),
    st.datetimes().map(lambda moment: moment.isoformat(timespec="seconds")),
    st.text(
        alphabet=st.characters(blacklist_characters='\t\r\n\x00"', blacklist_categories=("Cs",)), max_size=6
    ),
)


def table(*columns: dict[str, Any], **fields: Any) -> Table:
    return parse(Table, {"path": "t.tsv", "columns": [PERSON, *columns], **fields})


def written(folder: Path, rows: list[list[str]], names: list[str]) -> Path:
    path = folder / "t.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in [names, *rows]), encoding="utf-8", newline="")
    return path


def counted(
    path: Path, declared: Table, mechanism: TwinMechanism, *, nominal_size: int = 600, key: bytes = bytes(32)
) -> tuple[int, ...]:
    columns = [column for column in declared.columns if column.kind != "person"]
    grids = tuple(cell_grid(column, nominal_size) for column in columns)
    return count(plain_file(path), Counting(declared, grids, mechanism, nominal_size), key=key, limits=LIMITS)


def expected(rows: list[list[str]], declared: Table, pairs: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """The same counts, from `codes`."""
    columns: list[Column] = [column for column in declared.columns if column.kind != "person"]
    grids = [cell_grid(column, 600) for column in columns]
    codes = [grid.codes([row[1 + at] for row in rows]) for at, grid in enumerate(grids)]
    ones = [np.bincount(code, minlength=grid.count) for code, grid in zip(codes, grids, strict=True)]
    twos = [
        np.bincount(codes[a] * grids[b].count + codes[b], minlength=grids[a].count * grids[b].count)
        for a, b in pairs
    ]
    return tuple(int(each) for part in (*ones, *twos) for each in part)


def patterns(declared: Table, **fields: Any) -> Patterns:
    cells = tuple(cell_grid(column, 600).count for column in declared.columns if column.kind != "person")
    return Patterns(cells, 10**6, **{"nominal_size": 600, **fields})


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.lists(CELL, min_size=len(COLUMNS), max_size=len(COLUMNS)), max_size=12))
def test_any_text_falls_into_the_cell_that_the_declaration_says(
    tmp_path: Path, rows: list[list[str]]
) -> None:
    declared = table(*COLUMNS)
    named = [[f"p{number}", *row] for number, row in enumerate(rows)]
    mechanism = patterns(declared)
    path = written(tmp_path, named, ["who", *(column["name"] for column in COLUMNS)])
    assert counted(path, declared, mechanism) == expected(named, declared, mechanism.pairs)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column["name"])
def test_each_spelling_by_itself(tmp_path: Path, column: dict[str, Any]) -> None:
    declared = table(column)
    grid = cell_grid(parse(Column, column), 600)
    rows = [[f"p{number}", text] for number, text in enumerate(SPELLED)]
    path = written(tmp_path, rows, ["who", column["name"]])
    found = counted(path, declared, ColumnCounts((grid.count,), 10**6))
    assert found == expected(rows, declared, ())
    assert sum(found) == len(SPELLED)


def test_numbers_at_and_beside_every_edge(tmp_path: Path) -> None:
    """Both sides compare the same floats: the one before an edge is below it, the edge is not."""
    for column in (MASS, GAIN, AGE):
        grid = cell_grid(parse(Column, column), 600)
        near = [
            f for edge in grid.edges for f in (np.nextafter(edge, -np.inf), edge, np.nextafter(edge, np.inf))
        ]
        rows = [[f"p{number}", repr(float(value))] for number, value in enumerate(near)]
        path = written(tmp_path, rows, ["who", column["name"]])
        declared = table(column)
        assert counted(path, declared, ColumnCounts((grid.count,), 10**6)) == expected(rows, declared, ())


def test_a_person_with_many_rows_counts_up_to_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(1)
    rows = [[f"p{number % 5}", str(draw.randrange(100)), "north"] for number in range(200)]
    declared = table(AGE, SITE, rows_per_person="many")
    mechanism = patterns(declared, rows=3)
    path = written(tmp_path, rows, ["who", "age", "site"])
    found = counted(path, declared, mechanism)
    cells = mechanism.cells
    # five people, three rows each, in both columns and in their pair
    assert sum(found[: cells[0]]) == sum(found[cells[0] : sum(cells)]) == sum(found[sum(cells) :]) == 15
    # in passes over the people it is the same: the choice looks at one person alone
    assert Counting(declared, (), mechanism, 10**7).passes(LIMITS) > 5
    # and so it is in turns over the rows
    monkeypatch.setattr(Choice, "turns", lambda *_, parts, memory_mib: [4] * parts)
    assert counted(path, declared, mechanism, nominal_size=600) == found


def test_without_one_person_the_rows_of_all_others_count_alike(tmp_path: Path) -> None:
    draw = random.Random(2)
    rows = [[f"p{number % 6}", str(draw.randrange(100)), draw.choice(["north", "x"])] for number in range(90)]
    declared = table(AGE, SITE, rows_per_person="many")
    mechanism = patterns(declared, rows=2)
    names = ["who", "age", "site"]
    everybody = counted(written(tmp_path, rows, names), declared, mechanism)
    others = [row for row in rows if row[0] != "p3"]
    differences = np.subtract(everybody, counted(written(tmp_path, others, names), declared, mechanism))
    assert differences.min() >= 0
    columns = sum(mechanism.cells)
    assert differences[:columns].sum() == 2 * 2
    assert differences[columns:].sum() == 2


def test_a_row_that_names_nobody_counts_nowhere(tmp_path: Path) -> None:
    declared = table(AGE, rows_per_person="many")
    rows = [["", "5"], ["p1", "5"]]
    grid = cell_grid(declared.columns[1], 600)
    path = written(tmp_path, rows, ["who", "age"])
    assert sum(counted(path, declared, ColumnCounts((grid.count,), 10**6, 4))) == 1


def test_very_many_columns_are_counted_in_parts(tmp_path: Path) -> None:
    columns = [{"name": f"c{number}", "kind": "integer", "lower": 0, "upper": 9} for number in range(130)]
    declared = table(*columns)
    rows = [["p1", *("3" for _ in columns)], ["p2", *(str(number % 10) for number in range(130))]]
    path = written(tmp_path, rows, ["who", *(column["name"] for column in columns)])
    mechanism = ColumnCounts((10,) * 130, 10**6)
    assert counted(path, declared, mechanism) == expected(rows, declared, ())

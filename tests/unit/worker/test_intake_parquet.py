"""Parquet tables: checked by column and by row, sealed with the declared columns alone, scanned."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import duckdb
import pytest
from factories import column_fields, make_declaration, table_fields
from scan_reference import ask, scan

from domain.dataset import Declaration, ImportProblem
from store.keys import Keys
from store.snapshots import SnapshotArea
from worker.intake import Delivery, ImportRefused, check_delivery
from worker.scan import parquet
from worker.scan.chunk import sealed_table

PEOPLE = (
    "SELECT 'p' || i AS person, i % 121 AS age, ['f','m','d'][i % 3 + 1] AS sex, 'x-ray' AS secret "
    "FROM range({0}) t(i)"
)
COLUMNS = [
    {"name": "person", "kind": "person"},
    column_fields(),
    {"name": "sex", "kind": "categorical", "categories": ["f", "m", "d"]},
]
P = ImportProblem


def declared(**fields: Any) -> Declaration:
    return make_declaration(
        **{
            "tables": [table_fields(path="people.parquet", columns=COLUMNS)],
            "privacy_unit": {"table": "people.parquet", "column": "person"},
            **fields,
        }
    )


def written(folder: Path, sql: str, *, name: str = "people.parquet") -> Path:
    folder.mkdir(exist_ok=True)
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"COPY ({sql}) TO '{folder / name}' (FORMAT parquet)")
    return folder


def check(folder: Path, declaration: Declaration) -> Delivery:
    return check_delivery(folder, declaration, max_file_bytes=2**30)


@pytest.mark.parametrize(
    "cast", ["age", "CAST(age AS VARCHAR)", "CAST(age AS DOUBLE)", "CAST(age AS TINYINT)"]
)
def test_it_is_sealed_without_what_nobody_declared_and_scanned(tmp_path: Path, cast: str) -> None:
    sql = f"SELECT secret, {cast} AS age, sex, person FROM ({PEOPLE.format(60)})"
    declaration = declared()
    found = check(written(tmp_path / "data", sql), declaration)
    assert list(found.people) == [f"p{number}" for number in range(60)]
    area = SnapshotArea(tmp_path / "area", Keys(b"k" * 32))
    snapshot = area.open(area.write(tables=found.tables, people=found.people))
    assert b"x-ray" not in snapshot.table("people.parquet")
    assert not [path for path in (tmp_path / "data").iterdir() if path.name != "people.parquet"]
    source = sealed_table(lambda: snapshot.open_table("people.parquet"), declaration.tables[0])
    assert source.header == ("person", "age", "sex")
    assert scan(source, ask({"kind": "count", "by": ["sex"]}), declaration) == (20, 20, 20)


def test_a_wide_table_is_written_within_the_memory_of_an_import(tmp_path: Path, monkeypatch) -> None:
    """A row group is held until it is whole. 100 columns with the usual number of rows are the control."""
    monkeypatch.setattr(parquet, "_SETTINGS", {**parquet._SETTINGS, "memory_limit": "64MiB"})
    names, paths = [f"x{number}" for number in range(100)], (tmp_path / "a.parquet", tmp_path / "b.parquet")
    cells = ", ".join(f"hash(i, {number}) AS x{number}" for number in range(100))
    rows = f"SELECT {cells} FROM range(40_000) t(i)"
    duckdb.execute(f"COPY ({rows}) TO '{paths[0]}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    parquet.write_declared(paths[0], names, paths[1])
    sums = "SELECT sum(x0), sum(x99), count(*) FROM"
    before, after = (duckdb.execute(f"{sums} '{path}'").fetchall() for path in paths)
    assert before == after
    monkeypatch.setattr(parquet, "_CELLS_OF_A_GROUP", 2**40)
    with pytest.raises(parquet.NotParquet):
        parquet.write_declared(paths[0], names, paths[1])


def test_whole_numbers_can_name_people(tmp_path: Path) -> None:
    sql = f"SELECT i AS person, age, sex FROM (SELECT row_number() OVER () AS i, * FROM ({PEOPLE.format(9)}))"
    assert list(check(written(tmp_path, sql), declared()).people) == [str(number) for number in range(1, 10)]


REFUSED = {
    "a person of no type": ("SELECT 1.5 AS person, 1 AS age, 'f' AS sex", P.NOT_PARQUET),
    "a list": ("SELECT 'a' AS person, [1] AS age, 'f' AS sex", P.NOT_PARQUET),
    "a date": ("SELECT 'a' AS person, DATE '2020-01-01' AS age, 'f' AS sex", P.NOT_PARQUET),
    "bytes": ("SELECT 'a' AS person, 1 AS age, 'f'::BLOB AS sex", P.NOT_PARQUET),
    "no column": ("SELECT 'a' AS person, 1 AS age", P.COLUMN_MISSING),
    "no person": ("SELECT 1 AS age, 'f' AS sex", P.UNIT_COLUMN_MISSING),
    "nobody": ("SELECT NULL::VARCHAR AS person, 1 AS age, 'f' AS sex", P.PERSON_EMPTY),
    "an empty name": ("SELECT ' ' AS person, 1 AS age, 'f' AS sex", P.PERSON_EMPTY),
    "a path": ("SELECT '../x' AS person, 1 AS age, 'f' AS sex", P.PERSON_NAME),
    "twice": ("SELECT 'a' AS person, 1 AS age, 'f' AS sex FROM range(2)", P.PERSON_REPEATED),
    "too many": (PEOPLE.format(82), P.TOO_MANY_PEOPLE),
}


@pytest.mark.parametrize(("sql", "problem"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(tmp_path: Path, sql: str, problem: ImportProblem) -> None:
    with pytest.raises(ImportRefused) as refused:
        check(written(tmp_path, sql), declared())
    assert refused.value.problem is problem


@pytest.mark.parametrize("size", [0, 4, 100, 600])
def test_a_cut_file_is_refused_without_a_word_of_it(tmp_path: Path, size: int) -> None:
    path = written(tmp_path, PEOPLE.format(60)) / "people.parquet"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ImportRefused) as refused:
        check(tmp_path, declared())
    assert (refused.value.problem, refused.value.detail) == (P.NOT_PARQUET, "it cannot be read as Parquet")


def test_rows_of_strangers_in_another_table(tmp_path: Path) -> None:
    visits = table_fields(path="visits.parquet", rows_per_person="many", columns=COLUMNS)
    declaration = declared(tables=[table_fields(path="people.parquet", columns=COLUMNS), visits])
    written(tmp_path, PEOPLE.format(9))
    written(tmp_path, f"{PEOPLE.format(9)} UNION ALL {PEOPLE.format(9)}", name="visits.parquet")
    assert len(check(tmp_path, declaration).people) == 9
    written(tmp_path, PEOPLE.format(10), name="visits.parquet")
    with pytest.raises(ImportRefused, match="line 10: p9"):
        check(tmp_path, declaration)


def test_what_an_import_that_was_killed_left_is_passed_over(tmp_path: Path) -> None:
    (written(tmp_path, PEOPLE.format(9)) / ".dpgate-work-1").write_bytes(b"half")
    with check(tmp_path, declared()).tables["people.parquet"]() as file:
        assert io.BytesIO(file.read()).getvalue().startswith(b"PAR1")

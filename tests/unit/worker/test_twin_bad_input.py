"""Bad tables: the counts of a twin are made of them, and the twin keeps to what is declared; or they stop.

Ragged rows, other encodings and repeated names never come here: the import refuses them
(test_intake.py), and the profile before it (test_profile_bad_input.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from factories import make_declaration, table_fields

from domain.dataset import Column, Declaration
from domain.model import parse
from domain.twin import TableCounts, cell_grid
from privacy.twin import ColumnCounts, Patterns, TwinMechanism
from twins.drawn import check_conformance, make_twin
from worker.scan.scan import Limits
from worker.scan.source import plain_file
from worker.twin.count import Counting, count

LIMITS = Limits(memory_mib=512, threads=2)
MICRO = 1_000_000
PEOPLE = 60
AGE = {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "count_missing": True}
FEE = {"name": "fee", "kind": "number", "lower": 0, "upper": 10, "decimals": 2}
BORN = {"name": "born", "kind": "date", "lower": "1900-01-01", "upper": "2020-12-31", "missing_rate": 0.1}
SITE = {"name": "site", "kind": "categorical", "categories": ["north", "south", "other"]}


def declared(*columns: dict[str, Any]) -> Declaration:
    person = {"name": "participant_id", "kind": "person"}
    return make_declaration(tables=[table_fields(columns=[person, *columns])], nominal_size=PEOPLE)


def exact(declaration: Declaration, file: Path, *, level: int = 1) -> tuple[TwinMechanism, tuple[int, ...]]:
    """What is counted, before noise."""
    (table,) = declaration.tables
    grids = tuple(cell_grid(column, PEOPLE) for column in table.columns if column.kind != "person")
    cells = tuple(grid.count for grid in grids)
    mechanism: TwinMechanism = ColumnCounts(cells, 10 * MICRO)
    if level == 2:
        mechanism = Patterns(cells, 10 * MICRO, nominal_size=PEOPLE)
    return mechanism, count(
        plain_file(file), Counting(table, grids, mechanism, PEOPLE), key=bytes(32), limits=LIMITS
    )


def twin_of(declaration: Declaration, file: Path, *, level: int = 1) -> list[list[str]]:
    """Rows of the twin that noisy counts of the file give. It conforms to its declaration."""
    mechanism, counts = exact(declaration, file, level=level)
    (table,) = declaration.tables
    names = tuple(column.name for column in table.columns if column.kind != "person")
    noisy = mechanism.release(list(counts))  # type: ignore[attr-defined]
    twin = make_twin(declaration, counts={table.path: TableCounts(names, noisy, level)})
    assert [one for one in check_conformance(declaration, twin, twin) if not one.on_purpose] == []
    header, *rows = twin[table.path].decode().splitlines()
    assert header.split("\t") == ["participant_id", *names]
    assert len(rows) == PEOPLE
    return [row.split("\t") for row in rows]


def written(folder: Path, names: str, *rows: str) -> Path:
    path = folder / "participants.tsv"
    path.write_text("".join(f"{row}\n" for row in (f"participant_id\t{names}", *rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("rows", [0, 1])
def test_no_row_and_one_row(tmp_path: Path, rows: int, level: int) -> None:
    file = written(tmp_path, "age\tfee\tborn\tsite", *["p1\t30\t1.50\t1990-02-03\tnorth"][:rows])
    declaration = declared(AGE, FEE, BORN, SITE)
    _, counts = exact(declaration, file)
    assert sum(counts) == 4 * rows
    twin_of(declaration, file, level=level)


def test_one_column_which_names_people_has_nothing_to_count() -> None:
    with pytest.raises(ValueError, match="never counted"):
        cell_grid(parse(Column, {"name": "participant_id", "kind": "person"}), PEOPLE)
    twin = make_twin(declared())
    assert twin["participants.tsv"].decode().splitlines()[:2] == ["participant_id", "twin-01"]


MOST = pytest.mark.deep("as many as are allowed take a minute, and are counted as the first 130")


@pytest.mark.parametrize("many", [130, pytest.param(4999, marks=MOST)])
def test_thousands_of_columns(tmp_path: Path, many: int) -> None:
    columns = [{"name": f"c{at}", "kind": "integer", "lower": 0, "upper": 1, "bins": 2} for at in range(many)]
    row = "\t".join(str(at % 2) for at in range(many))
    file = written(tmp_path, "\t".join(column["name"] for column in columns), f"p1\t{row}", f"p2\t{row}")
    _, counts = exact(declared(*columns), file)
    assert counts == ((2, 0, 0, 2) * many)[: 2 * many]


def test_an_all_missing_column(tmp_path: Path) -> None:
    file = written(tmp_path, "age\tfee\tborn\tsite", *(f"p{at}\tn/a\t\tn/a\t" for at in range(PEOPLE)))
    declaration = declared(AGE, FEE, BORN, SITE)
    age, fee, born, site = (cell_grid(column, PEOPLE).count for column in declaration.tables[0].columns[1:])
    _, counts = exact(declaration, file)
    found = [at for at, amount in enumerate(counts) if amount]
    # where missing has a cell, there; else in the first cell, or in `other`
    assert found == [age - 1, age, age + fee + born - 1, age + fee + born + site - 1]
    assert set(counts) == {0, PEOPLE}
    rows = twin_of(declaration, file)
    assert sum(row[1] == "n/a" for row in rows) > 0.8 * PEOPLE


def test_a_million_categories_have_no_cells_of_their_own(tmp_path: Path) -> None:
    many = 1_000_000
    path = tmp_path / "participants.tsv"
    path.write_text("participant_id\tsite\n" + "\n".join(f"p{at}\tv{at}" for at in range(many)) + "\n")
    _, counts = exact(declared(SITE), path)
    assert counts == (0, 0, many)


def test_mixed_types_commas_formulas_and_odd_days_show_in_no_twin(tmp_path: Path) -> None:
    """None is a value of its column: they count as missing or in a declared cell, and never come back."""
    odd = [
        ("=HYPERLINK(1)", "1,5", "0001-01-01", "@SUM(A1)"),
        ("x", "2.300,25", "9999-12-31", "+cmd|' /C calc'!A0"),
        ("3.5", "-", "2020-02-30", "NORTH"),
        ("1e999", "１２", "01.02.1990", "-1"),
    ]
    rows = ("\t".join((f"p{at}", *odd[at % 4])) for at in range(PEOPLE))
    declaration = declared(AGE, FEE, BORN, SITE)
    file = written(tmp_path, "age\tfee\tborn\tsite", *rows)
    _, counts = exact(declaration, file)
    assert sum(counts) == 4 * PEOPLE  # every cell in exactly one
    for level in (1, 2):
        for _, age, fee, born, site in twin_of(declaration, file, level=level):
            assert age == "n/a" or 0 <= int(age) <= 99
            assert 0 <= float(fee) <= 10
            assert born == "n/a" or "1900-01-01" <= born <= "2020-12-31"
            assert site in ("north", "south", "other")

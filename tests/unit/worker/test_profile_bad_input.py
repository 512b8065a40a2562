"""Bad tables: each is profiled, or the sentence says precisely why not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from domain.dialect import Dialect
from formats.parquet_file import ParquetColumn, write_parquet
from twins.profile import FoundTable, NoTable
from twins.profile.sketch import Distinct, Frequent
from worker.pii_model import model_bytes
from worker.profile.confined import profile_file, profile_here


def profiled(folder: Path, content: bytes, name: str = "table.csv", *, here: bool = True) -> FoundTable:
    path = folder / name
    path.write_bytes(content)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return (profile_here if here else profile_file)(descriptor, name, model=model_bytes())
    finally:
        os.close(descriptor)


WHAT_IS_NO_TABLE_IS_REFUSED_WITH_PLACE_AND_REMEDY = (
        (b"", "t.csv", "it is empty: there is not even a header"),
        (b"\n", "t.csv", "it has no header"),
        (b",,\n1,2,3\n", "t.csv", "it has no header"),
        (b"a,b,a\n1,2,3\n", "t.csv", "columns 1 and 3 are both named 'a'; rename one"),
        (b"a,b\n1,2\n1\n", "t.csv", "line 3, has 1 cells, the header 2"),
        (b"a,b\n1,2\n1,2,3\n", "t.csv", "line 3, has 3 cells, the header 2"),
        ("n,x\nJosé Ü,1\n".encode() + b"Jos\xe9,2\n", "t.csv", "line 3, is not UTF-8"),
        (b"name,x\nJos\xe9 \x81,1\n", "t.csv", "line 2, is not UTF-8.*looks like Windows-1252"),
        ("a,b\n1,2\n".encode("utf-16"), "t.csv", r"UTF-16 \(little endian\), by its byte order mark"),
        ("a,b\n1,2\n".encode("utf-16-be"), "t.csv", "UTF-16 without a byte order mark"),
        ("a,b\n1,2\n".encode("utf-32"), "t.csv", "looks like UTF-32"),
        (b"a,b\r1,2\r", "t.csv", "lines end in a carriage return alone"),
        (b"a,b\n1,2\r3,4\n", "t.csv", "line 2, holds a NUL, or a line that ends in a carriage return alone"),
        (b"a,b\n1,x\x00y\n", "t.csv", "line 2, holds a NUL"),
        (b'a,b\n1,"x\n2,y\n', "t.csv", "line 2, opens a quotation mark that nothing closes"),
        (b'a,b\n1,x"y"z\n', "t.csv", "line 2, is not CSV: a quotation mark stands inside a cell"),
        (b"a,b\n1,2\n", "t.tsv", "no tab, but commas"),
        (b"PK\x03\x04rest", "t.csv", "a spreadsheet or ZIP archive, whatever its name says"),
        (b"PAR1rest", "t.csv", "a Parquet file, whatever its name says"),
        (b"a,b\n1,2\n", "t.parquet", "cannot be read as Parquet"),
        (b"x" * 300 + b",b\n1,2\n", "t.csv", "the name of column 1 has 300 characters, more than 200"),
        (b",".join(b"c%d" % number for number in range(20_001)) + b"\n", "t.csv", "has 20001 columns"),
)  # fmt: skip


def test_what_is_no_table_is_refused_with_place_and_remedy(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for number, (content, name, sentence) in enumerate(WHAT_IS_NO_TABLE_IS_REFUSED_WITH_PLACE_AND_REMEDY):
        with subtests.test(content=content, name=name, sentence=sentence):
            (folder := tmp_path / str(number)).mkdir()
            with pytest.raises(NoTable, match=sentence):
                profiled(folder, content, name)


def test_a_header_alone_one_row_and_one_column(tmp_path: Path) -> None:
    empty = profiled(tmp_path, b"id,age\n")
    assert (empty.rows, [column.name for column in empty.columns]) == (0, ["id", "age"])
    assert "no rows" in empty.notes[0]
    one = profiled(tmp_path, b"id,age\np1,30\n")
    assert (one.rows, one.column("age").numbers.upper) == (1, 30)  # type: ignore[union-attr]
    assert "that person's" in one.notes[0]
    column = profiled(
        tmp_path, b"\xef\xbb\xbfage\n30\n31\n\n"
    )  # a mark in front; an empty line is a missing cell
    assert column.columns[0].name == "age"
    assert (column.rows, column.column("age").present) == (3, 2)


def test_missing_cells_in_every_spelling(tmp_path: Path) -> None:
    cells = ["", "n/a", "n/a ", "NA", "NaN", ".", "null", "?", "-"]
    found = profiled(
        tmp_path, ("id,x\n" + "".join(f"p{n},{cell}\n" for n, cell in enumerate(cells))).encode()
    )
    column = found.column("x")
    assert (column.present, column.distinct, column.missing_share) == (0, 0, 1)
    assert column.missing["n/a "] == 1


def test_mixed_types_commas_formulas_padded_codes_and_odd_dates_are_told_apart(tmp_path: Path) -> None:
    rows = [
        ("1", "1,5", "=HYPERLINK(1)", "007", "0001-01-01", "3/29/1982", "2020-02-30"),
        ("2.5", "2.300,25", "@SUM(A1)", "010", "1970-01-01", "1/1/1990", "2020-02-28"),
        ("x", "-3,0", "+cmd|' /C calc'!A0", "12345678901234567890", "2020-12-31", "12/12/2000", "n/a"),
    ]
    text = "a\tb\tc\td\te\tf\tg\n" + "".join("\t".join(row) + "\n" for row in rows)
    found = profiled(tmp_path, text.encode(), "t.tsv")
    kinds = {column.name: column.kinds for column in found.columns}
    assert kinds["a"] == {"whole": 1, "decimal": 1, "text": 1}
    assert kinds["b"] == {"decimal": 3}
    assert kinds["c"] == {"formula": 3}
    assert kinds["d"] == {"padded": 3}
    assert kinds["f"] == {"date": 3}
    assert found.dialect == Dialect(decimal=",", thousands=".", dates="MM/DD/YYYY")
    assert found.unread == ("g",)  # the 30th of February
    numbers, days, impossible = found.column("b").numbers, found.column("e").days, found.column("g").days
    assert numbers is not None
    assert (numbers.lower, numbers.upper) == (-3, 2300.25)
    assert days is not None
    assert (days.first, days.last, days.impossible) == ("0001-01-01", "2020-12-31", 0)
    assert impossible is not None
    assert impossible.impossible == 1


def test_numbers_beyond_any_scale_are_read(tmp_path: Path) -> None:
    found = profiled(tmp_path, b"x,y\n1e308,1\n-1e308,2\n1e999,3\n9" + b"9" * 400 + b",4\n")
    assert found.column("x").numbers is None  # too large to be squared: counted as decimal, and not averaged
    assert found.column("x").kinds["decimal"] == 3
    assert found.column("y").numbers is not None


def test_five_thousand_columns(tmp_path: Path) -> None:
    names = ",".join(f"c{number}" for number in range(5000))
    row = ",".join(str(number % 7) for number in range(5000))
    found = profiled(tmp_path, f"{names}\n{row}\n".encode())
    assert len(found.columns) == 5000
    assert "5000 columns" in found.notes[-1]


def test_a_million_categories_are_counted_in_bounded_memory() -> None:
    frequent, distinct, many = Frequent(1000), Distinct(), 1_000_000
    for start in range(0, many, 50_000):
        values = {f"v{number}": 1 for number in range(start, start + 50_000)} | {"often": 5000}
        if start < 200_000:  # a fifth is enough to hash
            distinct.add(values)
        frequent.add(values)
        assert len(frequent.counts) <= 1000
    assert abs(distinct.estimate / 200_000 - 1) < 0.1
    assert not frequent.is_exact
    assert frequent.most_common(1)[0][0] == "often"
    assert 100_000 - frequent.short_by <= frequent.counts["often"] <= 100_000


def test_a_huge_cell_is_text_of_its_length(tmp_path: Path) -> None:
    cell = "(" * 1_000_000
    found = profiled(tmp_path, f"id,x\np1,{cell}\np2,y\n".encode())
    assert found.column("x").longest == 1_000_000
    assert all(len(value) < 200 for value, _ in found.column("x").frequent)


@pytest.mark.needs(backend="bubblewrap")
def test_parquet_tables_are_read_as_text_tables_are(tmp_path: Path) -> None:
    table = write_parquet(
        [
            ParquetColumn("id", "text", ["a", "b", "c"]),
            ParquetColumn("age", "integer", [30, None, 50]),
            ParquetColumn("score", "number", [0.5, 1.25, None]),
        ]
    )
    found = profiled(tmp_path, table, "t.parquet", here=False)
    same = profiled(tmp_path, b"id,age,score\na,30,0.5\nb,,1.25\nc,50,\n")
    assert found.columns == same.columns


@pytest.mark.needs(backend="bubblewrap")
def test_the_sandbox_gives_what_this_process_gives(tmp_path: Path) -> None:
    content = b"id,mail,age\n" + b"".join(b"p%d,x%d@example.org,%d\n" % (n, n, n % 50) for n in range(300))
    assert profiled(tmp_path, content, here=False) == profiled(tmp_path, content)


@pytest.mark.needs(backend="bubblewrap")
def test_a_reader_that_does_not_end_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "endless.csv"
    path.write_bytes(b"a\n" + b"1\n" * 2_000_000)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(NoTable, match="takes longer than 1 seconds"):
            profile_file(descriptor, path.name, model=b"", wall_s=1)
    finally:
        os.close(descriptor)

"""TSV and CSV read as rows: every byte comes back, and what could be read in two ways is refused."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.delimited import BOM, LONGEST_ROW, NotText, cells_of, joined, read_rows, stream_rows

CHARACTERS = st.characters(codec="utf-8", exclude_characters="\t\r\n\0")
CELLS = st.text(CHARACTERS, max_size=8)
ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def tables(draw, cells=CELLS):
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=5))
    return rows, draw(ENDS), draw(st.booleans())


@given(tables(), st.booleans())
def test_every_cell_and_byte_of_a_tsv_comes_back(table, has_mark):
    rows, end, has_last_end = table
    text = end.join("\t".join(row) for row in rows) + (end if has_last_end else "")
    content = text.encode()
    has_mark = has_mark or content.startswith(BOM)
    found = read_rows("a.tsv", BOM + content if has_mark else content)
    # a last row of one empty cell, without a line end, leaves no byte
    lines = [found.header, *found.rows]
    assert [list(row.cells) for row in lines] == rows[: len(lines)]
    assert rows[len(lines) :] in ([], [[""]])
    assert b"".join(row.raw for row in lines) == content
    assert found.bom == (BOM if has_mark else b"")
    assert [row.number for row in lines] == list(range(1, len(lines) + 1))


@given(tables(st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=8)))
def test_every_cell_and_byte_of_a_csv_comes_back(table):
    rows, end, _ = table
    written = io.StringIO()
    csv.writer(written, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    content = written.getvalue().encode()
    found = read_rows("a.csv", content)
    lines = [found.header, *found.rows]
    assert [list(row.cells) for row in lines] == rows
    assert b"".join(row.raw for row in lines) == content


@given(st.binary(max_size=200), st.sampled_from(["a.csv", "a.tsv"]))
def test_any_bytes_are_a_table_or_a_value_error(content, name):
    try:
        found = read_rows(name, content)
    except ValueError:
        return
    assert b"".join(row.raw for row in (found.header, *found.rows)) == content.removeprefix(BOM)
    assert {len(row.cells) for row in found.rows} <= {len(found.header.cells)}


@given(st.binary(max_size=200), st.sampled_from(["a.csv", "a.tsv"]))
def test_a_file_that_is_read_as_it_goes_gives_the_same(content, name):
    try:
        found = read_rows(name, content)
    except ValueError:
        return
    assert list(stream_rows(name, io.BytesIO(content))) == [found.header, *found.rows]


def test_cells_keep_what_a_table_reader_would_change():
    found = read_rows("a.tsv", b"id\tn\r\nsub-1\tn/a\r\nsub-2\t25\r\nsub-3\t2.50\r\n")
    assert [row.cells[1] for row in found.rows] == ["n/a", "25", "2.50"]
    assert found.write(found.rows[1:2]) == b"id\tn\r\nsub-2\t25\r\n"


def test_the_cells_of_a_row_as_they_are_written_and_as_they_read():
    assert cells_of('"a,""b",c,', is_csv=True) == (['"a,""b"', "c", ""], ['a,"b', "c", ""])
    assert cells_of('"a\tb"', is_csv=False) == (['"a', 'b"'], ['"a', 'b"'])


def test_a_line_end_is_added_only_where_rows_would_meet():
    found = read_rows("a.tsv", b"a\r\n1\r\n2")
    assert found.write([found.rows[1], found.rows[0]]) == b"a\r\n2\r\n1\r\n"
    assert found.write([found.rows[1]]) == b"a\r\n2"
    assert joined([]) == b""


WHAT_IS_REFUSED_IS_NAMED_WITH_ITS_LINE = (
    ("a.tsv", b"a\tb\n1\n", "line 2, has 1 cells, the header 2"),
    ("a.tsv", b"a\tb\n1\t2\n\n", "line 3, has 1 cells"),
    ("a.csv", b'a,b\n"1\n2",3\n1\n', "line 4, has 1 cells"),
    ("a.csv", b'a\n"1\n', "line 2, opens a quotation mark that nothing closes"),
    ("a.csv", b'a,b\n"1"2,3\n', "line 2, is not CSV"),
    ("a.csv", b'a,b\n1"2",3\n', "line 2, is not CSV"),
    ("a.csv", b'a"b\nc"d\n', "line 1, is not CSV"),
    ("a.tsv", b"a\rb\n", "line 1, holds a NUL, or a line that ends in a carriage return alone"),
    ("a.csv", b'a\n"1\r2"\n', "line 2, holds a NUL, or"),
    ("a.tsv", b"a\0\n", "line 1, holds a NUL"),
    ("a.tsv", b"a\n\xff\n", "line 2, is not UTF-8"),
    ("a.tsv", b"a\n" + b"x" * LONGEST_ROW + b"\n", "line 2, is longer than"),
    ("a.csv", b'a\n"' + (b"x" * 1023 + b"\n") * (LONGEST_ROW // 1024) + b'"\n', "line 2, is longer than"),
)


def test_what_is_refused_is_named_with_its_line(subtests):
    for name, content, words in WHAT_IS_REFUSED_IS_NAMED_WITH_ITS_LINE:
        with subtests.test(name=name, content=content, words=words):
            with pytest.raises(ValueError, match=words) as refused:
                read_rows(name, content)
            assert isinstance(refused.value, NotText) == ("UTF-8" in words)

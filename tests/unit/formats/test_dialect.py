"""Tables in other dialects: each reads as the table that was written, and what cannot be told is refused."""

from __future__ import annotations

import csv
import io
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.dataset import Table
from domain.dialect import Dialect
from domain.errors import InvalidRequest
from domain.model import parse
from formats.delimited import LONGEST_ROW
from formats.dialect import DATES, MARKS

COLUMNS = [
    {"name": "id", "kind": "person"},
    {"name": "Größe", "kind": "number", "lower": 0, "upper": 300},
    {"name": "tag", "kind": "date", "lower": "1900-01-01", "upper": "2100-12-31"},
    {"name": "um", "kind": "date", "lower": "1900-01-01", "upper": "2100-12-31", "with_time": True},
    {"name": "ort", "kind": "categorical", "categories": ["München"]},
]
HEADER = [column["name"] for column in COLUMNS]
DIALECTS = st.builds(
    lambda delimiter, encoding, marks, dates: Dialect(
        delimiter=delimiter, encoding=encoding, decimal=marks[0], thousands=marks[1], dates=dates
    ),
    st.sampled_from(sorted(MARKS)),
    st.sampled_from(["utf-8", "latin-1", "windows-1252"]),
    st.sampled_from([(".", "none"), (",", "none"), (",", "."), (".", ","), (",", "space"), (".", "'")]),
    st.sampled_from(sorted(DATES)),
)
TEXTS = st.text(st.characters(codec="latin-1", exclude_categories=("Cc",)), max_size=12)
NUMBERS = st.one_of(
    st.integers(-(10**12), 10**12).map(str),
    st.decimals(-(10**9), 10**9, allow_nan=False, allow_infinity=False, places=3).map(str),
    st.floats(-1e300, 1e300, allow_nan=False).map(repr),
)
ROWS = st.lists(
    st.tuples(
        TEXTS,
        st.one_of(NUMBERS, st.sampled_from(["", "n/a", "nicht gemessen", "< mehr"])),
        st.one_of(st.dates().map(str), st.sampled_from(["", "unbekannt"])),
        st.datetimes().map(lambda moment: moment.replace(microsecond=0).isoformat()),
        TEXTS,
    ),
    max_size=5,
)


def table(dialect: Dialect | None = None, name: str = "t.csv", **more: object) -> Table:
    fields = {"path": name, "columns": COLUMNS} | ({"dialect": dialect} if dialect else {}) | more
    return Table.model_validate(fields)


def number_in(dialect: Dialect, text: str) -> str:
    """A number of Python as people write it there."""
    if not any(map(str.isdigit, text)):
        return text
    mantissa, is_there, exponent = text.lower().partition("e")
    whole, _, rest = mantissa.partition(".")
    sign, whole = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    if dialect.thousands != "none":
        mark = " " if dialect.thousands == "space" else dialect.thousands
        whole = f"{int(whole):,}".replace(",", mark)
    return f"{sign}{whole}{dialect.decimal + rest if rest else ''}{is_there}{exponent}"


def day_in(dialect: Dialect, text: str) -> str:
    if not any(map(str.isdigit, text)):
        return text
    day, _, clock = text.partition("T")
    year, month, number = day.split("-")
    return dialect.dates.replace("YYYY", year).replace("MM", month).replace("DD", number) + (
        f" {clock}" if clock else ""
    )


def rendered(dialect: Dialect, rows: list[tuple[str, ...]], end: str) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=MARKS[dialect.delimiter], lineterminator=end)
    writer.writerow(HEADER)
    for name, number, day, moment, place in rows:
        writer.writerow(
            [name, number_in(dialect, number), day_in(dialect, day), day_in(dialect, moment), place]
        )
    return text.getvalue().encode({"windows-1252": "cp1252"}.get(dialect.encoding, dialect.encoding))


def as_runs_get_it(declared: Table, content: bytes) -> bytes:
    return b"".join(row.raw for row in declared.delivered_rows(io.BytesIO(content)))


@given(DIALECTS, ROWS, st.sampled_from(["\n", "\r\n"]))
def test_a_table_written_in_any_dialect_is_read_as_the_table_that_it_was(dialect, rows, end):
    usual = io.StringIO()
    csv.writer(usual, lineterminator="\n").writerows([HEADER, *rows])
    content = rendered(dialect, rows, end)
    assert as_runs_get_it(table(dialect), content) == usual.getvalue().encode()
    crlf = as_runs_get_it(table(dialect, line_end="crlf"), content)
    assert crlf == usual.getvalue().replace("\n", "\r\n").encode()


@given(DIALECTS, ROWS)
def test_what_was_read_is_read_as_itself_again(dialect, rows):
    once = as_runs_get_it(table(dialect), rendered(dialect, rows, "\n"))
    assert as_runs_get_it(table(Dialect()), once) == once


GERMAN = Dialect(delimiter=";", encoding="windows-1252", decimal=",", dates="DD.MM.YYYY")
CELLS = (
    ("Größe", "1,5", "1.5"), ("Größe", "-,5", "-.5"), ("Größe", "+3", "+3"), ("Größe", "1,5E-3", "1.5E-3"),
    ("Größe", "007", "007"), ("Größe", " 2,50 ", "2.50"), ("Größe", "<0,5", '"<0,5"'), ("Größe", "-", "-"),
    ("Größe", "3 mm", "3 mm"), ("tag", "1.3.2024", "2024-03-01"), ("tag", "01.03.2024 00:00", "2024-03-01"),
    ("tag", "2024-03-01", "2024-03-01"), ("um", "1.3.2024 9:05", "2024-03-01T09:05:00"),
    ("um", "2024-03-01 14:05:09.123", "2024-03-01T14:05:09"),
    ("um", "01.03.2024T14:05", "2024-03-01T14:05:00"),
    ("um", "-99", "-99"), ("ort", "1,5", '"1,5"'), ("ort", '"a;b"', "a;b"),
)  # fmt: skip
REFUSED = (
    ("Größe", "1.5", "'1.5' is no number with decimal ','"),
    ("Größe", "1.234", "'1.234' is no number"),
    ("Größe", "1.234,5", "no mark between thousands"),
    ("Größe", "1 234,5", "no mark between thousands"),
    ("Größe", "01.03.2024", "is no number"),
    ("tag", "03/13/2024", "'03/13/2024' is no day like DD.MM.YYYY; change the cell"),
    ("tag", "31.02.2024", "is no day or time that there is"),
    ("tag", "00.00.0000", "is no day or time that there is"),
    ("tag", "1.3.24", "is no day like DD.MM.YYYY"),
    ("tag", "20240301", "is no day like DD.MM.YYYY"),
    ("tag", "01.03.2024 14:05", "has a time; declare the column with_time"),
    ("um", "01.03.2024", "has no time, and the column is declared with_time"),
    ("um", "01.03.2024 25:05", "is no day or time that there is"),
    ("um", "2024-03-01T14:05:00Z", "is no day like DD.MM.YYYY with a time"),
    ("um", "2024-03-01T14:05:00+01:00", "is no day like DD.MM.YYYY with a time"),
)


def one_cell(column: str, cell: str) -> bytes:
    row = {"id": "a", column: cell}
    return ";".join(HEADER).encode("cp1252") + b"\n" + ";".join(
        row.get(name, "") for name in HEADER
    ).encode("cp1252")  # fmt: skip


def test_cells_of_a_german_table(subtests: pytest.Subtests) -> None:
    columns = [column | ({"missing": "-99"} if column["name"] == "um" else {}) for column in COLUMNS]
    for column, cell, wanted in CELLS:
        with subtests.test(column=column, cell=cell):
            written = as_runs_get_it(table(GERMAN, columns=columns), one_cell(column, cell)).decode()
            wanted_row = ",".join(wanted if name == column else "a" * (name == "id") for name in HEADER)
            assert written.split("\n")[1] == wanted_row


def test_a_cell_in_another_spelling_is_refused_with_line_column_and_what_to_do(
    subtests: pytest.Subtests,
) -> None:
    for column, cell, sentence in REFUSED:
        with subtests.test(column=column, cell=cell), pytest.raises(ValueError, match="line 2") as refused:
            as_runs_get_it(table(GERMAN), one_cell(column, cell))
        assert f"t.csv, line 2, column {column}: " in str(refused.value)
        assert sentence in str(refused.value)


BYTES = (
    ("utf-8", "Größe".encode("latin-1"), "is not UTF-8; convert the file"),
    ("latin-1", "€".encode("cp1252"), "is not LATIN-1 but perhaps windows-1252"),
    ("windows-1252", b"\x81", "is not WINDOWS-1252; state another encoding"),
)


def test_bytes_that_the_encoding_does_not_have_are_refused(subtests: pytest.Subtests) -> None:
    for encoding, content, sentence in BYTES:
        with subtests.test(encoding=encoding), pytest.raises(ValueError, match=sentence):
            list(table(Dialect(encoding=encoding)).delivered_rows(io.BytesIO(b"id\n" + content)))


def test_a_mark_in_front_is_no_part_of_the_first_name() -> None:
    declared = table(Dialect(delimiter=";"))
    content = b"\xef\xbb\xbf" + ";".join(HEADER).encode() + b"\n"
    assert next(declared.delivered_rows(io.BytesIO(content))).cells == tuple(HEADER)


def test_a_row_that_is_too_long_in_utf8_is_refused() -> None:
    declared = table(Dialect(delimiter=";", encoding="latin-1"))
    row = b"a;;;;" + b"\xfc" * (LONGEST_ROW - 10)
    content = ";".join(HEADER).encode("latin-1") + b"\n" + row
    with pytest.raises(ValueError, match="line 2, is longer than"):
        list(declared.delivered_rows(io.BytesIO(content)))


WRONG = (
    ({"dialect": {"decimal": ",", "thousands": ","}}, "different marks"),
    ({"dialect": {"delimiter": "\t"}}, "dialect.delimiter"),
    ({"dialect": {"delimiter": ";"}, "path": "t.tsv"}, "call it .csv, or remove delimiter"),
    ({"dialect": {"decimal": ","}, "path": "t.parquet"}, "are of text tables"),
    ({"path": "t.parquet"}, "are of text tables"),
    ({"columns": [COLUMNS[0], {**COLUMNS[1], "with_time": True}]}, "with_time is for kind date"),
    ({"row_rules": ["um > tag"]}, "a column with_time is compared with another one"),
)


def test_declarations_that_contradict_themselves_are_refused(subtests: pytest.Subtests) -> None:
    for fields, sentence in WRONG:
        with subtests.test(fields=fields), pytest.raises(InvalidRequest) as refused:
            parse(Table, {"path": "t.csv", "columns": COLUMNS, **fields})
        assert sentence in str(refused.value)


def test_a_table_without_a_dialect_keeps_its_bytes() -> None:
    plain = [column for column in COLUMNS if column["name"] != "um"]
    declared = table(columns=plain)
    assert not declared.is_rewritten
    content = 'id,Größe,tag,ort\r\n"a", 1,5 ,01.03.2024\r\n'.encode()
    assert as_runs_get_it(declared, content) == content
    assert "dialect" not in declared.model_dump_json()
    assert "with_time" not in declared.model_dump_json()


def test_days_and_moments_are_told_by_their_column() -> None:
    day, moment = (table().columns[at] for at in (2, 3))
    assert (day.day_of("2024-03-01"), day.day_of("2024-03-01T00:00:00")) == (date(2024, 3, 1), None)
    assert (moment.day_of("2024-03-01T14:05:00"), moment.day_of("2024-03-01")) == (date(2024, 3, 1), None)
    assert moment.day_of(datetime.max.isoformat()) is None

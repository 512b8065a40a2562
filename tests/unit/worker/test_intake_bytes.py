"""What of a table's bytes the snapshot keeps, and that the scanner reads the same rows of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from factories import make_declaration, table_fields
from scan_reference import ask, scan

from formats.delimited import BOM
from store.keys import Keys
from store.snapshots import SnapshotArea
from worker.intake import check_delivery
from worker.scan.chunk import sealed_table

COLUMNS = [
    {"name": "id", "kind": "person"},
    {"name": "score", "kind": "integer", "lower": 0, "upper": 99},
    {"name": "sex", "kind": "categorical", "categories": ["f", "m", "d,e"]},
]


def kept(folder: Path, name: str, content: bytes) -> tuple[bytes, tuple[int, ...], int]:
    """The sealed bytes, how many people of each sex the scanner finds, and how many scores of 7 and more."""
    (folder / "data").mkdir()
    (folder / "data" / name).write_bytes(content)
    fields: dict[str, Any] = {"privacy_unit": {"table": name, "column": "id"}}
    declaration = make_declaration(tables=[table_fields(path=name, columns=COLUMNS)], **fields)
    found = check_delivery(folder / "data", declaration, max_file_bytes=10_000)
    area = SnapshotArea(folder / "area", Keys(b"k" * 32))
    snapshot = area.open(area.write(tables=found.tables, people=found.people))
    source = sealed_table(lambda: snapshot.open_table(name), declaration.tables[0])
    counts = scan(source, ask({"kind": "count", "by": ["sex"]}), declaration)
    total = scan(
        source,
        ask({"kind": "count", "where": [{"column": "score", "operator": ">=", "value": 7}]}),
        declaration,
    )
    return snapshot.table(name), counts, total[0]


ROWS = [["id", "score", "sex"], ["a", "07", "f"], ["b", "n/a", "m"], ["c", "25", "f"], ["d", "", "m"]]
AS_DELIVERED = {
    "LF": ("t.tsv", "\n", "\n"),
    "CRLF": ("t.tsv", "\r\n", "\r\n"),
    "no last end": ("t.tsv", "\n", ""),
    "CRLF, no last end": ("t.tsv", "\r\n", ""),
    "CSV": ("t.csv", "\n", "\n"),
    "CSV with CRLF": ("t.csv", "\r\n", "\r\n"),
    "CSV, no last end": ("t.csv", "\r\n", ""),
}


@pytest.mark.parametrize(("name", "end", "last"), AS_DELIVERED.values(), ids=AS_DELIVERED)
def test_a_table_of_the_declared_columns_stays_as_it_is(
    tmp_path: Path, name: str, end: str, last: str
) -> None:
    delimiter = "\t" if name.endswith(".tsv") else ","
    content = (end.join(delimiter.join(row) for row in ROWS) + last).encode()
    assert kept(tmp_path, name, content) == (content, (2, 2, 0), 2)


def test_a_byte_order_mark_goes(tmp_path: Path) -> None:
    content = b"id\tscore\tsex\na\t7\tf\n"
    assert kept(tmp_path, "t.tsv", BOM + content) == (content, (1, 0, 0), 1)


def test_quotes_stay(tmp_path: Path) -> None:
    content = b'"id",score,"sex"\r\n"a",7,"d,e"\r\n\'b\',"8",f\r\n'.replace(b"'", b"")
    assert kept(tmp_path, "t.csv", content) == (content, (1, 0, 1), 2)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_rows_that_end_in_other_ways_get_the_headers_end(tmp_path: Path, end: bytes) -> None:
    content = b"id\tscore\tsex" + end + b"a\t7\tf\nb\t8\tm\r\nc\t9\tf"
    rows = [b"id\tscore\tsex", b"a\t7\tf", b"b\t8\tm", b"c\t9\tf", b""]
    assert kept(tmp_path, "t.tsv", content) == (end.join(rows), (2, 1, 0), 3)


def test_of_other_columns_the_declared_cells_keep_their_spelling(tmp_path: Path) -> None:
    content = b'sex,secret,"id",score\r\n"d,e","x\ny","a",007\r\nm,,b,n/a\r\n'
    found = kept(tmp_path, "t.csv", content)
    assert found == (b'"id",score,sex\r\n"a",007,"d,e"\r\nb,n/a,m\r\n', (0, 1, 1), 1)

"""Cells, names and requests made to break the scan: no row of another person, no SQL, no word about the
data."""

from __future__ import annotations

import pytest
from factories import make_declaration
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scan_reference import ask, scan

from domain.dataset import Declaration
from domain.errors import InvalidRequest
from domain.model import parse
from domain.query import QueryRequest, check_query
from store.keys import Keys
from store.snapshots import SnapshotArea
from worker.scan.chunk import sealed_table
from worker.scan.engine import ScanFailed, opened
from worker.scan.scan import Limits
from worker.scan.source import LONGEST_LINE, Source, plain_file

SECRET = "sub-secret-4711"


def declare(*names: str, path: str, categories=("a", "b")) -> Declaration:
    """Categorical columns of these names."""
    columns = [{"name": "person", "kind": "person"}]
    columns += [{"name": name, "kind": "categorical", "categories": list(categories)} for name in names]
    table = {"path": path, "columns": columns}
    return make_declaration(tables=[table], privacy_unit={"table": path, "column": "person"})


def sealed(folder, declaration, text: str):
    """The table as a snapshot holds it."""
    (folder / "plain").write_bytes(text.encode())
    area, table = SnapshotArea(folder / "area", Keys(b"k" * 32)), declaration.tables[0]
    name = area.write(tables={table.path: lambda: (folder / "plain").open("rb")}, people={})
    (folder / "plain").unlink()
    return sealed_table(lambda: area.open(name).open_table(table.path), table)


hostile = st.text(st.sampled_from("ab\"',;\t\r\n \\\x00\x1f\u2028é"), max_size=12)
no_tabs = hostile.filter(lambda cell: "\t" not in cell and "\n" not in cell)
# an engine takes longer to open than a table takes to scan, so a table has many cells
few = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("path", ["people.csv", "people.tsv"])
@few
@given(data=st.data())
def test_a_cell_cannot_become_a_row(tmp_path, path, data):
    """Rows of the sealed table are the rows that the import wrote: a cell adds none and hides none."""
    cells = data.draw(st.lists(hostile if path == "people.csv" else no_tabs, min_size=1, max_size=40))
    declaration = declare("note", path=path)
    rows = [["person", "note"], *([f"s{i}", cell] for i, cell in enumerate(cells)), ["last", "a"]]
    text = declaration.tables[0].join(rows)
    source = sealed(tmp_path, declaration, text)
    assert scan(source, ask({"kind": "count"}), declaration) == (len(cells) + 1,)
    (found, _) = scan(source, ask({"kind": "count", "by": ["note"]}), declaration)
    assert found == cells.count("a") + 1


@pytest.mark.parametrize("path", ["people.csv", "people.tsv"])
def test_a_carriage_return_smuggles_nobody_in(tmp_path, path):
    declaration = declare("note", "more", path=path)
    rows = [["person", "note", "more"], ["s1", "x\rs9", "b"], ["s2", "a", "a"]]
    source = sealed(tmp_path, declaration, declaration.tables[0].join(rows))
    assert scan(source, ask({"kind": "count"}), declaration) == (2,)
    assert scan(source, ask({"kind": "count", "by": ["more"]}), declaration) == (1, 1)


def test_a_quoted_cell_full_of_rows(tmp_path):
    """Long enough that a reader which starts in the middle would take the cell for a table."""
    declaration = declare("note", path="people.csv")
    inside = "\r\n".join(f'"s{i}","b"' for i in range(300_000))
    rows = [["person", "note"], ["s1", inside], *([f"p{i}", "a"] for i in range(1000))]
    source = sealed(tmp_path, declaration, declaration.tables[0].join(rows))
    assert scan(source, ask({"kind": "count", "by": ["note"]}), declaration) == (1000, 0)


def test_a_row_too_long_to_read_is_left_out_alone(tmp_path):
    declaration = declare("note", path="people.tsv")
    rows = [["person", "note"], ["s1", "a"], ["s2", "a" * (LONGEST_LINE + 1)], ["s3", "a"]]
    source = sealed(tmp_path, declaration, declaration.tables[0].join(rows))
    assert scan(source, ask({"kind": "count", "by": ["note"]}), declaration) == (2, 0)


def test_rows_of_the_wrong_length_and_bytes_that_are_no_text(tmp_path):
    """A delivered file cannot hold these, for the import checks it; a plain one can, and nothing is
    raised."""
    path = tmp_path / "people.tsv"
    path.write_bytes(b"person\tnote\ns1\ta\ns2\ns3\ta\tx\ty\ns4\t\xff\xfe\ns5\ta\n\n")
    (found, _) = scan(
        plain_file(path), ask({"kind": "count", "by": ["note"]}), declare("note", path="people.tsv")
    )
    assert found in (2, 3)


@pytest.mark.parametrize(
    "name", ['no"te', "note' OR 1=1 --", "c0", "$v0", "a); DROP TABLE t; --", "NOTE", "größe", "*"]
)
def test_names_of_columns_are_no_sql(tmp_path, name):
    declaration = declare(name, "note", path="people.csv")
    rows = [["person", name, "note"], ["s1", "a", "b"], ["s2", "b", "b"]]
    source = sealed(tmp_path, declaration, declaration.tables[0].join(rows))
    query = {"kind": "count", "by": [name], "where": [{"column": "note", "operator": "=", "value": "b"}]}
    assert scan(source, ask(query), declaration) == (1, 1)


@pytest.mark.parametrize("category", ["a' OR '1'='1", "$place", "?", "a'; DROP TABLE x; --", "\\", "%"])
def test_categories_are_no_sql(tmp_path, category):
    declaration = declare("note", path="people.csv", categories=(category, "other"))
    rows = [["person", "note"], ["s1", category], ["s2", "other"], ["s3", "a"]]
    source = sealed(tmp_path, declaration, declaration.tables[0].join(rows))
    query = {"kind": "count", "where": [{"column": "note", "operator": "=", "value": category}]}
    assert scan(source, ask(query), declaration) == (1,)
    assert scan(source, ask({"kind": "count", "by": ["note"]}), declaration) == (1, 1)


def test_what_is_not_declared_cannot_be_asked_for():
    declaration = declare("note", path="people.csv")
    for where in ("x'; --", "a OR TRUE"):
        query = {"kind": "count", "where": [{"column": "note", "operator": "=", "value": where}]}
        with pytest.raises(InvalidRequest, match="is not a declared category"):
            check_query(ask(query), declaration)
    with pytest.raises(InvalidRequest, match=r"query\.where\.0\.operator"):
        parse(
            QueryRequest,
            {
                "dataset": "heights",
                "epsilon": 1,
                "query": {"kind": "count", "where": [{"column": "note", "operator": "= 1 OR", "value": "a"}]},
            },
        )


def test_an_error_of_the_engine_says_nothing_of_the_data(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(f"person,note\n{SECRET},{SECRET}\n")
    source = Source(str(path), "csv", ("person", "note"))
    with opened(source, memory_mib=256, threads=1) as engine, pytest.raises(ScanFailed) as caught:
        engine.rows(f"SELECT CAST(concat(c1, c0) AS INTEGER) FROM {source.relation()}", {"place": str(path)})
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM read_csv('https://example.org/x.csv')",
        "SELECT * FROM glob('/*')",
        "COPY (SELECT 1) TO '{folder}/out.csv'",
        "ATTACH '{folder}/other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET temp_directory = '{folder}'",
        "SET memory_limit = '1TB'",
        "EXPORT DATABASE '{folder}'",
        "SELECT * FROM source",
    ],
)
def test_the_engine_reaches_nothing_but_the_table(tmp_path, sql):
    path = tmp_path / "people.csv"
    path.write_text("person\ns1\n")
    source = plain_file(path)
    with opened(source, memory_mib=256, threads=1) as engine:
        with pytest.raises(ScanFailed):
            engine.rows(sql.format(folder=tmp_path), {})
        assert engine.rows(f"SELECT count(*) FROM {source.relation()}", {"place": str(path)}) == [(1,)]
    assert sorted(tmp_path.iterdir()) == [path]


def test_too_little_memory_fails_without_a_copy_on_disk(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("person,note\n" + "".join(f"person-{i:09d},a\n" for i in range(300_000)))
    source = plain_file(path)
    with opened(source, memory_mib=96, threads=1) as engine, pytest.raises(ScanFailed):
        engine.rows(
            f"SELECT count(*) FROM (SELECT c0 FROM {source.relation()} GROUP BY ALL ORDER BY sha256(c0))",
            {"place": str(path)},
        )
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_place_with_a_quote_in_its_name(tmp_path):
    path = tmp_path / "it's.csv"
    path.write_text("person,note\ns1,a\n")
    found = scan(
        plain_file(path), ask({"kind": "count"}), declare("note", path="its.csv"), limits=Limits(256, 1)
    )
    assert found == (1,)

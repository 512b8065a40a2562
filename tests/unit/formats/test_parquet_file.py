"""The twin's Parquet file, as the scanner of trusted queries reads it."""

from __future__ import annotations

import duckdb
import pytest
from factories import column_fields, make_dataset, make_declaration, make_job_request, table_fields
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.admission import check_policy
from domain.errors import InvalidRequest
from formats.parquet_file import ParquetColumn, write_parquet
from twins.drawn import make_twin

TEXT = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
ROWS = st.lists(
    st.tuples(
        TEXT,
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.floats(allow_nan=False),
    ),
    min_size=1,
    max_size=40,
)
PARQUET = {
    "tables": [table_fields(path="people.parquet")],
    "privacy_unit": {"table": "people.parquet", "column": "participant_id"},
}


def read(path):
    with duckdb.connect(":memory:") as connection:
        found = connection.execute("FROM read_parquet($place)", {"place": str(path)})
        return [column[0] for column in found.description], found.fetchall()


@settings(max_examples=60)
@given(ROWS)
def test_every_cell_reads_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("parquet") / "a.parquet"
    cells = zip(*rows, strict=True)
    kinds = ("text", "integer", "number")
    columns = [ParquetColumn(f'{kind} "1"', kind, values) for kind, values in zip(kinds, cells, strict=True)]
    path.write_bytes(write_parquet(columns))
    assert read(path) == ([column.name for column in columns], rows)


def test_many_columns_and_rows(tmp_path):
    columns = [ParquetColumn(f"c{number}", "integer", range(1000)) for number in range(40)]
    (tmp_path / "a.parquet").write_bytes(write_parquet(columns))
    assert read(tmp_path / "a.parquet")[1] == [(row,) * 40 for row in range(1000)]


def test_columns_of_another_length_are_refused():
    with pytest.raises(ValueError, match="as many cells"):
        write_parquet([ParquetColumn("a", "integer", [1]), ParquetColumn("b", "integer", [])])


def test_the_twin_has_the_declared_columns_and_types(tmp_path):
    declaration = make_declaration(**PARQUET)
    path = tmp_path / "people.parquet"
    path.write_bytes(make_twin(declaration)["people.parquet"])
    names, rows = read(path)
    assert names == [column.name for column in declaration.tables[0].columns]
    assert len(rows) == declaration.nominal_size
    assert {type(cell) for row in rows for cell in row} == {str, int, float, type(None)}
    assert {row[2] for row in rows} == {"f", "m", "d", None}
    assert all(0 <= row[1] <= 120 for row in rows)


def test_whole_numbers_beyond_64_bits_become_floats(tmp_path):
    columns = [{"name": "participant_id", "kind": "person"}, column_fields(lower=0, upper=1e300)]
    declaration = make_declaration(
        **PARQUET | {"tables": [table_fields(path="people.parquet", columns=columns)]}
    )
    (tmp_path / "a.parquet").write_bytes(make_twin(declaration)["people.parquet"])
    assert all(isinstance(age, float) for _, age in read(tmp_path / "a.parquet")[1])


def test_a_pipeline_is_told_that_it_gets_no_parquet():
    dataset = make_dataset(declaration=make_declaration(**PARQUET))
    with pytest.raises(InvalidRequest, match=r"people\.parquet of heights is a Parquet table"):
        check_policy(make_job_request(), dataset)

"""A declaration's tables split and join text without changing a cell."""

from __future__ import annotations

import pytest
from factories import declaration_fields, make_declaration, make_table, table_fields
from hypothesis import given
from hypothesis import strategies as st

from domain.dataset import DatasetState, ImportProblem
from domain.errors import InvalidRequest

TSV, CSV = make_table(), make_table(path="participants.csv")
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n"), max_size=10)
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=5)


@given(ROWS, st.sampled_from([TSV, CSV]))
def test_join_then_split_keeps_every_cell(rows, table):
    assert list(table.split(table.join(rows))) == rows


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=1), min_size=1))
def test_csv_keeps_even_line_ends_and_quotes(rows):
    assert list(CSV.split(CSV.join(rows))) == rows


@given(st.text(max_size=200), st.sampled_from([TSV, CSV]))
def test_no_text_breaks_split(text, table):
    try:
        rows = list(table.split(text))
    except ValueError:
        return
    assert all(isinstance(cell, str) for row in rows for cell in row)


def test_tsv_has_no_quotes_and_takes_both_line_ends():
    assert list(TSV.split('a\t"b\r\nc\td\r\n')) == [["a", '"b'], ["c", "d"]]


def test_csv_with_a_quote_that_never_ends_is_refused():
    with pytest.raises(ValueError, match="unexpected end"):
        list(CSV.split('a,"b\n'))


def test_the_person_column_is_found():
    assert TSV.person_column.name == "participant_id"


def test_the_declaration_counts_its_budget_in_micro_epsilon():
    assert make_declaration(budget_epsilon="2.5").budget_micro_epsilon == 2_500_000


@pytest.mark.parametrize("spelling", [10, 10.0, "10", "10.0", "1e1", " 10 "])
def test_one_amount_has_one_spelling(spelling):
    assert make_declaration(budget_epsilon=spelling) == make_declaration(budget_epsilon="10")


def test_a_declaration_reads_back_from_its_own_json():
    declaration = make_declaration(
        layout="bids", person_files=[{"path": "{person}/anat.json", "twin_text": "{person}"}], cohort="town"
    )
    assert type(declaration).model_validate_json(declaration.model_dump_json()) == declaration


def test_person_files_need_the_bids_layout():
    fields = declaration_fields(person_files=[{"path": "{person}/a.txt"}])
    with pytest.raises(InvalidRequest, match="person_files need layout bids"):
        make_declaration(**fields)


def test_a_bids_unit_table_has_one_row_per_person():
    with pytest.raises(InvalidRequest, match="one row per person"):
        make_declaration(layout="bids", tables=[table_fields(rows_per_person="many")])


def test_problem_names_and_states_fit_their_columns():
    assert max(len(problem.name) for problem in ImportProblem) <= 20
    assert max(map(len, DatasetState)) <= 10

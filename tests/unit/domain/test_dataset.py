"""A declaration's tables split and join text without changing a cell."""

from __future__ import annotations

import gzip

import pytest
from factories import declaration_fields, make_declaration, make_table, table_fields
from hypothesis import given
from hypothesis import strategies as st

from domain.dataset import DatasetState, ImportProblem
from domain.errors import InvalidRequest
from privacy.cost import Currency
from twins.drawn import make_twin

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


def test_the_declaration_counts_its_budget_in_whole_units():
    assert make_declaration(budget_epsilon="2.5").caps == {Currency.EPSILON: 2_500_000}


def test_one_amount_has_one_spelling(subtests):
    for spelling in (10, 10.0, "10", "10.0", "1e1", " 10 "):
        with subtests.test(spelling=spelling):
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


BIDS = {"layout": "bids"}
VOLUME = {"shape": [4, 4, 4], "lower": 0, "upper": 9}


DECLARATIONS_THAT_DO_NOT_HANG_TOGETHER = (
    ({"tables": [table_fields(path="participants.parquet")], **BIDS}, "not among the declared|Parquet"),
    ({"excluded": ["participants.tsv"]}, "both declared and excluded"),
    ({"excluded": ["a/b"], "public_files": [{"path": "a/b", "text": ""}]}, "both declared and excluded"),
    ({"excluded": ["../a"]}, "must stay inside"),
    ({"folders": "some"}, "folders need layout bids"),
    ({"public_files": [{"path": "a"}]}, "its content is missing"),
    ({"public_files": [{"path": "a", "content_base64": "!"}]}, "not base64"),
    ({"public_files": [{"path": "a", "text": "a", "content_base64": "aa=="}]}, "not both"),
    (
        {"public_files": [{"path": str(n), "text": "x" * 1_000_000} for n in range(9)]},
        "state as_delivered",
    ),
    ({**BIDS, "person_files": [{"path": "{person}x/a"}]}, "must hold {person}"),
    ({**BIDS, "person_files": [{"path": "{person}/a", "twin_volume": VOLUME}]}, "ends in .nii"),
    (
        {
            **BIDS,
            "person_files": [{"path": "{person}/a.nii", "twin_volume": VOLUME, "twin_text": "x"}],
        },
        "not both",
    ),
    (
        {**BIDS, "person_files": [{"path": "{person}/a.nii", "twin_volume": {**VOLUME, "upper": 1e9}}]},
        "cannot hold",
    ),
    (
        {
            **BIDS,
            "person_files": [{"path": "{person}/a.nii", "twin_volume": {**VOLUME, "shape": [999] * 3}}],
        },
        "voxels, more than",
    ),
)


def test_declarations_that_do_not_hang_together(subtests):
    for fields, words in DECLARATIONS_THAT_DO_NOT_HANG_TOGETHER:
        with subtests.test(fields=fields, words=words), pytest.raises(InvalidRequest, match=words):
            make_declaration(**fields)


def test_what_was_not_declared_leaves_no_trace_in_the_stored_form():
    files = {"public_files": [{"path": "a", "text": ""}], "person_files": [{"path": "{person}/a"}], **BIDS}
    stored = make_declaration(**files).model_dump(mode="json")
    assert not {"excluded", "folders"} & set(stored)
    assert set(stored["public_files"][0]) == {"path", "text"}
    assert set(stored["person_files"][0]) == {"path", "twin_text"}


WHAT_IS_EXCLUDED = (
    ("a", "a", True),
    ("a", "a/b/c", True),
    ("a", "ab", False),
    ("a/b", "a", False),
    ("{person}/anat", "sub-1/anat/x", True),
    ("{person}/anat", "x/sub-1/anat", False),
    ("{person}/anat", "{person}/anat/{person}.nii", True),
    ("d/{person}_x.tsv", "d/sub-1+_x.tsv", True),
    ("d/{person}_x.tsv", "d/sub-_x.tsv", False),
    ("a.c", "abc", False),
)


def test_what_is_excluded(subtests):
    for place, path, is_left_out in WHAT_IS_EXCLUDED:
        with subtests.test(place=place, path=path, is_left_out=is_left_out):
            assert make_declaration(excluded=[place]).excludes(path) is is_left_out


def test_a_twin_has_the_bytes_and_volumes_that_were_declared():
    declaration = make_declaration(
        **BIDS,
        public_files=[{"path": "a.png", "content_base64": "iVBORw=="}],
        person_files=[{"path": "maps/{person}/{person}_a.nii.gz", "twin_volume": VOLUME}],
    )
    twin = make_twin(declaration)
    assert twin["a.png"] == b"\x89PNG"
    volume = twin["maps/sub-twin01/sub-twin01_a.nii.gz"]
    assert len(gzip.decompress(volume)) == 352 + 2 * 4**3
    assert volume != twin["maps/sub-twin02/sub-twin02_a.nii.gz"]
    assert make_twin(declaration)["maps/sub-twin01/sub-twin01_a.nii.gz"] == volume


def test_what_is_declared_stays_though_its_folder_is_excluded() -> None:
    declaration = make_declaration(
        excluded=["phenotype", "{person}/anat"],
        public_files=[{"path": "phenotype/scale.json", "text": "{}"}],
    )
    assert not declaration.excludes("phenotype/scale.json")
    assert declaration.excludes("phenotype/other.tsv")
    assert declaration.excludes("sub-01/anat/T1w.nii")
    assert not declaration.excludes("phenotypes.tsv")
    assert not declaration.excludes("phenotype")  # a folder on the way to what stays
    assert declaration.excludes("sub-01/anat")

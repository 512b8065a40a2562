"""Tables with a row for each person: of hostile rows, too, only a mean or a share for a column comes out."""

from __future__ import annotations

import math
from typing import Any

import pytest
from declared_columns import correlations
from factories import make_manifest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest, PipelineError
from domain.formats import FORMATS
from domain.model import parse
from domain.outputs import values_of
from domain.pipeline import OutputFile
from domain.shape import Shape, TableShape, lock
from domain.shape.table import MAX_PAIRS, MAX_TABLE_CELLS

TWIN = b"id\tcnr\tsnr\nsub-1\t1\t10\nsub-2\t2\t20\nsub-3\t6\tn/a\n"
COLUMNS = [
    {"column": "cnr", "name": "mean_cnr", "lower": 0, "upper": 10},
    {"column": "snr", "name": "high_snr", "above": 12},
]


def output_of(file: str = "g.tsv", columns: list[dict[str, Any]] = COLUMNS) -> OutputFile:
    return parse(OutputFile, {"file": file, "columns": columns})


def locked(file: str = "g.tsv", content: bytes = TWIN) -> TableShape:
    shape = lock(output_of(file), content, {})
    assert isinstance(shape, TableShape)
    return shape


def test_a_release_holds_a_row_for_each_summary() -> None:
    shape = locked()
    assert shape.read(TWIN) == [3, 0.5]
    assert shape.write(["3", "0.5"]) == b"column\tsummary\tvalue\ncnr\tmean\t3\nsnr\tshare_above_12\t0.5\n"
    assert shape.addresses == ("column:cnr (mean)", "column:snr (share above 12)")


def test_names_and_bounds_are_those_of_the_columns() -> None:
    manifest = make_manifest(outputs=[output_of().model_dump(mode="json")])
    shape = Shape(files=(locked(),))
    shape.check_fits(manifest)
    found = values_of(manifest, shape)
    assert [(value.name, value.lower, value.upper) for value in found] == [
        ("mean_cnr", 0, 10),
        ("high_snr", 0, 1),
    ]


ROWS_MAY_BE_ANY = (
    (b"id\tcnr\tsnr\nsub-9\t4\t13\n", [4, 1]),
    (b"snr\tcnr\n12\t4\n12.5\t5\n", [4.5, 0.5]),
    (b"id\tcnr\tsnr\nx\tn/a\t1\ny\t\t2\n", [None, 0]),
    (b"id\tcnr\tsnr\nx\tnan\tinf\n", [None, None]),
    (b"cnr\tsnr\n", [None, None]),
    (b"cnr\tsnr\n1e308\t1\n1e308\t1\n", [1e308, 0]),
    (b"cnr\tsnr\textra\tid\n1\t1\t9\tSECRET\n", [1, 0]),
)


def test_rows_and_other_columns_may_be_any(subtests: pytest.Subtests) -> None:
    for content, numbers in ROWS_MAY_BE_ANY:
        with subtests.test(content=content):
            assert locked().read(content) == numbers


OTHER_FILES = (
    b"",
    b"id\tcnr\nsub-1\t1\n",
    b"cnr\tcnr\tsnr\n1\t2\t3\n",
    b"cnr\tsnr\n1\n",
    b"cnr\tsnr\n1\t2\t3\n",
    b"cnr\tsnr\n1\t2\n\n",
    b"cnr\tsnr\n\xff\t2\n",
    b"\t" * MAX_TABLE_CELLS,
    b"1" * (FORMATS["table"].most_bytes + 1),
)


def test_another_file_is_a_failed_run_and_nothing_of_it_is_repeated(subtests: pytest.Subtests) -> None:
    for content in OTHER_FILES:
        with subtests.test(content=content[:40]), pytest.raises(PipelineError) as error:
            locked().read(content)
        assert "sub-1" not in str(error.value)


@given(st.binary(max_size=300), st.sampled_from(["tsv", "csv", "txt"]))
def test_no_bytes_break_the_reader(content: bytes, ending: str) -> None:
    delimiter = {"tsv": b"\t", "csv": b",", "txt": b" "}[ending]
    shape = locked(f"g.{ending}", TWIN.replace(b"\t", delimiter))
    for tried in (content, b"cnr" + delimiter + b"snr\n" + content):
        try:
            numbers = shape.read(tried)
        except PipelineError:
            continue
        assert all(number is None or math.isfinite(number) for number in numbers)


REFUSED = (
    ([{"column": "cnr", "name": "a"}], "give lower and upper for a mean, or above"),
    ([{"column": "cnr", "name": "a", "lower": 0}], "give lower and upper for a mean, or above"),
    ([{"column": "cnr", "name": "a", "lower": 0, "upper": 1, "above": 2}], "a share is from 0 to 1"),
    ([{"column": "cnr", "name": "a", "lower": 1, "upper": 0}], "lower must be less than upper"),
)


def test_columns_that_make_no_sense_are_refused(subtests: pytest.Subtests) -> None:
    for columns, words in REFUSED:
        with subtests.test(words=words), pytest.raises(InvalidRequest, match=words):
            output_of(columns=columns)
    with pytest.raises(InvalidRequest, match="columns is for"):
        output_of("g.json")
    values = [{"name": "v", "lower": 0, "upper": 1}]
    with pytest.raises(InvalidRequest, match="has values and columns"):
        parse(OutputFile, {"file": "g.tsv", "values": values, "columns": COLUMNS})


def test_a_twin_without_the_column_or_a_number_says_so() -> None:
    with pytest.raises(PipelineError, match="has no column snr, or has it twice"):
        locked(content=b"id\tcnr\nsub-1\t1\n")
    with pytest.raises(PipelineError, match="no finite number at column:snr"):
        locked(content=b"cnr\tsnr\n1\tn/a\n")


def test_forged_locks_are_refused() -> None:
    manifest = make_manifest(outputs=[output_of().model_dump(mode="json")])
    body = locked().model_dump(mode="json")
    other = {"column": "id", "above": None}
    for forged in (
        {**body, "columns": [other, other]},
        {**body, "columns": [body["columns"][0]]},
        {**body, "columns": [other, body["columns"][1]]},
        {"file": "g.tsv", "rows": [[None, None]]},
    ):
        with pytest.raises((InvalidRequest, ValueError)):
            parse(Shape, {"files": [forged]}).check_fits(manifest)


def asks_correlations(count: int) -> Shape:
    """Each asks five means of two columns."""
    return Shape(files=(lock(output_of(columns=correlations(count)), b"x\ty\n1\t0\n0\t1\n", {}),))


def test_a_run_with_more_rows_than_its_turn_has_time_for_has_failed() -> None:
    """Each row is read for each summary of two columns: with 80 correlations of two, of 32,767 rows, that
    took 7 to 24 s, the turns of the people behind."""
    shape, most = asks_correlations(80), MAX_PAIRS // 400
    for rows, is_read in ((most, True), (most + 1, False)):
        run = {"g.tsv": b"x\ty\n" + b"1\t0\n" * (rows - 1)}
        assert len(shape.read(run)) == 400  # as that of a whole twin, which nobody waits for
        if is_read:
            assert len(shape.read_run(run)) == 400
            continue
        with pytest.raises(PipelineError, match=f"more than {most} rows for 400 summaries of two columns"):
            shape.read_run(run)


def test_rows_are_not_counted_where_each_column_is_read_by_itself() -> None:
    rows = MAX_TABLE_CELLS // 2 - 1
    run = {"g.tsv": b"cnr\tsnr\n" + b"1\t0\n" * rows}
    assert Shape(files=(locked(),)).read_run(run) == [1, 0]

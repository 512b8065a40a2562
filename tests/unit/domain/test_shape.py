"""The shape lock reads hostile bytes: whatever a run writes, only numbers in the locked cells come out."""

from __future__ import annotations

import math

import pytest
from factories import make_file_shape, make_manifest, make_output_file, make_shape
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest, PipelineError
from domain.shape import MAX_CELLS, MAX_FILE_BYTES, lock

DELIMITERS = {"tsv": "\t", "csv": ",", "txt": " "}
TWIN = b"name\tmean\nage\t41.5\nheight\t1.7\n"


def locked(content: bytes = TWIN, *, numbers: int = 2, file: str = "result.tsv"):
    return lock(make_output_file(*(f"v{number}" for number in range(numbers)), file=file), content, {})


def read_cell(text: str | bytes) -> float | None:
    content = text if isinstance(text, bytes) else text.encode()
    (number,) = locked(b"x\t1\n", numbers=1).read(b"x\t" + content + b"\n")
    return number


def test_labels_are_locked_and_numbers_open():
    assert locked().rows == (("name", "mean"), ("age", None), ("height", None))


def test_numbers_are_read_in_reading_order():
    assert locked().read(b"name\tmean\nage\t40\nheight\t1.8\n") == [40, 1.8]


def test_other_labels_are_ignored_and_never_come_back():
    shape = locked()
    assert shape.read(b"secret\tsecret\nsecret\t40\nsecret\t2\n") == [40, 2]
    assert shape.write(["40", "2"]) == b"name\tmean\nage\t40\nheight\t2\n"


ROWS_ARE_TOLD_APART_BY_THEIR_LABELS = (
    (b"name\tmean\nheight\t2\nage\t40\n", [40, 2]),
    (b"name\tmean\nage\t40\n", [40, None]),
    (b"name\tmean\nheight\t2\n", [None, 2]),
    (b"name\tmean\nage\t40\nheight\t2\nextra\t3\nextra\t4\n", [40, 2]),
    (b"name\tmean\nextra\t3\nheight\tn/a\nage\t40\n", [40, None]),
)


def test_rows_are_told_apart_by_their_labels(subtests):
    for content, numbers in ROWS_ARE_TOLD_APART_BY_THEIR_LABELS:
        with subtests.test(content=content):
            assert locked().read(content) == numbers


def test_the_first_columns_that_tell_rows_apart_are_enough():
    twin = b"site\tsex\tp\tmean\nA\tF\t<2e-16\t1\nA\tM\t<2e-16\t2\nB\tF\t<2e-16\t3\n"
    shape = locked(twin, numbers=3)
    assert shape.read(twin.replace(b"F\t<2e-16", b"F\t0.4")) == [1, 2, 3]
    assert shape.read(b"x\tx\tx\tx\nB\tF\t-\t7\nA\tM\t-\t8\n") == [None, 8, 7]


def test_rows_without_a_label_of_their_own_are_told_apart_by_place():
    shape = locked(b"name\tmean\nage\t1\nage\t2\n")
    assert shape.read(b"name\tmean\nx\t3\ny\t4\n") == [3, 4]
    with pytest.raises(PipelineError):
        shape.read(b"name\tmean\nage\t3\n")


IS_A_NUMBER = ("0", "-0", "+1", "1.", ".5", "-1.5e-3", "1E10", "00012", "1" * 20)


def test_is_a_number(subtests):
    for text in IS_A_NUMBER:
        with subtests.test(text=text):
            assert read_cell(text) == float(text)


IS_NO_NUMBER = (
    *("nan", "NaN", "inf", "-inf", "Infinity", "1_0", "0x10", "1e999", "1e9999", "1" * 21, "1" * 81),
    *(
        "",
        " ",
        " 1",
        "1 ",
        "１２",
        "٣",
        "½",
        "1,5",
        "1e",
        "e5",
        ".",
        "--1",
        "1\x00",
        "\ufeff1",
        "True",
        "n/a",
    ),
    "0." + "0" * 41,
)


def test_is_no_number(subtests):
    for text in IS_NO_NUMBER:
        with subtests.test(text=text):
            assert read_cell(text) is None


A_FILE_OF_ANOTHER_SHAPE_IS_A_FAILED_RUN = (
    b"",
    b"\n",
    b"name\tmean\nage\t40\nheight\t2\n\n",
    b"name\tmean\nage\t40\nage\t41\n",
    b"name\tmean\nage\t40\nheight\t2\nheight\t2\n",
    b"name\tmean\none\t40\n",
    b"name\tmean\none\t40\ntwo\t2\nthree\t3\n",
    b"name\tmean\nage\t40\t41\nheight\t2\n",
    b"name,mean\nage,40\nheight,2\n",
    b"name\tmean\rage\t40\rheight\t2\r",
    b"name\tmean\nage\t40\nheight\t2\xff\n",
    TWIN.decode().encode("utf-16"),
    b"\x00" * 100,
    b"\t" * MAX_CELLS,
    b"1" * (MAX_FILE_BYTES + 1),
)


def test_a_file_of_another_shape_is_a_failed_run(subtests):
    for content in A_FILE_OF_ANOTHER_SHAPE_IS_A_FAILED_RUN:
        with subtests.test(content=content), pytest.raises(PipelineError):
            locked().read(content)


@pytest.mark.parametrize(
    "content", [TWIN.replace(b"\n", b"\r\n"), TWIN.removesuffix(b"\n"), b"\xef\xbb\xbf" + TWIN]
)
def test_line_ends_and_a_mark_before_a_label_do_not_matter(content):
    assert locked().read(content) == [41.5, 1.7]


def test_errors_do_not_repeat_what_the_file_held():
    with pytest.raises(PipelineError) as error:
        locked().read(b"SECRET\n")
    assert "SECRET" not in str(error.value)


A_TWIN_RUN_THAT_CANNOT_BE_LOCKED_SAYS_WHY = (
    (b"mean\n1\t2\t3\n", "holds 3 numbers, the manifest declares 2: v0, v1"),
    (b"", "holds 0 numbers"),
    (b"\xff", "not UTF-8"),
    (b"\t" * MAX_CELLS, "more than 4096 cells"),
    (b"1" * (MAX_FILE_BYTES + 1), "larger than 65536 bytes"),
    (b"1\t2\n" + b"x" * 1001, "a label of more than 1000 characters"),
    (b"a\r\r\n1\t2", "stray carriage return"),
)


def test_a_twin_run_that_cannot_be_locked_says_why(subtests):
    for content, words in A_TWIN_RUN_THAT_CANNOT_BE_LOCKED_SAYS_WHY:
        with subtests.test(content=content, words=words), pytest.raises(PipelineError, match=words):
            locked(content)


@given(st.binary(max_size=300), st.sampled_from(["tsv", "csv", "txt"]))
def test_no_bytes_break_the_reader(content, ending):
    shape = locked(DELIMITERS[ending].join(["a", "1", "2"]).encode(), file=f"r.{ending}")
    try:
        numbers = shape.read(content)
    except PipelineError:
        return
    assert len(numbers) == 2
    assert all(number is None or math.isfinite(number) for number in numbers)


LABELS = st.text(st.characters(exclude_characters="\t\r\n, ", codec="utf-8"), max_size=8).map(
    lambda text: f"x{text}"
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(
    st.lists(st.lists(st.one_of(LABELS, NUMBERS), min_size=1, max_size=4), min_size=1, max_size=5),
    st.sampled_from(["tsv", "csv", "txt"]),
    st.data(),
)
def test_lock_write_read_round_trip(rows, ending, data):
    rows = [*rows, [1.5]]
    numbers = [cell for row in rows for cell in row if isinstance(cell, float)]
    names = [f"v{number}" for number in range(len(numbers))]
    text = "\n".join(DELIMITERS[ending].join(str(cell) for cell in row) for row in rows)
    if len(names) > 20:
        return
    shape = lock(make_output_file(*names, file=f"out.{ending}"), text.encode(), {})
    assert shape.read(text.encode()) == numbers
    others = data.draw(st.lists(NUMBERS, min_size=len(numbers), max_size=len(numbers)))
    written = shape.write([repr(number) for number in others])
    assert shape.read(written) == others
    assert lock(make_output_file(*names, file=f"out.{ending}"), written, {}) == shape


A_SHAPE_THAT_NO_RUN_HAS_IS_REFUSED = (
    [["a\tb"], [None]],
    [["a\nb"], [None]],
    [["a\r"], [None]],
    [["42"], [None]],
    [[], [None]],
    [["a"] * (MAX_CELLS + 1)],
    [["ä" * 1000]] * 40,
)


def test_a_shape_that_no_run_has_is_refused(subtests):
    for rows in A_SHAPE_THAT_NO_RUN_HAS_IS_REFUSED:
        with subtests.test(rows=rows), pytest.raises(InvalidRequest):
            make_file_shape(rows=rows)


@pytest.mark.parametrize("file", ["result.exe", "../result.tsv", "result"])
def test_a_shape_of_a_file_that_no_manifest_can_declare(file):
    with pytest.raises(InvalidRequest, match="file"):
        make_file_shape(file=file)


def test_write_wants_as_many_numbers_as_there_are_cells():
    with pytest.raises(ValueError, match="holds 2 numbers, got 1"):
        locked().write(["1"])


def test_a_shape_fits_its_own_manifest_only():
    make_shape().check_fits(make_manifest())
    for other in (make_file_shape(file="other.tsv"), make_file_shape(rows=[[None, None]])):
        with pytest.raises(ValueError, match="run the pipeline on the twin again"):
            make_shape(other).check_fits(make_manifest())
    with pytest.raises(ValueError, match="does not fit"):
        make_shape(make_file_shape(), make_file_shape(file="more.tsv")).check_fits(make_manifest())

"""NumPy arrays as outputs, read by hand: no header makes the platform load, allocate or run anything."""

from __future__ import annotations

import io
import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from domain.errors import InvalidRequest, PipelineError
from domain.formats import FORMATS
from domain.model import parse
from domain.pipeline import OutputFile
from domain.shape import MAX_CELLS, NpyShape, lock

EVERYTHING = [{"select": "*", "name": "number", "lower": 0, "upper": 1}]
TWIN = np.array([[1.5, -2, 0], [4, 5, 6]])


def saved(array: Any, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), version=version, allow_pickle=True)
    return file.getvalue()


def locked(content: bytes) -> NpyShape:
    shape = lock(parse(OutputFile, {"file": "r.npy", "bounds": EVERYTHING}), content, {})
    assert isinstance(shape, NpyShape)
    return shape


def with_header(text: str, data: bytes = b"", *, length: int | None = None) -> bytes:
    head = text.encode("latin-1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head) if length is None else length) + head + data


def header(descr: str = "'<f8'", order: str = "False", dims: str = "(2, 3)") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {dims}, }}\n"


def test_an_array_is_its_dimensions_and_its_numbers() -> None:
    shape = locked(saved(TWIN))
    assert shape.dims == (2, 3)
    assert shape.read(saved(TWIN)) == TWIN.ravel().tolist()
    assert shape.addresses == ("[0,0]", "[0,1]", "[0,2]", "[1,0]", "[1,1]", "[1,2]")


def test_every_version_and_order_gives_the_same_numbers(subtests: pytest.Subtests) -> None:
    for version in ((1, 0), (2, 0), (3, 0)):
        for order in ("C", "F"):
            with subtests.test(version=version, order=order):
                content = saved(np.asarray(TWIN, order=order), version)
                assert locked(content).read(content) == TWIN.ravel().tolist()


KINDS = [
    "i1",
    "u1",
    *(f"{order}{kind}" for order in "<>" for kind in ("i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")),
]


def test_a_run_may_write_another_kind_of_number_than_the_twins(subtests: pytest.Subtests) -> None:
    for kind in KINDS:
        with subtests.test(kind=kind):
            array = np.array([[1, 2, 3], [4, 5, 6]], dtype=kind)
            assert locked(saved(TWIN)).read(saved(array)) == [1, 2, 3, 4, 5, 6]


@given(
    arrays.arrays(
        st.sampled_from([np.dtype(kind) for kind in KINDS]), arrays.array_shapes(max_dims=4, max_side=3)
    ),
    st.sampled_from("CF"),
)
def test_what_numpy_saves_is_read_and_what_is_written_loads(array: Any, order: Any) -> None:
    content = saved(np.asarray(array, order=order))
    shape = NpyShape(file="r.npy", dims=array.shape)
    expected = [value if math.isfinite(value) else None for value in map(float, array.ravel().tolist())]
    assert shape.read(content) == expected
    numbers = [float(position) / 4 for position in range(shape.numbers)]
    back = np.load(io.BytesIO(shape.write([repr(number) for number in numbers])), allow_pickle=False)
    assert back.dtype == np.dtype("<f8")
    assert back.shape == array.shape
    assert back.ravel().tolist() == numbers
    assert shape.read(shape.write([repr(number) for number in numbers])) == numbers


@pytest.mark.parametrize("dims", [(), (1,), (5,), (1, 1, 1, 1, 1, 1, 1, 1)])
def test_a_written_header_is_as_numpy_writes_it(dims: tuple[int, ...]) -> None:
    shape = locked(saved(np.ones(dims)))
    assert shape.write(["1"] * shape.numbers) == saved(np.ones(dims, dtype="<f8"))


def test_numbers_that_are_not_finite_are_none() -> None:
    assert locked(saved([1.0, 2, 3])).read(saved([np.nan, np.inf, 3])) == [None, None, 3]
    with pytest.raises(PipelineError, match=r"no finite number at \[1\]"):
        locked(saved([1.0, np.nan]))


ANOTHER_FILE_IS_A_FAILED_RUN = (
    b"",
    b"\x93NUMPY",
    b"\x93NUMPY\x01\x00",
    b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
    b"\x93NUMPY\x04\x00" + saved(TWIN)[8:],
    b"PK\x03\x04" + b"\x00" * 200,
    saved(TWIN)[:-1],
    saved(TWIN) + b"\x00",
    saved(TWIN.T),
    saved(TWIN.ravel()),
    saved(TWIN[None]),
    saved(TWIN > 1),
    saved(TWIN + 1j),
    saved(TWIN.astype("g")),
    saved(TWIN.astype("U4")),
    saved(TWIN.astype("S4")),
    saved(TWIN.astype("datetime64[s]")),
    saved(np.array([[1, None, "x"], [4, 5, 6]], dtype=object)),
    saved(np.zeros((2, 3), dtype=[("a", "<f8"), ("b", "<i4")])),
    with_header(header(), b"\x00" * 48, length=60_000),
    with_header(header(dims="(2, 3, 1000000000, 1000000000)"), b"\x00" * 48),
    with_header(header(dims="(-2, 3)"), b"\x00" * 48),
    with_header(header(dims="(2L, 3L)"), b"\x00" * 48),
    with_header(header(dims="(2, 3"), b"\x00" * 48),
    with_header(header(dims="(6)"), b"\x00" * 48),
    with_header(header(dims="6"), b"\x00" * 48),
    with_header(header(dims="'<f8'"), b"\x00" * 48),
    with_header(header(dims="(2, 3), 'more': (2, 3)"), b"\x00" * 48),
    with_header(header(dims="(2, 3), 'shape': (2, 3)"), b"\x00" * 48),
    with_header(header(dims="__import__('os')"), b"\x00" * 48),
    with_header(header(order="1"), b"\x00" * 48),
    with_header(header(order="'True'"), b"\x00" * 48),
    with_header(header(descr="'<f8', 'descr': '|O'"), b"\x00" * 48),
    with_header(header(descr="'|O'"), b"\x00" * 48),
    with_header(header(descr="'<f16'"), b"\x00" * 96),
    with_header(header(descr="'<f9'"), b"\x00" * 54),
    with_header(header(descr="[('a', '<f8')]"), b"\x00" * 48),
    with_header(header().replace("'", '"'), b"\x00" * 48),
    with_header("{" * 3000, b"\x00" * 48),
    with_header("{" + " " * 3000, b"\x00" * 48),
    b"\x00" * (FORMATS["npy"].most_bytes + 1),
)


def test_another_file_is_a_failed_run(subtests: pytest.Subtests) -> None:
    for content in ANOTHER_FILE_IS_A_FAILED_RUN:
        with subtests.test(content=content), pytest.raises(PipelineError):
            NpyShape(file="r.npy", dims=(2, 3)).read(content)


def test_what_a_twins_run_cannot_be_is_said() -> None:
    for array, words in (
        (TWIN > 1, "truth values as 0 and 1"),
        (np.zeros((0, 3)), "arrays have 1 to 4096 numbers"),
        (np.zeros(MAX_CELLS + 1), "arrays have 1 to 4096 numbers"),
        (np.zeros((64, 65)), "arrays have 1 to 4096 numbers"),
        (np.zeros((1,) * 9), "at most 8 axes"),
        (np.zeros(401), "holds 401 numbers; at most 400 can be released"),
    ):
        with pytest.raises(PipelineError, match=words):
            locked(saved(array))


def test_dimensions_that_no_run_has_are_refused(subtests: pytest.Subtests) -> None:
    for dims in ([0], [-1], [MAX_CELLS, 2], [1] * 9, [1.5], ["2"]):
        with subtests.test(dims=dims), pytest.raises(InvalidRequest):
            parse(NpyShape, {"format": "npy", "file": "r.npy", "dims": dims})


def test_write_wants_as_many_numbers_as_there_are() -> None:
    with pytest.raises(ValueError, match="holds 6 numbers, got 1"):
        NpyShape(file="r.npy", dims=(2, 3)).write(["1"])


VALID = saved(TWIN)


@given(
    st.binary(max_size=200)
    | st.lists(st.tuples(st.integers(0, len(VALID) - 1), st.integers(0, 255)), max_size=6)
)
def test_no_bytes_break_the_reader(change: bytes | list[tuple[int, int]]) -> None:
    content = bytearray(VALID)
    if isinstance(change, bytes):
        content = bytearray(b"\x93NUMPY\x01\x00" + change)
    else:
        for place, byte in change:
            content[place] = byte
    try:
        numbers = NpyShape(file="r.npy", dims=(2, 3)).read(bytes(content))
    except PipelineError:
        return
    assert len(numbers) == 6
    assert all(number is None or math.isfinite(number) for number in numbers)

"""Versions 4 and 5 of MATLAB files (-v4, -v6, -v7) against scipy, and against themselves."""

import struct
import zlib

import numpy as np
import pytest
import scipy.sparse
from matlab_samples import OUTPUT, Structs, locked, scipy_file, scipy_read
from scipy.io.matlab import MatlabObject

from domain.errors import PipelineError
from domain.outputs import name_values
from domain.shape import Shape
from domain.shape.matlab5_write import HEADER

MATRIX = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, np.inf]])
PLAIN = {"mean": MATRIX, "label": np.array(["abc", "def"]), "one": 7.0}
NESTED = {
    "mean": MATRIX,
    "stats": {"beta": np.array([1, -2], "int16"), "se": np.float32(0.5), "deep": {"q": 9.0}},
    "people": Structs(({"age": 30.0, "name": "ann"}, {"age": np.arange(4.0).reshape(2, 2), "name": "bob"})),
    "parts": [1.5, "grüße", np.array([[True, False]])],
    "cube": np.arange(8.0).reshape(2, 2, 2),
    "none": np.zeros((0, 3)),
}
WRITTEN_AS = [(PLAIN, {"format": "4"}), (NESTED, {}), (NESTED, {"do_compression": True})]


@pytest.mark.parametrize(("arrays", "options"), WRITTEN_AS)
def test_what_scipy_writes_comes_back_with_other_numbers(arrays, options):
    content = scipy_file(arrays, **options)
    shape = locked(content)
    numbers = [f"{position}.25" for position in range(shape.numbers)]
    written = shape.write(numbers)
    assert shape.read(written) == [float(number) for number in numbers]
    before, after = scipy_read(content), scipy_read(written)
    assert set(before) == set(after)
    left = iter(map(float, numbers))
    for name in arrays:
        _check_same_but_numbers(before[name], after[name], left)
    assert next(left, None) is None


def _check_same_but_numbers(before: np.ndarray, after: np.ndarray, left) -> None:
    assert before.shape == after.shape
    if before.dtype.names:
        for one, other in zip(before.T.flat, after.T.flat, strict=True):
            for name in before.dtype.names:
                _check_same_but_numbers(one[name], other[name], left)
    elif before.dtype == object:
        for one, other in zip(before.T.flat, after.T.flat, strict=True):
            _check_same_but_numbers(one, other, left)
    elif before.dtype.kind == "U" or after.dtype == np.uint8:  # texts and truth values
        assert before.tolist() == after.tolist()
    else:
        assert after.dtype == np.float64
        assert after.T.ravel().tolist() == [next(left) for _ in range(after.size)]


def test_numbers_come_column_by_column_with_an_address_each():
    shape = locked(scipy_file(NESTED))
    read = dict(zip(shape.addresses, shape.read(scipy_file(NESTED)), strict=True))
    assert read["mean[2,1]"] == 4
    assert read["mean[1,2]"] == 2
    assert read["mean[2,3]"] is None  # infinite
    assert read["stats.beta[1,2]"] == -2
    assert read["stats.deep.q[1,1]"] == 9
    assert read["people[1,2].age[2,1]"] == 2
    assert read["parts[1,1][1,1]"] == 1.5
    assert read["cube[1,2,1]"] == 2
    assert len(read) == shape.numbers == 24


def test_bounds_go_by_field():
    bounds = [
        {"select": "stats.beta", "name": "beta", "lower": -5, "upper": 5},
        {"select": "people", "name": "age", "lower": 0, "upper": 100},
        {"select": "*", "name": "rest", "lower": 0, "upper": 1},
    ]
    values = name_values(OUTPUT.model_copy(update={"bounds": _parsed(bounds)}), locked(scipy_file(NESTED)))
    assert [value.name for value in values if value.upper > 1] == [
        "beta-1", "beta-2", "age-1", "age-2", "age-3", "age-4", "age-5",
    ]  # fmt: skip


def _parsed(bounds):
    return type(OUTPUT)(file=OUTPUT.file, bounds=bounds).bounds


def test_every_class_of_numbers(subtests):
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
        with subtests.test(kind=kind):
            content = scipy_file({"a": np.array([[1, 2], [3, 100]], kind)})
            assert locked(content).read(content) == [1, 3, 2, 100]


def test_version_4_in_every_type_and_order(subtests):
    for stored in ("d", "f", "i", "h", "H", "B"):
        for order in ("<", ">"):
            with subtests.test(stored=stored, order=order):
                kind = 10 * "dfihHB".index(stored) + (1000 if order == ">" else 0)
                content = struct.pack(f"{order}5i2s3{stored}", kind, 1, 3, 0, 2, b"a\0", 1, 2, 200)
                assert locked(content).read(content) == [1, 2, 200]


def test_version_5_of_the_other_byte_order():
    body = struct.pack(">IIII", 6, 8, 6, 0) + struct.pack(">IIii", 5, 8, 1, 2)
    body += struct.pack(">HH4s", 1, 1, b"a") + struct.pack(">II2d", 9, 16, 1.5, -3)
    content = HEADER + struct.pack(">H", 0x100) + b"MI" + struct.pack(">II", 14, len(body)) + body
    assert locked(content).read(content) == [1.5, -3]
    assert scipy_read(content)["a"].tolist() == [[1.5, -3]]  # so it is one


def test_texts_and_truth_values_are_the_twins():
    shape = locked(scipy_file({"site": "north", "well": np.array([[True]]), "mean": 1.0}))
    private = scipy_file({"site": "ABCDE", "well": np.array([[False]]), "mean": 2.0})
    assert shape.read(private) == [2]
    released = scipy_read(shape.write(["5"]))
    assert (released["site"][0], released["well"][0, 0], released["mean"][0, 0]) == ("north", 1, 5)


@pytest.mark.parametrize("number", [3, 3.0, np.float32(3), np.uint8(3)])
def test_a_number_may_be_of_any_class(number):
    """scipy writes 3 as an integer and 3.0 as a double: the values must not decide whether a run fails."""
    assert locked(scipy_file({"n": 2.5})).read(scipy_file({"n": number})) == [3]


ANOTHER_STRUCTURE_IS_REFUSED = (
    {},
    {"mean": 1.0},
    {"mean": 1.0, "site": "a", "more": 1.0},
    {"site": "a", "mean": 1.0},
    {"mean": 1.0, "place": "a"},
    {"mean": np.array([[True]]), "site": "a"},
    {"mean": np.ones((1, 2)), "site": "a"},
    {"mean": 1.0, "site": "ab"},
    {"mean": {"mean": 1.0}, "site": "a"},
    {"mean": [1.0], "site": "a"},
)


def test_another_structure_is_refused(subtests):
    for other in ANOTHER_STRUCTURE_IS_REFUSED:
        with subtests.test(other=other):
            shape = locked(scipy_file({"mean": 1.0, "site": "a"}))
            with pytest.raises(PipelineError, match="other variables, fields or dimensions"):
                shape.read(scipy_file(other))


WHAT_HOLDS_NO_PLAIN_NUMBERS_IS_REFUSED_BY_NAME = (
    (scipy.sparse.csc_array(np.eye(3)), "sparse array; write full"),
    (np.array([1 + 2j]), "complex numbers; write real"),
    (MatlabObject(np.zeros((1, 1), dtype=[("a", "O")]), "thing"), "an object"),
    ({"deep": [scipy.sparse.csc_array(np.eye(3))]}, "sparse array"),
    (np.zeros((65, 65)), "more than 4096 numbers"),
    (np.zeros((65_537, 1), bool), "more than 65536 elements"),
)


def test_what_holds_no_plain_numbers_is_refused_by_name(subtests):
    for value, words in WHAT_HOLDS_NO_PLAIN_NUMBERS_IS_REFUSED_BY_NAME:
        with subtests.test(value=value, words=words), pytest.raises(PipelineError, match=words):
            locked(scipy_file({"a": value}))


@pytest.mark.parametrize(
    ("number", "words"), [(16, "function handle"), (17, "string or table"), (99, "unknown")]
)
def test_what_scipy_does_not_write_is_refused_by_name(number, words):
    content = scipy_file({"a": 1.0}).replace(struct.pack("<II", 6, 0), struct.pack("<II", number, 0))
    with pytest.raises(PipelineError, match=words):
        locked(content)


def test_a_release_is_the_same_bytes_each_time_and_says_who_wrote_it():
    shape = locked(scipy_file(NESTED, do_compression=True))
    numbers = ["1"] * shape.numbers
    assert shape.write(numbers) == shape.write(numbers)
    assert shape.write(numbers).startswith(b"MATLAB 5.0 MAT-file, written by dpgate  ")
    with pytest.raises(ValueError, match="holds 24 numbers, got 1"):
        shape.write(["1"])


def test_compressed_stays_compressed():
    zeros = {"a": np.zeros((60, 60))}
    plain, packed = locked(scipy_file(zeros)), locked(scipy_file(zeros, do_compression=True))
    assert len(packed.write(["0"] * 3600)) < 1000 < len(plain.write(["0"] * 3600))


@pytest.mark.parametrize(("kind", "encoding"), [(16, "utf-8"), (17, "utf-16-le"), (18, "utf-32-le")])
def test_texts_in_every_encoding(kind, encoding):
    text = "grüße".encode(encoding)
    body = (
        struct.pack("<IIII", 6, 8, 4, 0) + struct.pack("<IIii", 5, 8, 1, 5) + struct.pack("<HH4s", 1, 1, b"a")
    )
    body += struct.pack("<II", kind, len(text)) + text + b"\0" * (-len(text) % 8)
    content = HEADER + struct.pack("<H", 0x100) + b"IM" + struct.pack("<II", 14, len(body)) + body
    assert locked(content).variables[0].value.text == "grüße"


@pytest.mark.parametrize("packed", [False, True])
def test_the_length_that_octave_counts_wrong(packed):
    body = (
        struct.pack("<IIII", 6, 8, 4, 0) + struct.pack("<IIii", 5, 8, 2, 2) + struct.pack("<HH4s", 1, 1, b"t")
    )
    matrix = struct.pack("<II", 14, len(body) + 12) + body + struct.pack("<HH4s", 16, 4, b"acbd")
    if packed:
        matrix = struct.pack("<II", 15, len(zlib.compress(matrix))) + zlib.compress(matrix)
    content = HEADER + struct.pack("<H", 0x100) + b"IM" + matrix
    assert locked(content).variables[0].value.text == "acbd"
    assert scipy_read(content)["t"].tolist() == ["ab", "cd"]


@pytest.mark.parametrize(("arrays", "options"), WRITTEN_AS)
def test_a_shape_survives_its_way_through_json(arrays, options):
    shape = Shape(files=(locked(scipy_file(arrays, **options)),))
    assert Shape.model_validate_json(shape.model_dump_json()) == shape

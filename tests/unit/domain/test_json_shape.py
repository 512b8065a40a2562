"""JSON outputs: whatever a run writes, only numbers at the twin's places come out."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest, PipelineError
from domain.model import parse
from domain.pipeline import OutputFile
from domain.shape import MAX_CELLS, JsonShape, lock
from domain.shape.json_leaves import MAX_DEPTH

TWIN = b'{"model": {"beta": [1.5, -2], "name": "ols"}, "n": 60, "ok": true, "note": null}\n'
EVERYTHING = [{"select": "*", "name": "number", "lower": 0, "upper": 1}]


def locked(content: bytes = TWIN) -> JsonShape:
    output = parse(OutputFile, {"file": "r.json", "bounds": EVERYTHING})
    shape = lock(output, content, {})
    assert isinstance(shape, JsonShape)
    return shape


def test_numbers_are_open_and_all_else_is_the_twins() -> None:
    shape = locked()
    assert shape.numbers == 3
    assert shape.read(TWIN) == [1.5, -2, 60]
    assert shape.write(["0.5", "7", "-1"]) == TWIN.replace(b"1.5, -2", b"0.5, 7").replace(b"60", b"-1")


def test_addresses_are_json_pointers() -> None:
    assert locked().addresses == ("/model/beta/0", "/model/beta/1", "/n")
    assert locked(b'{"a/b": {"m~n": 1}, "": 2}').addresses == ("/a~1b/m~0n", "/")
    assert locked(b" 4 ").addresses == ("",)


def test_keys_may_come_in_another_order() -> None:
    other = b'{"note": "x", "n": 5, "ok": false, "model": {"name": "secret", "beta": [1, 2]}}'
    assert locked().read(other) == [1, 2, 5]


def test_labels_of_a_run_never_come_back() -> None:
    shape = locked()
    assert shape.read(TWIN.replace(b'"ols"', b'"sub-07"').replace(b"true", b"42")) == [1.5, -2, 60]
    assert b"sub-07" not in shape.write(["1", "2", "3"])


A_PLACE_WITHOUT_A_FINITE_NUMBER_HAS_NONE = (
    "null",
    "NaN",
    "Infinity",
    "-Infinity",
    '"n/a"',
    '"1"',
    "true",
    "1e999",
    "1" * 21,
    "0." + "1" * 39,
)


def test_a_place_without_a_finite_number_has_none(subtests: pytest.Subtests) -> None:
    for text in A_PLACE_WITHOUT_A_FINITE_NUMBER_HAS_NONE:
        with subtests.test(text=text):
            assert locked(b'{"x": 1}').read(f'{{"x": {text}}}'.encode()) == [None]


JSON_NUMBERS_ARE_READ_AS_THEY_ARE = ("0", "-0", "1.5", "-1.5e-3", "1E10", "1e+5", "1" * 20, "0." + "1" * 38)


def test_json_numbers_are_read_as_they_are(subtests: pytest.Subtests) -> None:
    for text in JSON_NUMBERS_ARE_READ_AS_THEY_ARE:
        with subtests.test(text=text):
            assert locked(b'{"x": 1}').read(f'{{"x": {text}}}'.encode()) == [float(text)]


ANOTHER_SHAPE_IS_A_FAILED_RUN = (
    b"",
    b"{}",
    b"null",
    b"[1.5, -2, 60]",
    TWIN[:-2],
    TWIN + b"1",
    TWIN.replace(b", -2", b""),
    TWIN.replace(b"-2", b"-2, 3"),
    TWIN.replace(b"-2", b"[-2]"),
    TWIN.replace(b'"ols"', b"{}"),
    TWIN.replace(b'"n": 60', b'"n": 60, "n": 61'),
    TWIN.replace(b"60", b"060"),
    TWIN.replace(b"60", b"+60"),
    TWIN.replace(b"60", b".5"),
    TWIN.replace(b"60", b"0x1f"),
    TWIN.replace(b"60", b"6_0"),
    TWIN.replace(b"60", b"60,"),
    TWIN.replace(b'"', b"'"),
    TWIN.replace(b"ols", b"o\nls"),
    TWIN.replace(b"ols", b"\\x"),
    TWIN.replace(b"ols", b"\xff"),
    b"\xef\xbb\xbf" + TWIN,
    TWIN.decode().encode("utf-16"),
    b"// a comment\n" + TWIN,
)


def test_another_shape_is_a_failed_run(subtests: pytest.Subtests) -> None:
    for content in ANOTHER_SHAPE_IS_A_FAILED_RUN:
        with subtests.test(content=content), pytest.raises(PipelineError):
            locked().read(content)


A_KEY_THAT_IS_LEFT_OUT_LEAVES_ITS_NUMBERS_OUT = (
    (TWIN.replace(b'"n"', b'"m"'), [1.5, -2, None]),
    (b'{"n": 5}', [None, None, 5]),
    (b'{"n": 5, "model": {}}', [None, None, 5]),
    (b'{"n": 5, "model": {"beta": [1, null], "more": [7]}, "rest": {"n": 1}}', [1, None, 5]),
)


def test_a_key_that_is_left_out_leaves_its_numbers_out(subtests: pytest.Subtests) -> None:
    for content, numbers in A_KEY_THAT_IS_LEFT_OUT_LEAVES_ITS_NUMBERS_OUT:
        with subtests.test(content=content):
            assert locked().read(content) == numbers


def test_a_list_in_the_place_of_an_object_is_another_shape() -> None:
    shape = locked(b'{"a": {"0": 1}, "n": 2}')
    assert shape.read(b'{"a": {}, "n": 2}') == [None, 2]
    for other in (b'{"a": [1], "n": 2}', b'{"a": 1, "n": 2}', b'[{"0": 1}, 2]'):
        with pytest.raises(PipelineError):
            shape.read(other)


def test_an_empty_list_stays_empty() -> None:
    shape = locked(b'{"x": 1, "y": [], "z": {}}')
    assert shape.read(b'{"z": {}, "y": [], "x": 2}') == [2]
    for other in (
        b'{"x": 1, "y": {}, "z": []}',
        b'{"x": 1, "y": null, "z": {}}',
        b'{"x": 1, "y": [], "z": 1}',
    ):
        with pytest.raises(PipelineError):
            shape.read(other)


A_TWIN_RUN_THAT_CANNOT_BE_LOCKED_SAYS_WHY = (
    (b'{"x": NaN}', "NaN, an infinity or a number of too many digits; write null"),
    (b'{"x": ' + b"1" * 21 + b"}", "too many digits"),
    (b'{"x": 1e999}', "no finite number at /x"),
    (b'{"x": "1"}', "the bounds of '\\*' fit no number; the file holds none: n/a, nan, inf and"),
    (b"[" * (MAX_DEPTH + 2) + b"]" * (MAX_DEPTH + 2), "nested more than 16 deep"),
    (b"[" * 60_000, "nested more than 16 deep"),
    (b'{"x":' * 10_000, "nested more than 16 deep"),
    (b"[" + b"1," * MAX_CELLS + b"1]", "more than 4096 values"),
    (b"[" + b"1, " * 30_000 + b"1]", "larger than 65536 bytes"),
    (b'{"' + b"k" * 2000 + b'": 1}', "keys of more than 1000 characters"),
    (b'{"\\ud800": 1}', "a key that is no text"),
    (b'{"a": 1, "\\u0061": 2}', "one key twice"),
    (b"[1 2]", "not valid JSON"),
    (b"\xff", "not UTF-8"),
)


def test_a_twin_run_that_cannot_be_locked_says_why(subtests: pytest.Subtests) -> None:
    for content, words in A_TWIN_RUN_THAT_CANNOT_BE_LOCKED_SAYS_WHY:
        with subtests.test(content=content, words=words), pytest.raises(PipelineError, match=words):
            locked(content)


def test_errors_do_not_repeat_what_the_file_held() -> None:
    with pytest.raises(PipelineError) as error:
        locked().read(b'{"SECRET": 1}')
    assert "SECRET" not in str(error.value)


A_SHAPE_THAT_NO_RUN_HAS_IS_REFUSED = (
    ["{"],
    ["[", "]", "]"],
    ["1"],
    ['{"x": 1', "}"],
    ["[", ",1]"],
    ["\ud800", ""],
    ["[", "0]"],
)


def test_a_shape_that_no_run_has_is_refused(subtests: pytest.Subtests) -> None:
    for parts in A_SHAPE_THAT_NO_RUN_HAS_IS_REFUSED:
        with subtests.test(parts=parts), pytest.raises(InvalidRequest):
            parse(JsonShape, {"format": "json", "file": "r.json", "parts": parts})


TREES = st.recursive(
    st.one_of(
        st.integers(-(10**18), 10**18),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        st.text(max_size=9),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def numbers_of(tree: Any) -> list[float]:
    if isinstance(tree, dict | list):
        inner = tree.values() if isinstance(tree, dict) else tree
        return [number for part in inner for number in numbers_of(part)]
    return [float(tree)] if isinstance(tree, int | float) and not isinstance(tree, bool) else []


@given(
    st.lists(TREES, max_size=3).map(lambda parts: [*parts, 1.5]), st.sampled_from([None, 2]), st.booleans()
)
def test_what_pythons_json_writes_is_locked_read_and_written(
    tree: list[Any], indent: int | None, plain: bool
) -> None:
    content = json.dumps(tree, indent=indent, ensure_ascii=plain).encode()
    shape = locked(content)
    numbers = numbers_of(tree)
    assert shape.read(content) == numbers
    others = [float(position) for position in range(len(numbers))]
    written = shape.write([repr(number) for number in others])
    assert numbers_of(json.loads(written)) == others
    assert locked(written) == shape == parse(JsonShape, shape.model_dump(mode="json"))


@given(
    st.binary(max_size=200) | st.text(st.sampled_from('[]{},:"\\1-.e0tnN \n'), max_size=60).map(str.encode)
)
def test_no_bytes_break_the_reader(content: bytes) -> None:
    try:
        numbers = locked().read(content)
    except PipelineError:
        return
    assert len(numbers) == 3
    assert all(number is None or math.isfinite(number) for number in numbers)

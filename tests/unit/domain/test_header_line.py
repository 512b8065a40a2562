"""Names of columns from a header line: nothing that could be data is taken, repeated or kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest
from domain.header_line import MAX_BYTES, column_names, line_dialect
from domain.usual_ranges import BY_KEY, RANGES, suggested

A_LINE_OF_NAMES = (
    (b"participant_id\tage\tsex\n", ("participant_id", "age", "sex")),
    (b"id,age,sex\r\n", ("id", "age", "sex")),
    (b"id;age;sex", ("id", "age", "sex")),
    (b'"id, of a person","age"', ("id, of a person", "age")),
    ("\ufeffid, größe ".encode(), ("id", "größe")),
    (b"only", ("only",)),
)


def test_a_line_of_names(subtests: pytest.Subtests):
    for line, names in A_LINE_OF_NAMES:
        with subtests.test(line=line, names=names):
            assert column_names(line) == names


EVERYTHING_ELSE_IS_REFUSED = (
    b"id,age\n1,34\n",
    b"id,age\r1,34",
    b"id,age\n\n",
    b"id,34",
    b"sub-01,f,warsaw",
    b"anna,2001-03-02",
    b"anna,2.3.2001",
    b"anna@example.org,f",
    b"id,-1.5e3",
    b"",
    b"   ",
    b"id,,age",
    b"id,age,id",
    b"\xff\xfe",
    b"id,\x00",
    b'id,"age',
    b"x" * 201,
    b"x," * MAX_BYTES,
    b",".join(b"c%d" % number for number in range(5001)),
)


def test_everything_else_is_refused(subtests: pytest.Subtests):
    for content in EVERYTHING_ELSE_IS_REFUSED:
        with subtests.test(content=content), pytest.raises(InvalidRequest):
            column_names(content)


@given(st.text(alphabet='abc0123456789XYZ.-,;\t\n" ', min_size=8).map(str.encode))
def test_no_refusal_repeats_what_was_sent(content: bytes):
    """A secret long enough to be recognised stands in no message."""
    secret = b"kowalski-4711"
    with pytest.raises(InvalidRequest) as caught:
        column_names(content + b"\n" + secret)
    assert secret.decode() not in str(caught.value)
    with pytest.raises(InvalidRequest) as caught:
        column_names(b"a,12," + secret)
    assert secret.decode() not in str(caught.value)


A_NAME_SUGGESTS_A_USUAL_RANGE = (
    ("age", "age"),
    ("AgeAtVisit", "age"),
    ("blood_pressure_systolic", "systolic"),
    ("mean_rt", "reaction-time"),
    ("HR", "heart-rate"),
    ("reaction_time_ms", "reaction-time"),
)


def test_a_name_suggests_a_usual_range(subtests: pytest.Subtests):
    for column, key in A_NAME_SUGGESTS_A_USUAL_RANGE:
        with subtests.test(column=column, key=key):
            assert suggested(column) == BY_KEY[key]


def test_parts_of_words_suggest_nothing(subtests: pytest.Subtests):
    for column in ("page", "start", "charge", "site", "", "\x00"):
        with subtests.test(column=column):
            assert suggested(column) is None


def test_every_usual_range_is_a_range_with_a_reason():
    assert len(BY_KEY) == len(RANGES)
    for usual in RANGES:
        assert usual.lower < usual.upper
        assert usual.why.endswith(".")
        assert usual.kind == "number" or float(usual.lower).is_integer()


DIALECTS = (
    (b"a,b", {}),
    (b"a\tb", {"delimiter": "tab"}),
    (b"a|b", {"delimiter": "|"}),
    (b"\xef\xbb\xbfa;b", {"delimiter": ";"}),
    ("Größe;Straße".encode(), {"delimiter": ";"}),
    ("Größe;Straße".encode("cp1252"), {"delimiter": ";", "encoding": "windows-1252"}),
)


def test_what_a_line_shows_of_its_dialect(subtests: pytest.Subtests) -> None:
    for line, dialect in DIALECTS:
        with subtests.test(line=line):
            assert line_dialect(line) == dialect
            assert len(column_names(line)) == 2
    assert column_names(DIALECTS[-1][0]) == ("Größe", "Straße")

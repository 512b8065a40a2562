"""What pages say of numbers: never more than is so, and in the words of the glossary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from factories import make_source
from hypothesis import given
from hypothesis import strategies as st

from domain.release import ReleasedValue
from gateway.pages import layout, pictures, source_code
from gateway.pages.words import WORDS

GLOSSARY = Path(__file__).parents[3] / "docs" / "explanation" / "glossary.md"


def test_every_word_stands_in_the_glossary_with_the_same_meaning():
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", GLOSSARY.read_text(encoding="utf-8"), flags=re.M)
    meanings = {re.sub(r"[*`]", "", meaning).strip() for _, meaning in rows}
    assert {word: meaning for word, meaning in WORDS.items() if meaning not in meanings} == {}


@pytest.mark.parametrize(
    ("value", "half", "said"),
    [
        (41.53, 3.9, "41.5"),
        (1.69, 0.052, "1.690"),
        (-3.2, 15, "−3"),
        (0.5, None, "0.5"),
        (12345.6, 200, "12,346"),
    ],
)
def test_a_value_has_the_digits_that_its_noise_leaves(value: float, half: float | None, said: str):
    assert pictures.rounded(value, half) == said


@given(
    value=st.floats(-1e6, 1e6),
    half=st.floats(0.001, 1e6),
    lower=st.floats(-1e5, 0),
    width=st.floats(0.01, 1e5),
)
def test_everything_that_is_drawn_lies_inside_the_drawing(
    value: float, half: float, lower: float, width: float
):
    released = ReleasedValue(name="v", value=value, grid_step=1, lower_95=value - half, upper_95=value + half)
    (strip,) = pictures.strips([released], {"v": (lower, lower + width)}, together=False)
    assert strip.noise is not None
    assert strip.bounds is not None
    ends = [strip.point, strip.noise.start, strip.noise.end, strip.bounds.start, strip.bounds.end]
    places = [float(end.removesuffix("%")) for end in ends]
    assert all(0 <= place <= 100 for place in places)
    assert places[1] <= places[0] <= places[2]
    assert strip.says_little == (2 * half > pictures.WIDE * ((lower + width) - lower))


def test_a_value_without_an_interval_is_a_point():
    (strip,) = pictures.strips([ReleasedValue(name="v", value=3, grid_step=1)], {}, together=False)
    assert (strip.noise, strip.bounds, strip.plus_minus, strip.point) == (None, None, "", "50.00%")


def test_hidden_characters_of_code_are_shown():
    hostile = "access = 'user\u202e \u2066# check\u2069 \u2066'\x0cnot_a_line()\r\nnext\rstill\n"
    (shown,) = source_code.shown([make_source(content=hostile.encode())])
    assert shown.odd
    assert len(shown.lines) == 3
    assert "⟨U+202E⟩" in shown.lines[0]
    assert "⟨U+000C⟩" in shown.lines[0]
    assert shown.lines[1] == "next⟨U+000D⟩still"
    (binary,) = source_code.shown([make_source(content=b"\xff\xfe\x00")])
    assert not binary.is_text


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.1, "0.1"), (-2.5, "−2.5"), (1 / 3, "0.333333"), (None, ""), (12_000_000, "12000000")],
)
def test_numbers_have_no_more_digits_than_readers_need(value: float | None, said: str):
    assert layout.number(value) == said

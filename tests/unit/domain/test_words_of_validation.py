"""Whatever the validator finds, the words are the platform's own: what is wrong, what is allowed, the fix."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core.core_schema import ErrorType

from domain.errors import FieldProblem, InvalidRequest
from domain.model import OWN_WORDS, Model, invalid, parse
from domain.refusals import fields

UNION = {"union_tag_invalid", "union_tag_not_found"}
IS_SAID = {"default_factory_not_called"}


def finding(kind: str) -> dict[str, Any]:
    bounds = dict.fromkeys(("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length"), 7)
    named = {"discriminator": "'name'", "expected": "'a' or 'b'", "pattern": "^[01]*$"}
    told: dict[str, Any] = defaultdict(str, bounds | named)
    return {"type": kind, "loc": ("size",), "msg": "Input should be VALIDATOR", "ctx": told}


def said(kind: str) -> FieldProblem:
    (problem,) = invalid([finding(kind)]).problems
    return problem


def test_no_finding_is_told_in_the_words_of_the_validator(subtests: pytest.Subtests) -> None:
    for kind in (*get_args(ErrorType), "of a later version"):
        if kind in IS_SAID | OWN_WORDS.keys():
            continue
        with subtests.test(kind=kind):
            problem = said(kind)
            assert "VALIDATOR" not in problem.sentence
            assert problem.field in ("size", "size.name", "body")
            assert problem.fix or kind in fields.CHOICES


def test_every_size_says_which_are_allowed(subtests: pytest.Subtests) -> None:
    assert fields.SIZES.keys() < set(get_args(ErrorType))
    for kind in fields.SIZES:
        with subtests.test(kind=kind):
            assert ("7" in said(kind).fix) is (kind != "finite_number")


class Named(Model):
    name: str


def test_what_yaml_makes_of_a_word_or_a_comma_is_said_with_the_way_out() -> None:
    with pytest.raises(
        InvalidRequest, match=r"^name: is not text\. Write text; in YAML, put it in quotes\.$"
    ):
        parse(Named, {"name": False})
    # `{lower: 1,50}`
    with pytest.raises(
        InvalidRequest, match=r"^within: has 50 for a name\. .* with a point: 1\.5, not 1,5\.$"
    ):
        parse(Named, {"name": "a", 50: None}, within="within")


def test_a_bound_is_written_as_a_person_writes_it() -> None:
    with pytest.raises(ValidationError) as found:
        TypeAdapter(dict[str, float]).validate_python({"a": "x"})
    assert invalid(found.value.errors()).problems[0].fix == "Write a number."
    assert fields.size_of("less_than_equal", {"le": 1e9})[1] == "Use 1000000000 or less."
    assert fields.size_of("greater_than_equal", {"ge": 0.001})[0] == "is below 0.001."

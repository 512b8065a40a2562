"""YAML from strangers: one plain mapping of bounded size, or a refusal that names the line."""

from __future__ import annotations

import pytest
import yaml

from domain.errors import InvalidRequest
from formats.yaml_text import MAX_CHARACTERS, read_yaml, write_yaml

LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


WHAT_IS_REFUSED = (
    (LAUGHS, "alias"),
    ("a: &x {b: 1}\nc: {<<: *x}", "alias"),
    ("a: 1\nb: 2\na: 3", "line 3"),
    ("a: {b: 1, b: 2}", "twice"),
    ("a: !!python/object/apply:os.system [ls]", "line 1"),
    ("a: !!binary aGk=", "kind"),
    ("a: !!set {b}", "kind"),
    ("1: a", "no text"),
    ("a: .nan", "finite"),
    ("a: -.inf", "finite"),
    ("a: 1.0e+999", "finite"),
    (f"a: {10**30}", "too large"),
    ("- a", "must hold"),
    ("", "must hold"),
    ("a: [", "not valid"),
    ("a: \x07", "not valid"),
    ("a: " + "[" * 60 + "]" * 60, "deep"),
    ("x" * (MAX_CHARACTERS + 1), "characters"),
)


def test_what_is_refused(subtests: pytest.Subtests):
    for text, words in WHAT_IS_REFUSED:
        with subtests.test(text=text, words=words):
            with pytest.raises(InvalidRequest) as caught:
                read_yaml(text, field="yaml")
            assert words in str(caught.value)
            assert caught.value.problems[0].field == "yaml"


def test_the_bomb_is_one_without_the_check():
    """What is refused above would be nine to the ninth power texts elsewhere."""
    assert len(yaml.safe_load(LAUGHS.split("e: ")[0])["d"][0][0]) == 9


def test_what_is_written_reads_the_same():
    content = {
        "title": "Größe: a study", "yes": "no", "day": "2026-03-02", "number": "1.5",
        "list": ["n/a", 1, 2.5, None],
        "text": "first\n  second\n", "empty": "", "nested": {"a": True},
    }  # fmt: skip
    assert read_yaml(write_yaml(content)) == content
    assert read_yaml("day: 2026-03-02") == {"day": "2026-03-02"}
    assert "text: |" in write_yaml(content)

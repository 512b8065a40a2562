"""What the pages and certificates promise without exception is held by a test, or says what is left."""

from __future__ import annotations

import re

import pytest
from claims import (
    NO_CLAIM,
    PAGES,
    REGISTER,
    ROOT,
    Entry,
    asked_tests,
    claims,
    register,
    residuals,
    signed,
)

from domain.channels import ALL_CHANNELS


def test_every_sentence_without_exception_is_on_the_register() -> None:
    """Who writes one names its test, on docs/reference/claims.md; who changes it looks at the test again."""
    said, listed = list(claims()), [(entry.page, entry.sentence) for entry in register()]
    assert [one for one in said if one not in listed] == [], "name the tests of these"
    assert [one for one in listed if one not in said] == [], "nobody says these any more"
    assert listed == sorted(listed, key=said.index)
    assert len(said) > 90


def test_what_is_named_is_asked_of_every_change(subtests: pytest.Subtests) -> None:
    for entry in register():
        with subtests.test(entry.sentence):
            _check(entry)


def _check(entry: Entry) -> None:
    if entry.evidence.startswith(NO_CLAIM):
        assert len(entry.evidence) > len(NO_CLAIM) + 8
        return
    titles = re.findall(r"left: ([^,]+)", entry.evidence)
    assert entry.tests or entry.channels or titles
    assert set(entry.tests) <= asked_tests()
    assert set(entry.channels) <= set(ALL_CHANNELS)
    assert set(titles) <= residuals()


@pytest.mark.parametrize("page", PAGES)
def test_tests_that_a_page_names_are_asked_of_every_change(page: str) -> None:
    named = set(re.findall(r"`(tests/[\w/.]+|test_\w+)`", (ROOT / page).read_text("utf-8")))
    known = asked_tests()
    assert not [name for name in named if name not in known and f"{name.rstrip('/')}/" not in known]


def test_the_words_are_found_and_deep_tests_are_not() -> None:
    """Controls of the test itself."""
    assert any("any result" in sentence for sentence in signed())
    assert "test_attack_is_withstood" not in asked_tests()
    assert "test_a_family_of_attacks_is_withstood" in asked_tests()
    assert "tests/security/battery/" in asked_tests()
    assert REGISTER.is_file()
    with pytest.raises(AssertionError):
        _check(Entry("README.md", "Nothing is always so.", "`test_that_nobody_wrote`"))
    with pytest.raises(AssertionError):
        _check(Entry("README.md", "Nothing is always so.", "surely"))

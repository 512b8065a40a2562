"""The plan on the page about anonymised tables is one; the page about scrambles promises nothing."""

from __future__ import annotations

from fenced import fences, prose

from domain.model import parse
from formats.yaml_text import read_yaml
from twins.anonymity.plan import Plan

PAGE = "how-to/reviewed-scramble.md"


def test_the_plan_of_the_page_is_one() -> None:
    (shown,) = [fence for fence in fences(f"{PAGE}#release-an-anonymised-table") if fence.language == "yaml"]
    plan = parse(Plan, read_yaml(shown.text))
    assert {one.ladder.kind for one in plan.quasi} == {"intervals", "prefix", "categories", "star"}


def test_the_page_of_the_scramble_never_promises() -> None:
    page = prose(f"{PAGE}#hand-out-a-reviewed-scramble")
    assert "It is not anonymous" in page
    assert "guarantee class: none" in page

"""The plan on the page about anonymised tables is one; the page about scrambles promises nothing."""

from __future__ import annotations

import re
from pathlib import Path

from domain.model import parse
from formats.yaml_text import read_yaml
from twins.anonymity.plan import Plan

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


def test_the_plan_of_the_page_is_one() -> None:
    (shown,) = re.findall(
        r"```yaml\n(.*?)```", (HOW_TO / "release-an-anonymised-table.md").read_text(), re.DOTALL
    )
    plan = parse(Plan, read_yaml(shown))
    assert {one.ladder.kind for one in plan.quasi} == {"intervals", "prefix", "categories", "star"}


def test_the_page_of_the_scramble_never_promises() -> None:
    page = (HOW_TO / "reviewed-scramble.md").read_text()
    assert "It is not anonymous" in page
    assert "guarantee class: none" in page

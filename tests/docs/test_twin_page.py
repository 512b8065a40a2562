"""The page on twins says what the code says: levels, instruments, rules, and an example to declare."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from factories import make_declaration

from domain.dataset.row_rules import read_rule
from domain.instruments import INSTRUMENTS
from domain.twin.levels import CUSTODIAN_LABELS, LOOKED_AT
from twins.drawn import make_twin

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "make-a-twin.md").read_text()


def test_it_names_the_labels_and_instruments_that_there_are():
    for label in (*CUSTODIAN_LABELS.values(), LOOKED_AT):
        assert label in PAGE
    row = r"^\| `([a-z0-9-]+)` \|.*\| ([a-z]+) \| ([\d.]+) \(([\d.]+)\) \|$"
    table = re.findall(row, PAGE, re.MULTILINE)
    assert table == [(each.key, each.looked_up, f"{each.mean:g}", f"{each.sd:g}") for each in INSTRUMENTS]


def test_its_example_can_be_declared_and_has_a_twin():
    example = yaml.safe_load(re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1])
    unit = {"table": "visits.csv", "column": "id"}
    twin = make_twin(make_declaration(**example, privacy_unit=unit))
    assert len(twin["visits.csv"].splitlines()) > 60


def test_its_rules_can_be_read():
    rules = re.findall(r"^\| `([^`]+(?:>=|~|rises)[^`]+)`", PAGE, re.MULTILINE)
    assert [type(read_rule(rule)).__name__ for rule in rules] == ["InOrder", "OnALine", "Rising"]

"""Decisions are taken as a draft proposes them, in groups; what cannot be decided so stays open."""

from __future__ import annotations

from typing import get_args

import yaml

from twins.profile.accept import accept
from twins.profile.decide import Decision, Verb

COLUMNS = (
    ("pid", "person", "pseudonymise", "ASK"),
    ("email", "text", "mask", "ASK"),
    ("phone", "text", "mask", "ASK"),
    ("notes", "text", "drop", "ASK"),
    ("town", "text", "generalise", "ASK"),
    ("sex", "text", "keep", "ASK"),
    ("ward", "text", "mask", "keep"),
    ("odd", "text", "burn", "ASK"),
)
DRAFT = "tables:\n  - path: people.csv\n    columns:\n" + "".join(
    f"      - name: {name}\n        kind: {kind}\n        pii:\n          kind: TEXT\n"
    f"          classification: direct\n          decision: {held}  # proposed: {verb}. Why.\n"
    "          by: ASK\n          why: ASK\n"
    for name, kind, verb, held in COLUMNS
)
DECIDED = Decision("keep", "holder", "as the study's protocol says")


def decisions(text: str) -> dict[str, str]:
    table = yaml.safe_load(text)["tables"][0]
    dropped = {one["name"]: "drop" for one in table.get("dropped", ())}
    return dropped | {one["name"]: one["pii"]["decision"] for one in table["columns"]}


def test_a_group_is_decided_with_one_reason_and_the_rest_stays_open() -> None:
    taken = accept(DRAFT, yaml.safe_load, of="mask", decision=DECIDED)
    assert (taken.decided, taken.left) == ({"mask": ["email", "phone"]}, [])
    assert decisions(taken.text) == decisions(DRAFT) | {"email": "mask", "phone": "mask"}
    told = [one["pii"] for one in yaml.safe_load(taken.text)["tables"][0]["columns"][1:3]]
    assert {(one["by"], one["why"]) for one in told} == {("holder", DECIDED.why)}


def test_all_that_is_proposed_is_decided_but_what_cannot_be_and_what_somebody_decided() -> None:
    taken = accept(DRAFT, yaml.safe_load, of=None, decision=DECIDED)
    assert taken.decided == {
        "pseudonymise": ["pid"], "mask": ["email", "phone"], "drop": ["notes"], "keep": ["sex"],
    }  # fmt: skip
    assert set(taken.decided) <= set(get_args(Verb))
    assert taken.left == ["town: a column of kind text cannot be generalised."]
    found = decisions(taken.text)
    assert (found["town"], found["ward"], found["odd"], found["notes"]) == ("ASK", "keep", "ASK", "drop")
    assert accept(taken.text, yaml.safe_load, of=None, decision=DECIDED).text == taken.text


def test_a_draft_without_tables_has_nothing_to_decide() -> None:
    assert accept("title: ASK\n", yaml.safe_load, of=None, decision=DECIDED).decided == {}

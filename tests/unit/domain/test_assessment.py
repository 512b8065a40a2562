"""The draft of an impact assessment: each part is filled, and no byte of it is decided by data."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from factories import column_fields, make_dataset, make_declaration, make_policy, table_fields
from markdown_it import MarkdownIt

from domain.assessment import DECISIONS, KINDS, PARTS, PREMISES, TO_FILL, draft
from domain.channels import CHANNELS
from domain.dataset import Dataset, DatasetState, ImportProblem
from domain.dataset.column import ColumnKind
from domain.dataset.identifying import Identifying
from privacy.loss import GuaranteeClass

SECRETLY = {"kind": "EMAIL", "classification": "direct", "by": "holder", "why": "Nobody\nneeds | it."}


def whole() -> Dataset:
    policy = make_policy(guarantees=list(GuaranteeClass), scrambled_twin=True, reviewers=["rosa"], votes=2)
    mail = column_fields(
        name="mail", kind="text", lower=None, upper=None, pii={**SECRETLY, "decision": "mask"}
    )
    fields = table_fields()
    fields["columns"] = [*fields["columns"], mail]
    return make_dataset(declaration=make_declaration(tables=[fields], policy=policy.model_dump(mode="json")))


@pytest.mark.parametrize("title", [title for title, _ in PARTS])
def test_every_part_says_what_is_known_and_marks_what_people_have_to_write(title: str) -> None:
    (part,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", draft(whole()), re.M | re.S)
    assert TO_FILL in part or title == "4. Measures"
    known = [line for line in part.splitlines() if line and not line.startswith((TO_FILL, "| ---"))]
    assert len(known) >= 3


def test_it_names_columns_classes_channels_and_who_receives_what() -> None:
    dataset, text = whole(), draft(whole())
    told = dataset.declaration
    assert [each.name for table in told.tables for each in table.columns if each.name not in text] == []
    for each in GuaranteeClass:
        assert f"| `{each}` | {each.sentence} | {PREMISES[each]} |" in text
    for channel in CHANNELS:
        assert (channel.sentence in text) == (channel.name in told.policy.all_accepted_channels)
    assert told.budget_sentence in text
    for said in (
        "rosa",
        "two people have to agree",
        "A scrambled twin is allowed.",
        "replaced by made-up values",
    ):
        assert said in text
    assert "scrambled" not in draft(make_dataset())


def test_no_byte_says_how_an_import_ended() -> None:
    """What an import answers depends on data; whoever printed the whole data set would tell it."""
    ready = make_dataset()
    refused = make_dataset(state=DatasetState.REFUSED, problem=ImportProblem.TOO_MANY_PEOPLE)
    assert ready.model_dump_json() != refused.model_dump_json()
    assert draft(ready) == draft(refused)


def test_what_somebody_typed_is_neither_a_cell_nor_a_heading_nor_markup(subtests: pytest.Subtests) -> None:
    for hostile, shown in {
        "Ages\n## 6. Signed": "Ages ## 6. Signed",
        "1 | 2 \\| 3": "1 | 2 \\| 3",
        "<img src=x> <!-- ": "&lt;img src=x&gt; &lt;!-- ",
        "[here](https://dpgate.example.org) ![i][j]": "[here](https://dpgate.example.org) ![i][j]",
        "https://dpgate.example.org WWW.example.org": "https://dpgate.example.org WWW.example.org",
        "**TO FILL:** `all` _of_ __it__ ~~now~~ *": "**TO FILL:** `all` _of_ __it__ ~~now~~ *",
        "&lt;b&gt; a_b $x$ {: .c} ##": "&amp;lt;b&amp;gt; a_b $x$ {: .c} ##",
        "a\x1b[2J\u202eb\u2066\x9b": "a [2J b",
    }.items():
        with subtests.test(msg=hostile):
            assert read(hostile) == read("Ages").replace("Ages", shown.strip())
    # which some programs make links of
    bare = make_declaration(title="http://a.example WWW.a.example", description="ftp://a.example")
    assert not re.findall(r"(?<!\\)://|www\.a", draft(make_dataset(declaration=bare)), re.IGNORECASE)


def read(typed: str) -> str:
    """The draft as a reader of Markdown shows it, with something typed wherever somebody may type."""
    pii = {**SECRETLY, "why": typed, "decision": "mask"}
    column = column_fields(name="mail", kind="text", lower=None, upper=None, pii=pii)
    fields = table_fields()
    fields["columns"] = [*fields["columns"], column]
    told = make_declaration(title=typed, description=typed, tables=[fields])
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return reader.render(draft(make_dataset(declaration=told)))


def test_its_tables_are_total() -> None:
    assert set(KINDS) == set(get_args(ColumnKind))
    assert set(PREMISES) == set(GuaranteeClass)
    assert set(DECISIONS) == set(get_args(Identifying.model_fields["decision"].annotation))

"""The pages on which groups of people's organisations are given rights."""

from __future__ import annotations

import re

import pytest
from page_forms import Page
from serving import Console, words
from told_entitlements import GROUP, HOSTILE_GROUP

PLACES = (
    ("olga", "/operation/entitlements", {"role": "data_user"}, "researcher"),
    ("holder", "/datasets/heights/entitlements", {}, "reviews"),
    ("ada", "/projects/sleep/entitlements", {"leads": "yes"}, "lead it too"),
)
NEW = "urn:mace:example.org:group:new:role=x#idp.example.org"


@pytest.mark.parametrize(("name", "path", "more", "gives"), PLACES, ids=lambda value: str(value)[:24])
def test_a_group_is_added_and_removed(
    console: Console, name: str, path: str, more: dict[str, str], gives: str
):
    with console.visit(name) as visitor:
        assert visitor.send(path, entitlement=f" {NEW} ", **more).status_code == 303
        page = visitor.get(path)
        assert NEW in page.text
        assert gives in words(page)
        assert "Holds for nobody yet" in words(page)
        rule = re.findall(r'id="rule-(\w+)"', page.text)[-1]
        assert visitor.send(f"{path}/{rule}").status_code == 303
        assert NEW not in visitor.get(path).text


@pytest.mark.parametrize(("name", "path", "more", "gives"), PLACES, ids=lambda value: str(value)[:24])
def test_what_is_wrong_is_said_at_the_field_and_kept(
    refusing: Console, name: str, path: str, more: dict[str, str], gives: str
):
    with refusing.visit(name) as visitor:
        answer = visitor.send(path, entitlement="urn:mace:example.org:group:*", **more)
        assert answer.status_code == 422
        assert "without patterns" in words(answer)
        assert 'value="urn:mace:example.org:group:*"' in answer.text
        assert 'aria-invalid="true"' in answer.text
        for field, value in more.items():
            assert re.search(rf'value="{value}"[^>]*(selected|checked)', answer.text), field


def test_members_see_the_groups_and_change_nothing(refusing: Console):
    with refusing.visit("bob") as visitor:
        page = visitor.get("/projects/sleep/entitlements")
        assert GROUP in page.text
        assert "Holds for bob" in words(page)
        assert 'name="entitlement"' not in page.text
        assert visitor.send("/projects/sleep/entitlements", entitlement=NEW).status_code == 403


def test_a_group_whose_name_is_a_script_stays_a_name(refusing: Console):
    with refusing.visit("bob") as visitor:
        page = visitor.get("/projects/odd/entitlements")
    assert Page(page.text).foreign == []
    assert HOSTILE_GROUP not in page.text
    assert "document.title" in words(page)

"""Projects on pages: the whole way without scripts, the same with a browser, and bad input that is kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
from browsing import Browser
from given_projects import last_day
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from serving import Console, words
from told_projects import ODD, SLEEP

from domain.permissions import User
from domain.project import GrantState
from store import datasets, grants, projects

PURPOSE = "Do people who walk far remember more?"
NEW = {"name": "walk", "title": "Walking", "purpose": PURPOSE, "ends_on": str(last_day())}
GRANT = f"/projects/{SLEEP}/grants/heights"


def state(console: Console, project: str, dataset: str = "heights") -> GrantState | None:
    with console.database.reading() as connection:
        found = grants.find(connection, project, dataset)
    return found.state if found else None


def test_from_a_project_to_the_end_of_its_grant_without_scripts(console: Console):
    with console.visit("ada") as ada, console.visit("holder") as holder:
        assert ada.send("/projects", **NEW).headers["location"] == "/projects/walk"
        assert "Use it in a project" in words(ada.get("/datasets/heights"))
        assert "For which project do you need heights?" in words(ada.get("/projects?dataset=heights"))
        assert ada.send("/projects/walk/members", step="add", member="bob").status_code == 303
        assert ada.send("/projects/walk/asks", step="ask", dataset="heights", why="Ages.").status_code == 303
        assert "heights for walk" in words(holder.get("/projects"))
        assert "heights for walk" in words(holder.get("/reviews"))
        page = words(holder.get("/projects/walk/grants/heights"))
        assert "May they use heights?" in page
        assert PURPOSE in page
        assert "Epsilon (differential privacy)" in page
        decided = holder.send(
            "/projects/walk/grants/heights", **{"step": "grant", "amount-epsilon": "0.5", "ends_on": ""}
        )
        assert decided.headers["location"] == "/projects/walk/grants/heights"
        assert "0.5 of 0.5 epsilon left" in words(ada.get("/projects/walk"))
        changed = {"step": "change", "amount-epsilon": "1", "reason": "They asked well."}
        assert holder.send("/projects/walk/grants/heights", **changed).status_code == 303
        assert "changed the grant of heights: epsilon 1" in words(ada.get("/projects/walk"))
        assert "1 of 1 epsilon left" in words(ada.get("/budget/heights"))
        ended = {"step": "end", "reason": "The paper is out."}
        assert holder.send("/projects/walk/grants/heights", **ended).status_code == 303
        assert "The paper is out." in words(ada.get("/projects/walk/grants/heights"))
        assert ada.send("/projects/walk/closing").status_code == 303
        assert "This project is closed" in words(ada.get("/projects/walk"))
        assert "Ask for a data set" not in words(ada.get("/projects/walk"))
    assert state(console, "walk") is GrantState.ENDED


def test_a_researcher_makes_a_project_with_the_keyboard(console: Console, browser: Browser):
    browser.enter(console, "bob")
    browser.complaints()
    browser.look(f"{console.url}/projects")
    browser.tab_to("Make a project", most=60)
    browser.press(Keys.ENTER)
    for field, text in (("Title", "Walking"), ("Short name", "walk"), ("Purpose", PURPOSE)):
        browser.tab_to(field)
        browser.press(text)
    browser.tab_to("Last day")
    day = last_day()
    browser.press(f"{day:%m%d%Y}", Keys.ENTER)
    assert browser.arrives("Walking")
    assert "led by bob" in browser.text("main")
    assert "made the project" in browser.text(".history")
    assert browser.complaints() == []


def test_a_rights_holder_decides_in_a_browser(console: Console, browser: Browser):
    browser.enter(console, "holder")
    browser.complaints()
    browser.look(f"{console.url}/projects/{ODD}/grants/heights", width=390)
    browser.driver.find_element(By.ID, "amount-epsilon").send_keys("0.25")
    browser.driver.find_element(By.CSS_SELECTOR, "button[value=grant]").click()
    assert browser.comes("main", "0.25 of 0.25 epsilon left")
    assert browser.complaints() == []
    assert state(console, ODD) is GrantState.GRANTED


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"title": ""}, "Must say something"),
        ({"title": "x" * 201}, "at most 200 characters"),
        ({"purpose": "a\u202eb"}, "ordinary characters only"),
        ({"purpose": "a\x00b"}, "ordinary characters only"),
        ({"name": "Walk!"}, "Is no short name. Use small letters, digits and hyphens"),
        ({"name": SLEEP}, "The name sleep is taken"),
        ({"ends_on": "soon"}, "Must be a day such as 2027-01-31"),
        ({"ends_on": "2020-01-01"}, "2020-01-01 is over"),
        ({"ends_on": "9999-12-31"}, "more than 10 years away"),
    ],
)
def test_what_was_typed_of_a_project_is_kept(shared_console: Console, fields: dict[str, str], complaint: str):
    with shared_console.visit("ada") as ada:
        answer = ada.send("/projects", **NEW | fields)
    assert answer.status_code in (409, 422)
    assert complaint in words(answer)
    typed = NEW | fields
    kept = [name for name in NEW if name not in fields]
    assert all(typed[name] in answer.text for name in kept)
    assert 'aria-invalid="true"' in answer.text


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"step": ""}, "step: is missing"),
        ({"step": "grant"}, "amounts: are missing"),
        ({"step": "grant", "amount-epsilon": "-1"}, "epsilon must be"),
        ({"step": "grant", "amount-epsilon": "1e999999999"}, "epsilon"),
        ({"step": "grant", "amount-releases": "1.5"}, "give a whole number"),
        ({"step": "grant", "amount-euro": "1"}, "euro is no currency"),
        ({"step": "grant", "amount-rho": "1"}, "heights has no budget of rho"),
        ({"step": "grant", "amount-epsilon": "11"}, "more than the whole budget of 10"),
        (
            {"step": "grant", "amount-epsilon": "1", "ends_on": str(last_day() + timedelta(days=9))},
            "after the",
        ),
        ({"step": "grant", "amount-epsilon": "1", "ends_on": "31.1.2027"}, "must be a day such as"),
        ({"step": "refuse", "reason": " "}, "reason: must say something"),
        ({"step": "refuse", "reason": "x" * 1001}, "at most 1000 characters"),
        ({"step": "change", "amount-epsilon": "1"}, "this is ASKED now, not GRANTED"),
        ({"step": "end", "reason": "x"}, "this is ASKED now, not GRANTED"),
    ],
)
def test_a_decision_that_cannot_be_changes_nothing(
    shared_console: Console, fields: dict[str, str], complaint: str
):
    with shared_console.visit("holder") as holder:
        answer = holder.send(f"/projects/{ODD}/grants/heights", **{"reason": "Because.", **fields})
    assert answer.status_code in (409, 422)
    assert complaint in words(answer)
    assert fields.get("reason", "Because.") in answer.text
    assert state(shared_console, ODD) is GrantState.ASKED
    with shared_console.database.reading() as connection:
        assert grants.shares(connection, grants.of_project(connection, ODD, bob())) == {}


@pytest.mark.parametrize(
    ("path", "fields", "complaint"),
    [
        ("members", {"step": "add", "member": "nobody"}, "there is no data user nobody"),
        ("members", {"step": "add", "member": "holder"}, "there is no data user holder"),
        ("members", {"step": "add", "member": "<b>"}, "member: is no short name. Use small"),
        ("members", {"step": "remove", "member": "ada"}, "the lead cannot leave"),
        ("members", {"step": "crown", "member": "bob"}, "step: is missing"),
        ("asks", {"step": "ask", "dataset": "heights", "why": "x"}, "heights is granted already"),
        ("asks", {"step": "ask", "dataset": "new", "why": ""}, "why: must say something"),
        ("asks", {"step": "ask", "dataset": "A B", "why": "x"}, "dataset:"),
        ("asks", {"step": "withdraw", "dataset": "nothing"}, "there is no grant of nothing"),
    ],
)
def test_a_step_of_the_lead_that_cannot_be_is_said(
    shared_console: Console, path: str, fields: dict[str, str], complaint: str
):
    with shared_console.visit("ada") as ada:
        answer = ada.send(f"/projects/{SLEEP}/{path}", **fields)
    assert answer.status_code in (404, 409, 422)
    assert complaint in words(answer)
    with shared_console.database.reading() as connection:
        assert projects.get(connection, SLEEP).members == ("ada", "bob")


def test_a_member_reads_and_leaves_and_changes_nothing_else(console: Console):
    with console.visit("bob") as member:
        page = words(member.get(f"/projects/{SLEEP}"))
        assert "Leave the project" in page
        assert "Add somebody" not in page
        for path, fields in (
            ("members", {"step": "add", "member": "bob"}),
            ("asks", {"step": "ask", "dataset": "new", "why": "x"}),
            ("closing", {}),
        ):
            assert member.send(f"/projects/{SLEEP}/{path}", **fields).status_code == 403
        left = member.send(f"/projects/{SLEEP}/members", step="remove", member="bob")
        assert left.headers["location"] == "/projects"
        assert member.get(f"/projects/{SLEEP}").status_code == 404
        assert member.get(GRANT).status_code == 404
    with console.database.reading() as connection:
        # named in the policy of heights: that stays
        assert "heights" in {one.name for one in datasets.visible_to(connection, bob())}
        assert "heights" not in grants.granted_to(connection, bob(), projects.get(connection, SLEEP).made_at)


def bob() -> User:
    return User(name="bob", role="data_user")

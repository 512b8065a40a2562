"""Pages of facts: dictionary, budget, bounds, releases, audit trail. Everybody sees what is theirs."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
import sqlalchemy as sa
from browsing import Browser
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select
from serving import Console, words
from story import EMPIRICAL, HISTOGRAM, PAC, RELEASED, WAITING
from told_drafts import DRAFT
from told_releases import LIMIT, MANY


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_dictionary_is_searched_without_scripts_and_taken_along(shared_console: Console):
    with shared_console.visit("ada") as ada:
        found = words(ada.get("/datasets/heights?q=METRES"))
        rows = table(ada.get("/datasets/heights/dictionary.csv").text)
        content = json.loads(ada.get("/datasets/heights/dictionary.json").text)
    assert "1 column for “METRES”" in found
    assert "memory test" not in found.partition("Data dictionary")[2].partition("Files and twin")[0]
    assert [row["column"] for row in rows] == [column["column"] for column in content["columns"]]
    assert rows[3]["upper"] == "2.2"


def test_the_dictionary_filters_while_somebody_types(shared_console: Console, browser: Browser):
    browser.enter(shared_console, "ada")
    browser.complaints()
    browser.look(f"{shared_console.url}/datasets/heights")
    browser.driver.find_element("id", "q").send_keys("metres")
    assert browser.comes("#columns", "1 column for")
    assert "memory test" not in browser.text("#columns")
    assert browser.complaints() == []


def test_a_data_user_sees_their_own_entries_and_the_course_of_all(shared_console: Console):
    with shared_console.visit("bob") as bob:
        seen = bob.get("/budget/heights")
        own = table(bob.get("/budget/heights/entries.csv").text)
        others = table(bob.get("/budget/heights/entries.csv?user=ada").text)
    assert WAITING not in seen.text
    assert {row["author"] for row in own} <= {"bob"}
    assert others == []
    assert "of 10 epsilon were spent until" in seen.text
    assert 'name="user"' not in seen.text


def test_a_bar_fills_with_what_is_left_as_its_caption_says(shared_console: Console):
    with shared_console.visit("holder") as holder:
        seen = holder.get("/budget/heights").text
    left, cap, spent = map(float, re.findall(r'="epsilon: (\S+) of (\S+) left, (\S+) spent', seen)[0])
    full, *_ = re.findall(r'class="full" width="([0-9.]+)%"', seen)
    assert spent > 0
    assert float(full) == pytest.approx(100 * left / cap, abs=0.001)
    legend = dict(re.findall(r'class="swatch-(\w+)"[^>]*></svg>(left|spent: never)', seen))
    assert legend == {"empty": "spent: never", "full": "left"}


def test_the_rights_holder_filters_by_person_in_a_browser(shared_console: Console, browser: Browser):
    browser.enter(shared_console, "holder")
    browser.look(f"{shared_console.url}/budget/heights")
    whole = browser.driver.find_elements(By.CSS_SELECTOR, ".timeline .spent")
    Select(browser.driver.find_element("id", "user")).select_by_visible_text("ada")
    browser.driver.find_element(By.CSS_SELECTOR, "form.filters button").click()
    assert browser.comes("main", "The entries that you chose")
    assert "user=ada" in browser.driver.current_url
    link = browser.driver.find_element(By.CSS_SELECTOR, "form.filters a").get_attribute("href")
    assert "user=ada" in str(link)
    assert whole
    assert browser.driver.find_elements(By.CSS_SELECTOR, ".timeline .spent")


@pytest.mark.parametrize("query", ["account=secret", "account=project:%00", "user=%00", "project=A B"])
def test_an_odd_filter_is_named_and_shows_nothing(shared_console: Console, query: str):
    with shared_console.visit("holder") as holder:
        page = holder.get(f"/budget/heights?{query}")
        assert page.status_code == 200
        assert 'role="alert"' in page.text
        assert "No entry fits" in words(page)
        assert holder.get(f"/budget/heights/entries.csv?{query}").status_code == 422


@pytest.mark.parametrize("path", ["account=project:of-others", "account=user:bob"])
def test_anothers_account_does_not_exist(shared_console: Console, path: str):
    with shared_console.visit("ada") as ada:
        assert ada.get(f"/budget/heights?{path}").status_code == 404
        assert ada.get(f"/budget/heights/entries.csv?{path}").status_code == 404


def test_what_an_attacker_could_learn_is_a_picture_and_a_table_and_claims_no_more(shared_console: Console):
    with shared_console.visit("ada") as ada:
        page = ada.get("/datasets/heights/attacker")
        approximate = words(ada.get("/datasets/commuters/attacker"))
    text = words(page)
    assert "all releases so far" in text
    assert "a family of 4" in text
    assert "There is no bound on what they tell about a person" in text
    assert "one bit that the bounds above do not cover" in text
    assert page.text.count('class="chart suspicions"') == 1
    assert "Epsilon 1 in place of 10 leaves an attacker in doubt" in text
    assert "except with a probability of at most 1 in 95,000" in approximate
    assert "no bound" in approximate


def test_a_release_of_many_values_is_seen_at_one_look(shared_console: Console, browser: Browser):
    browser.enter(shared_console, "ada")
    browser.look(f"{shared_console.url}/jobs/{MANY}/release", width=390)
    points = browser.driver.find_elements(By.CSS_SELECTOR, ".intervals .point")
    assert len(points) == 100
    assert not browser.driver.find_element(By.CSS_SELECTOR, ".values").is_displayed()
    browser.driver.find_element(By.XPATH, "//summary[contains(., 'One by one')]").click()
    assert browser.driver.find_element(By.CSS_SELECTOR, ".values").is_displayed()
    assert browser.overflow(width=390) == []


def test_a_release_says_how_rows_of_a_person_were_limited(shared_console: Console):
    with shared_console.visit("ada") as ada:
        limited, other = (ada.get(f"/jobs/{job_id}/release") for job_id in (MANY, RELEASED))
    assert LIMIT in words(limited)
    assert "rows of each person" not in words(other)


def test_a_release_without_intervals_speaks_of_none(shared_console: Console):
    with shared_console.visit("ada") as ada:
        without, other = (words(ada.get(f"/jobs/{job_id}/release")) for job_id in (PAC, RELEASED))
    assert ("The noise interval says" in without, "The noise interval says" in other) == (False, True)
    assert "No interval says" in without


@pytest.mark.parametrize(
    ("job_id", "said"),
    [
        (RELEASED, "(differential privacy, epsilon 1)"),
        (HISTOGRAM, "(differential privacy, epsilon 0.5)"),
        (EMPIRICAL, "(no formal guarantee, releases 1)"),
    ],
)
def test_a_release_says_how_to_cite_it(shared_console: Console, job_id: str, said: str):
    with shared_console.visit("ada") as ada:
        page = ada.get(f"/jobs/{job_id}/release")
    assert said in words(page)
    assert "@misc{heights-" in page.text


def test_the_trail_is_taken_along_as_it_is_filtered(shared_console: Console):
    with shared_console.visit("olga") as olga, shared_console.visit("rival") as rival:
        everything = table(olga.get("/audit.csv").text)
        some = table(olga.get("/audit.csv?action=job.submit&actor=bob").text)
        assert table(olga.get("/audit.csv?since=2026-02-30").text) == []
        assert not {row["subject"] for row in table(rival.get("/audit.csv").text)} & {RELEASED, WAITING}
        link = re.search(r'href="(/audit\.csv[^"]*)"', olga.get("/audit?actor=bob").text)
    assert link is not None
    assert link[1] == "/audit.csv?actor=bob"
    assert [int(row["number"]) for row in everything] == list(range(len(everything), 0, -1))
    assert {(row["action"], row["actor"]) for row in some} == {("job.submit", "bob")}
    assert all(len(row["hash"]) == 64 for row in everything)


def test_a_registration_with_scripts_and_keyboard(console: Console, browser: Browser):
    """The button that the Enter key presses is the one that saves; the field that is wrong is reachable."""
    browser.enter(console, "holder")
    browser.complaints()
    browser.look(f"{console.url}/datasets/new/{DRAFT}/unit")
    size = browser.driver.find_element("name", "nominal_size")
    size.clear()
    size.send_keys("many\n")
    assert browser.comes("[role=alert]", "whole number")
    size = browser.driver.find_element("name", "nominal_size")
    assert size.get_attribute("value") == "many"
    assert size.get_attribute("aria-invalid") == "true"
    browser.driver.find_element(By.CSS_SELECTOR, "[role=alert] a").click()
    assert browser.driver.current_url.endswith("#nominal_size")
    assert browser.inaccessible() == []
    size.clear()
    size.send_keys("60\n")
    assert browser.arrives("Tables")
    unexpected = [text for text in browser.complaints() if "status of 422" not in text]
    assert unexpected == []


def test_a_page_of_an_error_needs_no_database(console: Console) -> None:
    """It shows the menu of whoever is logged in, and without an answer none: it says what it has to say."""
    with console.visit("ada") as ada:
        known = ada.get("/nowhere")
        with console.database.transaction() as connection:
            connection.execute(sa.text("ALTER TABLE sessions RENAME TO gone"))
        answer = ada.get("/nowhere")
    for each in (known, answer):
        assert (each.status_code, "There is no such page" in words(each)) == (404, True)
    assert ('class="menu"' in known.text, 'class="menu"' in answer.text) == (True, False)


def test_a_budget_that_cannot_be_read_has_not_changed(console: Console) -> None:
    """It is no conflict with what somebody else did."""
    with console.database.transaction() as connection:
        connection.execute(sa.text("UPDATE accounts SET spent = 'much' WHERE kind = 'cohort'"))
    with console.visit("ada") as ada:
        answer = ada.get("/budget/heights")
    assert answer.status_code == 409
    assert "The record cannot be read" in words(answer)
    assert "changed in the meantime" not in words(answer)

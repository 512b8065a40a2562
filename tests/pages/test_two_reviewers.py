"""Two reviewers and an author on the pages: votes stay hidden, talk reaches those it is for, twins wait."""

from __future__ import annotations

import re

import pytest
from browsing import Browser
from factories import given_job
from selenium.webdriver.common.keys import Keys
from serving import Console, words
from told_data_sets import BREAKOUT, SCRIPT
from told_reviews import HALF_DECIDED, HIDDEN, NAME, TWO_IN_REVIEW, code_fields

from domain.states import JobState
from store import history
from store.history import Wanted

FIRST, SECOND = "job-pair-0001", "job-pair-0002"
EVERYBODY = ("bob", "vera", "holder", "olga", "ada", "rival")
PAGES = (
    "/jobs", "/jobs/{job}", "/reviews", "/reviews/{job}", "/audit", "/audit?subject={job}", "/operation",
    "/budget/memory", "/datasets/memory",
)  # fmt: skip


def pair(console: Console, state: JobState) -> None:
    """Two equal jobs."""
    with console.database.transaction() as connection:
        for job_id in (FIRST, SECOND):
            given_job(
                connection,
                job_id=job_id,
                state=state,
                author="bob",
                dataset=NAME,
                epsilon="0.125",
                **code_fields(),
            )


def vote(console: Console, job_id: str, by: str, decision: str, reason: str = HIDDEN) -> None:
    with console.visit(by) as reviewer:
        answer = reviewer.send(f"/reviews/{job_id}", decision=decision, reason=reason)
    assert answer.headers.get("location") == "/reviews", words(answer)


def seen(console: Console, job_id: str) -> dict[tuple[str, str], str]:
    """What everybody reads on every page, without what makes two equal jobs differ."""
    found = {}
    for person in EVERYBODY:
        with console.visit(person) as visitor:
            for path in PAGES:
                text = words(visitor.get(path.format(job=job_id)))
                found[person, path] = re.sub(r"job-pair-\d+|[0-9a-f]{12,}|\d+", "#", text)
    return found


@pytest.mark.parametrize(
    ("state", "yes", "no"),
    [(JobState.SUBMITTED, "approve", "reject"), (JobState.IN_REVIEW, "release", "withhold")],
)
def test_no_page_tells_anybody_how_the_first_reviewer_voted(
    console: Console, state: JobState, yes: str, no: str
):
    pair(console, state)
    vote(console, FIRST, "vera", yes)
    vote(console, SECOND, "vera", no)
    first, second = seen(console, FIRST), seen(console, SECOND)
    assert first == second
    assert not any(HIDDEN in text for text in first.values())
    for person in ("vera", "holder"):
        assert "# of # votes is in" in first[person, "/reviews/{job}"]
    for person in ("bob", "ada", "olga", "rival"):
        assert not any(
            "votes" in text for (who, path), text in first.items() if who == person and "audit" not in path
        )


def test_when_both_are_in_the_reviewers_read_why_and_the_author_why_it_was_refused(console: Console):
    vote(console, HALF_DECIDED, "holder", "approve", "")
    assert console.state(HALF_DECIDED) is JobState.REJECTED
    for person in ("vera", "holder"):
        with console.visit(person) as reviewer:
            assert HIDDEN in words(reviewer.get(f"/reviews/{HALF_DECIDED}"))
            assert HIDDEN in words(reviewer.get("/reviews"))
    with console.visit("bob") as bob:
        page = words(bob.get(f"/jobs/{HALF_DECIDED}"))
    assert "vera refused it:" in page
    assert HIDDEN in page


def test_why_a_release_was_withheld_stays_with_the_reviewers(console: Console):
    vote(console, TWO_IN_REVIEW, "vera", "withhold")
    vote(console, TWO_IN_REVIEW, "holder", "release", "")
    assert console.state(TWO_IN_REVIEW) is JobState.WITHHELD
    read = seen(console, TWO_IN_REVIEW)
    assert {person for (person, _), text in read.items() if HIDDEN in text} == {"vera", "holder"}
    for person in ("bob", "olga"):
        assert not any("The noise is wide" in text for (who, _), text in read.items() if who == person)


def test_a_second_vote_of_the_same_reviewer_is_refused(console: Console):
    with console.visit("vera") as vera:
        page = vera.get(f"/reviews/{HALF_DECIDED}")
        assert "You have voted; a vote cannot be changed." in words(page)
        assert 'name="decision"' not in page.text
        answer = vera.send(f"/reviews/{HALF_DECIDED}", decision="approve")
    assert answer.status_code == 409
    assert console.state(HALF_DECIDED) is JobState.SUBMITTED


def test_the_page_shows_code_run_on_the_twin_image_price_and_earlier_decisions(shared_console: Console):
    with shared_console.visit("holder") as holder:
        answer = holder.get(f"/reviews/{HALF_DECIDED}")
    page = words(answer)
    for expected in (
        "Run by bob on", "The twin is random draws", "2 of 40 blocks failed", "mean_age 58.5",
        "read 400 rows",
        "Approved by operator", "0.5 , set aside; 9.25 is left",
        f"{TWO_IN_REVIEW} by bob on memory: in review.", "Why do the bounds end at 120?",
    ):  # fmt: skip
        assert expected in page
    assert "Outputs of mean_age on the twin" in answer.text
    assert "Expected error of mean_age against epsilon" in answer.text
    assert 'class="point"' in answer.text
    assert all(line in page for line in ("import csv", "result.write("))
    with shared_console.visit("holder") as holder:
        assert "ada has not run this code on the twin" in words(holder.get("/reviews/job-waiting1"))


@pytest.mark.parametrize("text", ["", "  ", "x" * 4001, "a\u202eb"])
def test_a_comment_that_cannot_be_kept_comes_back_with_its_problem(shared_console: Console, text: str):
    for person, path, back in (
        ("bob", f"/jobs/{HALF_DECIDED}/comments", "mean-age"),
        ("holder", f"/jobs/{HALF_DECIDED}/comments", "May this job run?"),
        ("holder", f"/reviews/{TWO_IN_REVIEW}/comments", "May this release be read?"),
    ):
        with shared_console.visit(person) as visitor:
            answer = visitor.send(path, text=text)
        assert answer.status_code == 422
        assert back in words(answer)
        assert "Your comment" in words(answer)
        assert text.strip() in answer.text


def test_what_was_typed_survives_a_refused_decision_about_a_twin(shared_console: Console):
    typed = "kept <b>&" + "x" * 1000
    with shared_console.visit("vera") as vera:
        for fields in (
            {"decision": "refuse", "reason": typed, "version": "1"},
            {"decision": "", "reason": typed, "version": "1"},
            {"decision": "approve", "reason": "kept <b>&", "version": "one"},
        ):
            answer = vera.send(f"/reviews/twins/{NAME}", **fields)
            assert answer.status_code == 422
            assert "kept &lt;b&gt;&amp;" in answer.text
        assert vera.send(f"/reviews/twins/{NAME}", decision="approve", version="7").status_code == 409
    with shared_console.database.reading() as connection:
        assert history.events(connection, Wanted(action="twin.decide")) == []


def test_a_twin_is_looked_at_approved_and_then_fetched_without_scripts(console: Console):
    with console.visit("bob") as bob, console.visit("vera") as vera, console.visit("holder") as holder:
        shown = bob.get(f"/datasets/{NAME}")
        assert "waits for reviewers" in words(shown)
        assert f"/datasets/{NAME}/twin" not in shown.text
        assert "/reviews/twins" not in shown.text
        assert f'href="/reviews/twins/{NAME}"' in vera.get(f"/datasets/{NAME}").text
        refused = bob.get(f"/datasets/{NAME}/twin")
        assert refused.status_code == 409
        assert "have not yet approved the twin of version 1" in words(refused)
        page = words(vera.get(f"/reviews/twins/{NAME}"))
        for expected in ("BLANK FORM", "twin-001", "whole number, 0 to 120", "Word lists were read aloud"):
            assert expected in page
        assert vera.get(f"/datasets/{NAME}/twin").headers["content-type"] == "application/zip"
        for reviewer in (vera, holder):
            answer = reviewer.send(f"/reviews/twins/{NAME}", decision="approve", reason="", version="1")
            assert answer.headers["location"] == "/reviews"
        assert bob.get(f"/datasets/{NAME}/twin").headers["content-type"] == "application/zip"
        assert f'href="/datasets/{NAME}/twin"' in bob.get(f"/datasets/{NAME}").text
        assert "approved" in words(holder.get(f"/reviews/twins/{NAME}"))


def test_a_reviewer_needs_no_mouse(console: Console, browser: Browser):
    browser.enter(console, "holder")
    browser.complaints()
    browser.look(f"{console.url}/reviews")
    browser.tab_to("mean-age")
    browser.press(Keys.ENTER)
    assert browser.arrives("May this job run?")
    browser.tab_to("Reason")
    browser.press("Too wide: nobody is 120.")
    browser.tab_to("Reject")
    browser.press(Keys.ENTER)
    assert browser.arrives("Reviews")
    assert "Too wide: nobody is 120." in browser.text("main")
    assert console.state(HALF_DECIDED) is JobState.REJECTED
    assert browser.complaints() == []


def test_whatever_people_write_is_text(console: Console, browser: Browser):
    hostile = f"{SCRIPT}{BREAKOUT}"
    with console.visit("bob") as bob, console.visit("vera") as vera:
        assert bob.send(f"/jobs/{HALF_DECIDED}/comments", text=hostile).status_code == 303
        assert vera.send(f"/reviews/{TWO_IN_REVIEW}/comments", text=hostile).status_code == 303
        assert vera.send(f"/reviews/twins/{NAME}", decision="refuse", reason=hostile, version="1").is_redirect
    with console.visit("holder") as holder:
        assert holder.send(
            f"/reviews/twins/{NAME}", decision="approve", reason=hostile, version="1"
        ).is_redirect
    vote(console, HALF_DECIDED, "holder", "reject", hostile)
    browser.enter(console, "holder")
    browser.complaints()
    for path in (
        f"/reviews/{HALF_DECIDED}",
        f"/reviews/{TWO_IN_REVIEW}",
        f"/reviews/twins/{NAME}",
        "/reviews",
    ):
        browser.look(f"{console.url}{path}")
        assert SCRIPT in browser.text("main"), path
        assert browser.driver.title.endswith("· dpgate")
    browser.enter(console, "bob")
    browser.look(f"{console.url}/jobs/{HALF_DECIDED}")
    assert browser.text("main").count(SCRIPT) >= 3
    assert browser.complaints() == []

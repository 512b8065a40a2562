"""The submit wizard in a real Chromium: with scripts, and with the keyboard alone."""

from __future__ import annotations

import time
from pathlib import Path

from browsing import Browser
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from serving import Console
from told_job_drafts import JOB_DRAFT
from wizard import BOUNDS, CODE, work, worker_of

from domain.states import JobState


def test_a_researcher_goes_from_a_file_to_a_job(console: Console, browser: Browser, tmp_path: Path):
    """Pages follow the rehearsal and the choice by themselves."""
    code = tmp_path / "main.py"
    code.write_bytes(CODE)
    browser.enter(console, "ada")
    browser.complaints()
    with worker_of(console, tmp_path) as bench:
        browser.look(f"{console.url}/jobs/new?dataset=heights")
        press(browser, "main form button")
        assert browser.arrives("New job: new pipeline")
        browser.driver.find_element(By.ID, "files").send_keys(str(code))
        press(browser, "form[action$='/files'] button")
        assert browser.comes("main", "main.py, uploaded")
        write(browser, name="age-and-height", command="python3 /pipeline/main.py")
        write(browser, outputs="result.tsv mean_age\nresult.tsv mean_height")
        press(browser, "form[action$='/pipeline'] button")
        assert browser.comes("main", "Your pipeline has not run yet")
        press(browser, "form[action$='/rehearsal'] button")
        assert browser.comes("#progress", "It waits for a worker")
        work(bench)
        assert browser.comes("#progress", "61 runs"), "the page asks again by itself"
        press(browser, "#progress a.button")
        assert browser.comes("main", "How small and how large")
        write(browser, **BOUNDS)
        press(browser, "button[value=keep]")
        assert browser.comes("#expected", "computes the forecast")
        work(bench)
        assert browser.comes("#expected", "At epsilon 1, expect the release of mean_age")
        write(browser, epsilon="0.5")
        assert browser.comes("#expected", "At epsilon 0.5, expect"), "the drawing follows what is typed"
        press(browser, "button[value=keep]")
        assert browser.comes("main", "What happens next")
        place = browser.driver.current_url
        press(browser, "form[action$='/check'] button")
        assert browser.comes("main", "Waits for approval")
    assert browser.complaints() == []
    assert console.state(place.split("/")[-2]) is JobState.SUBMITTED


def test_the_last_steps_need_no_mouse(console: Console, browser: Browser):
    browser.enter(console, "ada")
    browser.look(f"{console.url}/jobs/new/{JOB_DRAFT}/bounds")
    browser.tab_to("Lower bound of mean_age")
    browser.press(Keys.CONTROL + "a", "10")
    browser.tab_to("Draw again")
    browser.press(Keys.ENTER)
    assert browser.comes("main", "How small and how large")
    field = browser.driver.find_element(By.ID, "lower-0-values-0")
    assert field.get_attribute("value") == "10"
    browser.look(f"{console.url}/jobs/new/{JOB_DRAFT}/mechanism")
    browser.tab_to("Epsilon")
    browser.press(Keys.CONTROL + "a", "0.25")
    browser.tab_to("Keep and go on")
    browser.press(Keys.ENTER)
    assert browser.comes("main", "What happens next")
    browser.tab_to("Submit the job")
    browser.press(Keys.ENTER)
    assert browser.comes("main", "Waits for approval")
    assert console.state(JOB_DRAFT) is JobState.SUBMITTED


def test_a_trusted_query_is_asked(console: Console, browser: Browser):
    browser.enter(console, "ada")
    browser.look(f"{console.url}/datasets/heights/ask")
    write(browser, epsilon="0.5")
    press(browser, "button[value=check]")
    assert browser.comes("#answer", "mean of age")
    press(browser, "button[value=submit]")
    assert browser.arrives("mean of age")


def press(browser: Browser, selector: str) -> None:
    """Once more where the page replaced the button between the look and the click."""
    for left in (2, 1, 0):
        try:
            found = browser.driver.find_element(By.CSS_SELECTOR, selector)
            browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
            found.click()
            return
        except WebDriverException:
            if not left:
                raise
            time.sleep(0.3)


def write(browser: Browser, **texts: str) -> None:
    """Into fields by their id, in place of what is there."""
    for name, text in texts.items():
        field = browser.driver.find_element(By.ID, name)
        field.clear()
        field.send_keys(text)

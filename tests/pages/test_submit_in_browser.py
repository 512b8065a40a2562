"""The submit wizard in a real Chromium: with scripts, and with the keyboard alone."""

from __future__ import annotations

from browsing import Browser
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from serving import Console
from told_job_drafts import JOB_DRAFT

from domain.job import own_id
from domain.states import JobState


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
    assert console.state(own_id("ada", JOB_DRAFT)) is JobState.SUBMITTED

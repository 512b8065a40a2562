"""A rights holder changes the policy in a real Chromium, with scripts and without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import Browser
from selenium.webdriver.common.by import By
from serving import Console

from store import policies


@pytest.fixture(params=["with scripts", "without scripts"])
def anybody(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Browser]:
    """A browser whose owner may have switched scripts off."""
    off = request.param == "without scripts"
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": off})
    yield browser
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def write(browser: Browser, name: str, text: str) -> None:
    field = browser.driver.find_element(By.NAME, name)
    field.clear()
    field.send_keys(text)


def choose(browser: Browser, name: str, value: str) -> None:
    browser.driver.find_element(By.CSS_SELECTOR, f'input[name="{name}"][value="{value}"]').click()


def unfold(browser: Browser, text: str) -> None:
    browser.driver.find_element(By.XPATH, f'//summary[contains(., "{text}")]').click()


def send(browser: Browser, text: str) -> None:
    browser.driver.find_element(By.XPATH, f'//button[contains(., "{text}")]').click()


def test_from_the_form_to_a_policy_in_effect(console: Console, anybody: Browser):
    anybody.enter(console, "holder")
    anybody.look(f"{console.url}/datasets/heights")
    anybody.driver.find_element(By.LINK_TEXT, "Change the policy").click()
    assert anybody.arrives("Policy")
    choose(anybody, "approve_jobs", "above")
    write(anybody, "approve_jobs_above", "a little")
    write(anybody, "reviewers", "rival")
    send(anybody, "See what would change")
    assert anybody.comes("#wrong-title", "Nothing was changed")
    typed = anybody.driver.find_element(By.NAME, "approve_jobs_above")
    assert typed.get_attribute("value") == "a little"
    write(anybody, "approve_jobs_above", "0.6")
    send(anybody, "See what would change")
    assert anybody.arrives("What would change")
    assert "jobs above epsilon 0.6 wait" in anybody.text("main")
    assert "would have been decided otherwise" in anybody.text("main")
    send(anybody, "Change it as YAML")
    assert anybody.comes("label[for=yaml]", "The policy as YAML")
    text = anybody.driver.find_element(By.NAME, "yaml").get_attribute("value") or ""
    assert "approve_jobs_above: '0.6'" in text
    write(anybody, "yaml", text.replace("votes: 1", "") + "\nvotes: 2\n")
    send(anybody, "See what would change")
    assert anybody.arrives("What would change")
    write(anybody, "reason", "Two pairs of eyes.")
    send(anybody, "Put it into effect")
    assert anybody.comes("#history", "Two pairs of eyes.")
    with console.database.reading() as connection:
        found = policies.in_effect(connection, "heights")
    assert found is not None
    assert (found.number, found.policy.votes, found.policy.reviewers) == (2, 2, ("rival",))
    assert (found.policy.approve_jobs, found.policy.approve_jobs_above) == (False, "0.6")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_preview_fits_and_can_be_used_by_everybody(shared_console: Console, browser: Browser, width: int):
    browser.enter(shared_console, "holder")
    browser.look(f"{shared_console.url}/datasets/heights/policy", width=width)
    browser.complaints()
    write(browser, "max_epsilon_per_job", "0.5")
    unfold(browser, "When a release is out")
    choose(browser, "timing.mode", "coarse")
    write(browser, "timing.step_seconds", "60")
    send(browser, "See what would change")
    assert browser.arrives("What would change")
    assert browser.overflow(width=width) == []
    assert browser.inaccessible() == []
    assert browser.complaints() == []


def test_what_is_seldom_asked_is_folded_until_it_is_refused(console: Console, browser: Browser):
    browser.enter(console, "holder")
    browser.look(f"{console.url}/datasets/heights/policy")
    shown = {name: browser.driver.find_element(By.NAME, name) for name in ("data_users", "max_memory_mib")}
    assert shown["data_users"].is_displayed()
    assert not shown["max_memory_mib"].is_displayed()
    unfold(browser, "memory of a run")
    write(browser, "max_memory_mib", "much")
    send(browser, "See what would change")
    assert browser.comes("#wrong-title", "Nothing was changed")
    refused = browser.driver.find_element(By.NAME, "max_memory_mib")
    assert (refused.is_displayed(), refused.get_attribute("value")) == (True, "much")

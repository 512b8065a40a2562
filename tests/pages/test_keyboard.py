"""From the login to a release with the keyboard alone, and the same way without any script."""

from __future__ import annotations

from browsing import Browser
from selenium.webdriver.common.keys import Keys
from serving import Console
from story import PASSWORD, RELEASED


def test_a_researcher_needs_no_mouse(shared_console: Console, browser: Browser):
    browser.enter(shared_console, None)
    browser.look(f"{shared_console.url}/jobs/{RELEASED}")
    assert browser.heading == "Log in"
    browser.press("ada", Keys.TAB, PASSWORD, Keys.ENTER)
    assert browser.arrives("age-and-height"), "after the login the page that was asked for comes"
    browser.tab_to("Data")
    browser.press(Keys.ENTER)
    assert browser.arrives("Data sets")
    browser.tab_to("Heights and memory")
    browser.press(Keys.ENTER)
    assert browser.arrives("Heights and memory in a small town")
    browser.tab_to("18 categories")
    browser.press(Keys.ENTER)
    assert "site 07" in browser.text("#dictionary")
    browser.tab_to("twin")
    browser.tab_to("Results", most=200)
    browser.press(Keys.ENTER)
    assert browser.arrives("Your jobs")
    browser.tab_to(f"Read the release of age-and-height, {RELEASED}", most=200)
    browser.press(Keys.ENTER)
    assert browser.arrives("Release of age-and-height")


def test_the_first_stop_of_the_keyboard_skips_the_menu(shared_console: Console, browser: Browser):
    browser.enter(shared_console, "ada")
    browser.look(f"{shared_console.url}/jobs")
    browser.press(Keys.TAB)
    assert browser.driver.switch_to.active_element.text == "Skip to the content"
    browser.press(Keys.ENTER)
    assert browser.driver.switch_to.active_element.get_attribute("id") == "content"

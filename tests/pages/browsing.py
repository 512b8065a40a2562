"""A real Chromium without a window, and what can be asked of a page in it.

Where chromedriver runs apart from the tests, `DPGATE_TEST_CHROMEDRIVER` names its address.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from serving import Console
from waiting import wait_until

from gateway.pages.session import COOKIE

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
# all rules, but only what is wrong is described: with what is right it would be some 200 KiB a page
VIOLATIONS = "axe.run({resultTypes: ['violations']}).then(found => JSON.stringify(found.violations))"
# every word that the name of what has the focus can be made of
WORDS_IN_FOCUS = """
const at = document.activeElement, byId = id => document.getElementById(id)?.textContent;
return [at.textContent, at.innerText, at.ariaLabel, at.title, at.placeholder, at.value, at.alt,
    ...[...(at.labels || [])].map(label => label.textContent),
    ...(at.getAttribute('aria-labelledby') || '').split(' ').map(byId)].join(' ').replace(/\\s+/g, ' ')"""
# no page is there for long: in vain are scripts translated for speed, or pages kept for whoever goes back
SHORT_LIVED = ("--js-flags=--no-opt --no-maglev", "--disable-features=BackForwardCache")
Scheme = Literal["light", "dark"]


@dataclass(frozen=True)
class Browser:
    """One Chromium; `enter` makes it somebody's."""

    driver: WebDriver

    def enter(self, console: Console, name: str | None) -> None:
        """Logged in as this person, or as nobody; what is asked for next is theirs."""
        self.driver.get("about:blank")  # the page before may still ask its own console for something
        # through the debugger, since the driver takes cookies on a page of the console only: one more to load
        self._command("Network.clearBrowserCookies", {})
        if name:
            cookie = {"name": COOKIE, "value": console.session(name), "url": console.url}
            self._command("Network.setCookie", cookie)

    def look(self, url: str, *, width: int = 1280, scheme: Scheme = "light") -> None:
        """Open a page at this width and in this scheme of colours."""
        self._command(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        scheme_feature = {"name": "prefers-color-scheme", "value": scheme}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self._command("Emulation.setEmulatedMedia", {"features": [scheme_feature, still]})
        self.driver.get(url)

    def overflow(self, *, width: int) -> list[str]:
        """What reaches beyond the right edge of a window of this width."""
        found: list[str] = self.driver.execute_script(
            """
            // a telephone's browser widens its page to what overflows: its own width says nothing
            const width = Math.min(arguments[0], document.documentElement.clientWidth);
            if (document.documentElement.scrollWidth <= width) return [];
            return [...document.querySelectorAll('body *')]
                .filter(element => element.getBoundingClientRect().right > width + 1)
                .map(element => element.outerHTML.slice(0, 120));
            """,
            width,
        )
        return found

    def complaints(self) -> list[str]:
        """What the console of the browser says: errors, and refusals of the content security policy."""
        return [entry["message"] for entry in self.driver.execute("getLog", {"type": "browser"})["value"]]

    def inaccessible(self) -> list[str]:
        """What axe finds, however small."""
        # through the debugger: the page's own policy lets no foreign script in
        self._command("Runtime.evaluate", {"expression": AXE})
        found = self._command(
            "Runtime.evaluate",
            {"expression": VIOLATIONS, "awaitPromise": True, "returnByValue": True},
        )
        return [
            f"{violation['id']}: {node['html'][:160]} {node['failureSummary']}"
            for violation in json.loads(found["result"]["value"])
            for node in violation["nodes"]
        ]

    def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        found = self._command("Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png"})
        path.write_bytes(base64.b64decode(found["data"]))

    def press(self, *keys: str) -> None:
        """On whatever has the focus."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def tab_to(self, text: str, *, most: int = 80) -> None:
        """With the Tab key alone, to what is called so."""
        for _ in range(most):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            # the driver takes four questions for a name: they are for what may have this one
            if text not in self.driver.execute_script(WORDS_IN_FOCUS):
                continue
            focused = self.driver.switch_to.active_element
            name = focused.accessible_name or focused.text
            if text in name and focused.tag_name != "body":
                return
        raise AssertionError(f"the keyboard does not reach {text}")

    @property
    def heading(self) -> str:
        return self.driver.find_element(By.TAG_NAME, "h1").text

    def text(self, selector: str) -> str:
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def arrives(self, heading: str) -> bool:
        """Wait until a page of this heading is there."""
        return self.comes("h1", heading)

    def comes(self, selector: str, text: str) -> bool:
        """Wait until there is such a text in the place."""

        def is_there() -> bool:
            # a page or fragment may be replaced while it is read, and the driver has several words for it
            with suppress(WebDriverException):
                return text in self.text(selector)
            return False

        return wait_until(is_there, said=f"{text!r} in {selector}")

    def _command(self, name: str, parameters: dict[str, Any]) -> Any:
        return self.driver.execute("executeCdpCommand", {"cmd": name, "params": parameters})["value"]


@contextmanager
def chromium() -> Iterator[Browser]:
    options = Options()
    plain = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
    for argument in (*plain, *SHORT_LIVED):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = _driver(options)
    try:
        yield Browser(driver)
    finally:
        driver.quit()


def _driver(options: Options) -> WebDriver:
    if address := os.environ.get("DPGATE_TEST_CHROMEDRIVER"):
        driver = webdriver.Remote(command_executor=address, options=options)
        driver.command_executor._commands["executeCdpCommand"] = (
            "POST",
            "/session/$sessionId/goog/cdp/execute",
        )
        driver.command_executor._commands["getLog"] = ("POST", "/session/$sessionId/se/log")
        return driver
    browser, server = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or server is None:
        # selenium would look for them on the network
        raise FileNotFoundError("chromium and chromedriver are missing; deploy/test-host.sh installs them")
    options.binary_location = browser
    return webdriver.Chrome(options=options, service=Service(server))

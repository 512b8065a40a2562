"""Somebody who goes from page to page in a real Chromium, looks at each of them, and reads what it says."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from waiting import PATIENCE_S, let_pass, wait_until

AXE = (Path(__file__).parents[1] / "pages" / "axe" / "axe.min.js").read_text(encoding="utf-8")
# all rules, but only what is wrong is described: with what is right it would be some 200 KiB a page
VIOLATIONS = "axe.run({resultTypes: ['violations']}).then(found => JSON.stringify(found.violations))"
PASSWORD = "correct horse battery staple"
TELEPHONE = 600
# what the browser says of a form that was refused, or of anything in maintenance
REFUSED = "Failed to load resource: the server responded with a status of "
EXPECTED = (f"{REFUSED}4", f"{REFUSED}503")
OVERFLOW = """
(() => {
    // a telephone's browser widens its page to what overflows: its own width says nothing
    const width = Math.min(%d, document.documentElement.clientWidth);
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll('body *')]
        .filter(element => element.getBoundingClientRect().right > width + 1)
        .map(element => element.outerHTML.slice(0, 120));
})()
"""


@dataclass(frozen=True)
class Mode:
    """How somebody looks at pages."""

    name: str
    scripts: bool
    width: int


MODES = (Mode("js", True, 1280), Mode("nojs", False, 390))


@dataclass
class Walks:
    """All people of one test."""

    browser: Browser
    url: str
    mode: Mode
    shots: Path | None
    contexts: list[BrowserContext] = field(default_factory=list)

    def begin(self, role: str, name: str) -> Walker:
        """A window without a login, for somebody of this role and name."""
        width = self.mode.width
        context = self.browser.new_context(
            base_url=self.url,
            java_script_enabled=self.mode.scripts,
            viewport={"width": width, "height": 900},
            is_mobile=width < TELEPHONE,
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE_S * 1000)
        self.contexts.append(context)
        shots = self.shots and self.shots / f"{role}-{self.mode.name}"
        return Walker(context.new_page(), self.mode, shots, name)

    def close(self) -> None:
        for context in self.contexts:
            context.close()


@dataclass
class Walker:
    """One person's window. `seen` numbers the pictures; `shots` is how their names begin, None for no
    pictures: each takes a quarter of a second."""

    page: Page
    mode: Mode
    shots: Path | None
    name: str
    seen: int = 0
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on(
            "console",
            lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None,
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def first_login(self, password: str, *, wanted: str = "/") -> None:
        """With the operator's password, which is good for choosing another one, and then to `wanted`."""
        self.go(wanted)
        self.sees("Log in", heading=True)
        self.look("login")
        self.write({"Name": self.name, "Password": password})
        self.press("Log in")
        self.sees("First choose a password of your own")
        self.look("first-password", axe=True)
        self.write({"The password so far": password, "A new one": PASSWORD, "The new one again": PASSWORD})
        self.press("Change the password")
        self.sees("A token lets a program act as you")
        self.look("account")
        self.go(wanted)

    def go(self, path: str) -> None:
        self.page.goto(path, wait_until="load")

    def follow(self, text: str, *, within: str = "body") -> None:
        """The link of this name."""
        self.page.locator(within).get_by_role("link", name=text).first.click()

    def press(self, text: str, *, within: str = "body") -> None:
        """The button of this name; those that are there for the keyboard alone do not count."""
        buttons = self.page.locator(within).get_by_role("button", name=text)
        buttons.and_(self.page.locator("button:not(.hidden)")).first.click()

    def write(self, texts: dict[str, str]) -> None:
        """Into fields by their labels, in place of what is there."""
        for label, text in texts.items():
            self.field(label).fill(text)

    def choose(self, label: str, option: str) -> None:
        """In a list, by what it says or stands for."""
        self.field(label).select_option(option)

    def field(self, label: str) -> Locator:
        return self.page.get_by_label(label, exact=True).first

    def tick(self, label: str, *, within: str = "body") -> None:
        self.page.locator(within).get_by_label(label).first.check()

    def unfold(self, label: str) -> None:
        """What is seldom decided is folded."""
        self.page.locator("details", has=self.page.get_by_label(label)).locator("summary").click()

    def save(self, text: str, path: Path) -> Path:
        """What comes down behind this link."""
        with self.page.expect_download() as coming:
            self.follow(text)
        coming.value.save_as(path)
        return path

    def sees(self, *texts: str, heading: bool = False) -> None:
        """All of these on the page that is there, or comes."""
        place = self.page.locator("h1" if heading else "body")
        for text in texts:
            expect(place).to_contain_text(text, timeout=PATIENCE_S * 1000)

    def sees_not(self, text: str) -> None:
        """To be asked of a page of which something else was seen."""
        expect(self.page.locator("main")).not_to_contain_text(text, timeout=PATIENCE_S * 1000)

    def waits_for(self, text: str, *, within: str = "main", alone: bool = False) -> None:
        """Until the page says so. Pages with `alone` follow by themselves where there are scripts; everywhere
        else somebody loads them again."""
        if alone and self.mode.scripts:
            expect(self.page.locator(within)).to_contain_text(text, timeout=PATIENCE_S * 1000)
            return
        if text not in self.page.locator(within).inner_text():
            wait_until(lambda: self._says_anew(text, within), said=f"{self.page.url}, saying: {text}")

    def _says_anew(self, text: str, within: str) -> bool:
        let_pass(0.3, because="whoever loads a page again and again keeps the platform from its work")
        self.page.reload(wait_until="load")
        return text in self.page.locator(within).inner_text()

    def look(self, page: str, *, axe: bool = False) -> None:
        """A picture, if wanted; nothing reaches beyond the page's edge, and the browser has nothing to say.
        The page has to be there: to be asked after something was seen of it.

        `axe`: for what no test of single pages looks at.
        """
        self.seen += 1
        if self.shots:
            self._asked("window.scrollTo(0, 0)")
            picture = self.shots.with_name(f"{self.shots.name}-{self.seen:02d}-{page}.png")
            self.page.screenshot(path=picture, full_page=True)
        assert self._asked(OVERFLOW % self.mode.width) == [], f"{page} is too wide"
        assert [said for said in self.complaints if not said.startswith(EXPECTED)] == []
        if axe and self.mode.scripts:
            found = json.loads(self._asked(f"{AXE};\n{VIOLATIONS}"))
            assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []

    def _asked(self, expression: str) -> Any:
        # through the debugger: it works without scripts, and the page's own policy lets no foreign script in
        session = self.page.context.new_cdp_session(self.page)
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = session.send("Runtime.evaluate", asked)
        session.detach()
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

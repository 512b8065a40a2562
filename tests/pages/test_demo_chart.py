"""The chart that a demo leaves, in a browser: it fits, and axe finds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import Browser
from demo_found import found

from dpgate.demo import chart_page

CUT = """
const inside = (text, frame) => text.left >= frame.left && text.right <= frame.right;
return [...document.querySelectorAll('svg text')].filter(text => text.checkVisibility()
    && !inside(text.getBoundingClientRect(), text.closest('svg').getBoundingClientRect()))
    .map(text => text.textContent);"""
"""Words that a drawing cuts off: a frame hides them, so that they do not widen the page."""


@pytest.mark.parametrize("width", [390, 1280])
def test_the_chart_of_a_demo_fits_and_axe_finds_nothing(browser: Browser, tmp_path: Path, width: int):
    page = tmp_path / "chart.html"
    page.write_text(chart_page.draw(found()), encoding="utf-8")
    browser.complaints()
    browser.look(page.as_uri(), width=width)
    assert browser.heading == "What the platform gave, and what it kept"
    assert browser.overflow(width=width) == []
    assert browser.inaccessible() == []
    assert browser.complaints() == []
    shown = [drawing.is_displayed() for drawing in browser.driver.find_elements("css selector", "svg")]
    assert shown == [width == 1280, width == 390]
    assert browser.driver.execute_script(CUT) == []

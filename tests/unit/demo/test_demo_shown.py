"""The end of a demo fits a screen, its chart is well formed, and whoever waits is told."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from demo_found import found
from rich.console import Console
from waiting import wait_until

from dpgate.demo import chart_page, patience
from dpgate.demo.picture import draw, sentence
from dpgate.demo.route import HEIGHT, WIDTH, screen


def test_the_end_fits_one_screen():
    lines = screen(found(), chart=Path("dpgate-demo.html")).split("\n")
    assert len(lines) < HEIGHT
    assert max(map(len, lines)) <= WIDTH


def test_the_end_says_what_was_found():
    text = screen(found(), chart=Path("chart.html"))
    assert "women, up to 50k dollars      40.0 ± 0.2      38.7 ± 1.2      40.0" in text
    assert "From a guess of 50 % that makes 73 %; never beyond 73 %." in text
    assert "7 of 11 lie within their interval" in text
    assert "Chart: chart.html" in text


@pytest.mark.parametrize("width", [350, 760])
def test_a_drawing_stays_inside_its_frame(width: int):
    root = ET.fromstring(draw(found(), width=width))
    places = [
        float(value)
        for element in root.iter()
        for name, value in element.attrib.items()
        if name in ("x1", "x2", "cx")
    ]
    assert len(places) > 20
    assert all(0 < place < width for place in places)
    assert root.attrib["aria-label"] == sentence(found())


def test_a_chart_loads_nothing_and_has_every_number():
    text = chart_page.draw(found())
    assert "src=" not in text
    assert "href=" not in text
    assert "<script" not in text
    for answer in found().answers:
        assert f"{answer.value:.1f} ± {answer.within:.1f}" in text


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What patience prints."""
    text = io.StringIO()
    monkeypatch.setattr(patience, "err", Console(file=text, width=200))
    return text


def test_whoever_waits_is_told_what_for(told: io.StringIO):
    with patience.patience("importing", shown=True, first_s=0.01, then_s=0.01) as progress:
        progress.step(3, 8)
        wait_until(lambda: " of " in told.getvalue())
    last = told.getvalue().splitlines()[-1]
    assert re.fullmatch(r"  \.\.\. importing, 3 of 8: \d+ s", last)


def test_what_is_quick_is_not_spoken_of(told: io.StringIO):
    with patience.patience("importing", shown=True, first_s=30):
        pass
    with patience.patience("importing", shown=False, first_s=0):
        pass
    assert told.getvalue() == ""

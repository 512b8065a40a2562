"""Whatever people store is shown as text: markup, scripts, attributes and template syntax stay letters."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser

import pytest
from browsing import Browser
from factories import make_release
from serving import Console
from told_data_sets import BREAKOUT, HOSTILE, SCRIPT
from told_drafts import EVERY_STEP, HOSTILE_DRAFT

from domain.release import ReleasedResult, ReleasedValue
from gateway.pages.release import as_csv

PAGES = (
    ("ada", "/"),
    ("ada", "/?q=%22%27%3E%3Cimg%20src%3Dx%20onerror%3D%22x%22%3E"),
    ("ada", f"/datasets/{HOSTILE}"),
    ("bob", "/jobs"),
    ("bob", "/jobs/job-hostile1"),
    ("bob", "/jobs/job-half-decided"),
    ("holder", "/reviews/job-half-decided"),
    ("ada", f"/budget/{HOSTILE}"),
    ("holder", f"/datasets/{HOSTILE}/policy"),
    ("holder", f"/datasets/{HOSTILE}/policy?way=yaml"),
    ("ada", f"/datasets/{HOSTILE}/attacker"),
    ("ada", f"/datasets/{HOSTILE}?q=%22%27%3E%3Cimg%20src%3Dx%20onerror%3D%22x%22%3E"),
    ("holder", "/budget/heights?user=%22%27%3E%3Cimg%20src%3Dx%3E&account=%3Cscript%3E"),
    ("holder", "/audit?actor=%22%27%3E%3Cimg%20src%3Dx%20onerror%3D%22x%22%3E"),
    ("holder", "/datasets/new"),
    *(("holder", f"/datasets/new/{HOSTILE_DRAFT}/{step}") for step in (*EVERY_STEP, "tables/0")),
    ("bob", "/projects"),
    ("bob", "/projects/odd"),
    ("ada", "/projects?dataset=%22%27%3E%3Cimg%20src%3Dx%20onerror%3D%22x%22%3E"),
    ("ada", "/projects/sleep?dataset=%22%27%3E%3Cimg%20src%3Dx%20onerror%3D%22x%22%3E"),
    ("holder", "/projects"),
    ("holder", "/projects/odd/grants/heights"),
    ("ada", f"/projects/sleep/grants/{HOSTILE}"),
    ("ada", "/jobs/%3Cscript%3Ealert(1)%3C%2Fscript%3E"),
    ("ada", "/login?next=%22%3E%3Cscript%3E"),
)
OURS = {"htmx.min.js", "console.css", "icon.svg"}


class Elements(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize(("name", "path"), PAGES)
def test_nothing_that_was_stored_becomes_an_element(shared_console: Console, name: str, path: str):
    with shared_console.visit(name) as visitor:
        answer = visitor.client.get(path, follow_redirects=True)
    page = Elements()
    page.feed(answer.text)
    for tag, attributes in page.found:
        assert not any(attribute.startswith("on") or attribute == "style" for attribute in attributes)
        assert tag not in ("iframe", "object", "embed", "base", "style")
        if tag in ("script", "img"):
            loaded = str(attributes.get("src")).rpartition("/")[2].partition("?")[0]
            assert loaded in OURS, attributes
    assert sum(tag == "script" for tag, _ in page.found) == 1


def test_hostile_text_is_there_as_text(shared_console: Console, browser: Browser):
    browser.enter(shared_console, "ada")
    browser.complaints()
    browser.look(f"{shared_console.url}/datasets/{HOSTILE}")
    shown = browser.text("main")
    assert SCRIPT in shown
    assert BREAKOUT in shown
    assert browser.driver.title == f"Title {SCRIPT}{BREAKOUT} · dpgate"
    assert browser.complaints() == []


def test_no_cell_of_a_downloaded_table_is_a_formula():
    names = ["=HYPERLINK()", "+1", "-1", "@SUM", "\tx", "plain, with a comma", 'a "quote"']
    values = tuple(ReleasedValue(name=name, value=-1.5, grid_step=1) for name in names)
    result = ReleasedResult(
        name="=1", kind="total", parts=("=1.share",), value=None, lower_95=-2, upper_95=3.5
    )
    release = make_release(job_id="job-1", values=values).model_copy(update={"results": (result,)})
    *rows, computed = csv.reader(io.StringIO(as_csv(release)))
    assert computed == ["'=1", "", "-2.0", "3.5", "", "", "", "", "pure_dp", "total of =1.share"]
    assert {row[-1] for row in rows[1:]} == {""}
    assert [row[0] for row in rows[1:6]] == [f"'{name}" for name in names[:5]]
    assert [row[0] for row in rows[6:]] == names[5:]
    assert {row[1] for row in rows[1:]} == {"-1.5"}

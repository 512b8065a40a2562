"""What a notebook shows of the SDK's objects, in a real Chromium: legible in light and dark, run nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import Browser
from shown_objects import budget_of, dataset_of, job_of, preview_of, release_of, value_of

# a script that ran would show itself here: a notebook has no policy that stops it
EVIL = "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"
NOTEBOOK = (
    '<!doctype html><html lang="en"><head><title>Notebook</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta charset="utf-8">'
    "<style>body {{ background: {ground}; color: {ink}; }}</style></head>"
    "<body><main><h1>Cells</h1>{cells}</main></body></html>"
)


@pytest.mark.parametrize(("width", "ground", "ink"), [(1280, "#fff", "#111"), (390, "#111", "#eee")])
def test_cells_are_legible_and_run_nothing(
    browser: Browser, tmp_path: Path, width: int, ground: str, ink: str
) -> None:
    hostile = [release_of(values=[value_of(EVIL, 1.0)]), job_of(title=EVIL, state=EVIL), preview_of(EVIL)]
    things = [release_of(), release_of(30), job_of(), budget_of(), dataset_of(), preview_of(), *hostile]
    cells = "".join(f"<div>{thing._repr_html_()}</div>" for thing in things)
    page = tmp_path / "notebook.html"
    page.write_text(NOTEBOOK.format(ground=ground, ink=ink, cells=cells), encoding="utf-8")
    browser.complaints()
    browser.look(page.as_uri(), width=width)
    assert browser.overflow(width=width) == []
    assert browser.inaccessible() == []
    assert browser.complaints() == []
    assert browser.driver.title == "Notebook"

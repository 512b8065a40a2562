"""IPython itself asks the SDK's objects for what a notebook shows."""

from __future__ import annotations

import pytest
from IPython.core.formatters import DisplayFormatter
from shown_objects import budget_of, dataset_of, job_of, preview_of, release_of

THINGS = {
    "budget": budget_of(),
    "dataset": dataset_of(),
    "job": job_of(),
    "preview": preview_of(),
    "release": release_of(),
}


def test_a_cell_gets_html_and_a_text_beside_it(subtests: pytest.Subtests) -> None:
    for noun, thing in THINGS.items():
        with subtests.test(msg=noun):
            shown, _ = DisplayFormatter().format(thing)
            assert shown["text/html"] == thing._repr_html_()
            assert "dpgate-view" in shown["text/html"]
            assert shown["text/plain"].strip()


def test_what_has_no_html_is_told_apart() -> None:
    shown, _ = DisplayFormatter().format(object())
    assert "text/html" not in shown

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


@pytest.mark.parametrize("noun", THINGS)
def test_a_cell_gets_html_and_a_text_beside_it(noun: str) -> None:
    shown, _ = DisplayFormatter().format(THINGS[noun])
    assert shown["text/html"] == THINGS[noun]._repr_html_()
    assert "dpgate-view" in shown["text/html"]
    assert shown["text/plain"].strip()


def test_what_has_no_html_is_told_apart() -> None:
    shown, _ = DisplayFormatter().format(object())
    assert "text/html" not in shown

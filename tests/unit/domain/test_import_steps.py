"""How long an import took is one of few numbers."""

from __future__ import annotations

from itertools import takewhile

from worker.importing import step_after, steps

DAY_S = 86_400


def test_an_import_ends_at_one_of_few_moments() -> None:
    """And is never shown before it ended, nor, but for the quickest, at more than twice its time."""
    within_a_day = list(takewhile(lambda step: step < DAY_S, steps()))
    assert len(within_a_day) == 43
    for took_s in (0.0, 0.01, 0.3, 0.45, 0.5, 0.51, 63.0, 64.0, 65.0, 5000.0, 80_000.0):
        assert took_s <= step_after(took_s) <= max(2 * took_s, within_a_day[0])
        assert step_after(step_after(took_s)) == step_after(took_s)


def test_somebody_heavy_moves_it_by_whole_steps_alone() -> None:
    assert step_after(0.30) == step_after(0.45) == 0.5
    assert step_after(47.7) == 64.0

"""Slots of SIESTA's workflow: they open before their runs may begin, since libraries take their time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from waiting import wait_until

from companions.siesta.bids_app import AppOptions, load_app
from companions.siesta.slots import Slots
from dpgate.local_slots import open_local
from worker.sandbox.protocol import NOTHING, RunResult, SandboxUnavailable, Slot

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_slots_open_before_their_runs_may_begin_and_end_where_none_did() -> None:
    pipeline = load_app(EXAMPLES / "bids-means-python", AppOptions())
    opened: list[Slot] = []
    kept: list[str] = []
    with open_local(pipeline, twin=EXAMPLES / "heights" / "data", python_env=None, images=None) as slots:

        def run(slot: Slot, _work: str) -> RunResult:
            return slot.run(NOTHING)

        def keep(work: str, result: RunResult, _seconds: float) -> None:
            assert result.detail is not None
            kept.append(work)

        def open_slot(number: int) -> Slot:
            if number > 0:
                raise SandboxUnavailable("no second slot")
            opened.append(replace(slots, slot=number).for_groups())
            return opened[-1]

        with Slots(open_slot, run, keep, ["a", "b"], 1) as runs:
            wait_until(lambda: opened)
            assert kept == []
            assert runs.run_all() == 2
        with Slots(open_slot, run, keep, ["c"], 1):
            pass  # what comes before has failed: no run, and the slot is closed
        assert sorted(kept) == ["a", "b"]
        with Slots(open_slot, run, keep, ["d"] * 9, 2) as runs, pytest.raises(SandboxUnavailable):
            runs.run_all()

"""Times and limits that the worker derives, from public values alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from factories import make_dataset, make_declaration, make_manifest, make_pipeline, policy_fields

from domain.schedule import JOB_OVERHEAD_S, OPENING_S, PUT_OFF_S, Schedule
from worker import time_grid
from worker.chunk import Chunk, grid_of
from worker.order import limits_for, order_for
from worker.participant_chunk import _made
from worker.sandbox.protocol import Audience
from worker.time_grid import COLLECTING_S, TimeGrid


@dataclass
class Clock:
    """One that the test puts forward. Who sleeps wakes too early at first, as the system allows."""

    now: float = 5_000.0
    naps: int = 0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.naps += 1
        self.now += seconds if self.naps % 2 == 0 else seconds / 2


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time_grid, "time", clock)
    return clock


def chunk(clock: Clock, mode: dict[str, Any], *, claimed_ago_s: float = 0.0) -> Chunk:
    dataset = make_dataset(declaration=make_declaration(policy=policy_fields(timing=mode)))
    schedule = Schedule(runs=4, wall_s=0.2, slots=2, nominal_size=20)
    return Chunk(
        job=cast(Any, SimpleNamespace()),
        dataset=dataset,
        number=0,
        claim="",
        schedule=schedule,
        claimed_at=clock.now - claimed_ago_s,
    )


PADDED = {"mode": "padded"}


@pytest.mark.parametrize("claimed_ago_s", [0.0, 0.3, 0.9])
def test_the_first_run_starts_at_a_public_time_however_long_staging_took(
    clock: Clock, claimed_ago_s: float
) -> None:
    padded = chunk(clock, PADDED, claimed_ago_s=claimed_ago_s)
    grid_of(padded).wait_for(0)
    assert clock.now - padded.claimed_at == pytest.approx(padded.schedule.first_run_s)


def test_runs_start_one_quantum_apart(clock: Clock) -> None:
    padded = chunk(clock, PADDED)
    grid, schedule = grid_of(padded), padded.schedule
    for turn in range(schedule.chunk_size + 1):
        grid.wait_for(turn)
        assert clock.now - padded.claimed_at == pytest.approx(
            schedule.first_run_s + turn * schedule.quantum_s
        )
        clock.now += schedule.quantum_s * (0.9, 0.1)[turn % 2]  # how long a run took tells nobody anything


def test_coarse_runs_do_not_wait(clock: Clock) -> None:
    grid_of(chunk(clock, {"mode": "coarse", "step_seconds": 1})).wait_for(3)
    assert clock.naps == 0


def test_a_chunk_whose_opening_was_late_begins_at_a_later_step_and_one_step_makes_no_release_late(
    clock: Clock, caplog: pytest.LogCaptureFixture, subtests: pytest.Subtests
) -> None:
    for wall_s, late_s, steps in ((0.2, 0.01, 1), (60, 0.49, 1), (0.2, 0.51, 2), (60, 59.9, 120)):
        with subtests.test(f"{late_s} s, runs of {wall_s} s"):
            late = chunk(clock, PADDED)
            late = replace(late, schedule=late.schedule.model_copy(update={"wall_s": wall_s}))
            grid, schedule = grid_of(late), late.schedule
            first = clock.now + schedule.first_run_s
            clock.now = first + late_s
            for turn in (0, 1):
                assert grid.wait_for(turn)
                assert clock.now == pytest.approx(first + steps * PUT_OFF_S + turn * schedule.quantum_s)
            grid.end(schedule.chunk_size)
            left_s = late.claimed_at + schedule.visible_after_s - clock.now
            assert (left_s >= PUT_OFF_S - 1e-6) == (steps == 1)
    assert caplog.text.count("is too busy for its time grid") == 4


def test_what_is_not_ready_at_its_turn_is_not_made_and_the_others_keep_theirs(clock: Clock) -> None:
    padded = chunk(clock, PADDED)
    grid, quantum_s = grid_of(padded), padded.schedule.quantum_s
    first = clock.now + padded.schedule.first_run_s
    made = []
    for turn, took in enumerate((0.5, 1.01, 0, 0.9, 0.9, 0.9)):  # turn 1 is slow to end
        if grid.wait_for(turn):
            made.append(turn)
            assert clock.now == pytest.approx(first + turn * quantum_s)
            clock.now += took * quantum_s
    assert made == [0, 1, 3, 4, 5]
    grid.end(6)
    assert clock.now == pytest.approx(first + 6 * quantum_s)


def test_a_chunk_that_ends_late_ends_at_an_edge(clock: Clock) -> None:
    padded = chunk(clock, PADDED)
    grid, quantum_s = grid_of(padded), padded.schedule.quantum_s
    assert grid.wait_for(0)
    clock.now += 2.5 * quantum_s
    grid.end(1)
    assert clock.now - padded.claimed_at == pytest.approx(padded.schedule.first_run_s + 3 * quantum_s)


def test_a_person_who_is_not_ready_at_their_turn_gets_one_behind_the_others(clock: Clock) -> None:
    people = {turn: f"p{turn}" for turn in (4, 5, 7)}
    grid = TimeGrid(start=clock.now + 1, quantum_s=1, padded=True)
    made = []
    slot = cast(Any, SimpleNamespace(take_turn=lambda _, on_time: on_time))
    for turn, within_s in _made(grid, slot, range(4, 8), people):
        assert within_s == pytest.approx(1 - COLLECTING_S)
        made.append((turn, round(clock.now - 5_001)))
        clock.now += 1.5 if turn == 4 else 0.5
    assert made == [(4, 0), (6, 2), (7, 3), (5, 4)]


def test_what_is_kept_for_messages_and_the_release() -> None:
    schedule = Schedule(runs=20, wall_s=2, slots=2, nominal_size=60)
    last_run_ends = schedule.first_run_s + schedule.chunk_size * schedule.quantum_s
    assert schedule.visible_after_s - last_run_ends == pytest.approx(JOB_OVERHEAD_S - OPENING_S)


def test_every_run_gets_the_manifests_limits() -> None:
    resources = make_manifest(
        resources={"wall_seconds": 2.5, "memory_mib": 64, "processes": 3, "output_mib": 17}
    ).resources
    limits = limits_for(resources, file_bytes=65_536)
    assert (limits.wall_s, limits.memory_bytes, limits.processes) == (2.5, 64 * 2**20, 3)
    assert (limits.output_bytes, limits.file_bytes) == (17 * 2**20, 65_536)
    assert limits.cpu_s >= resources.wall_seconds


def test_the_order_for_original_data_differs_from_the_twins_in_the_audience_only() -> None:
    image = cast(Any, SimpleNamespace(name="python", digest="sha256:0"))
    twin = order_for(make_pipeline(), image=image, audience=Audience.TWIN)
    original = order_for(make_pipeline(), image=image, audience=Audience.ORIGINAL)
    assert replace(twin, audience=Audience.ORIGINAL) == original
    assert original.outputs == ("result.tsv",)

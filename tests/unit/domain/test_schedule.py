"""The schedule covers every block once, and the time of release follows from public values alone."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.schedule import LONGEST_CHUNK_S, Schedule, coarse_time, padded_time

SCHEDULES = st.builds(
    Schedule,
    blocks=st.integers(2, 20_000),
    wall_s=st.floats(0.2, 86_400),
    slots=st.integers(1, 256),
    nominal_size=st.integers(6, 1_000_000),
)
INSTANTS = st.floats(1.6e9, 2e9)


@given(SCHEDULES)
def test_chunks_cover_the_blocks_exactly_once(schedule):
    covered = [block for chunk in range(schedule.chunks) for block in schedule.blocks_of(chunk)]
    assert covered == list(range(schedule.blocks))
    assert all(len(schedule.blocks_of(chunk)) > 0 for chunk in range(schedule.chunks))


@given(SCHEDULES)
def test_no_chunk_is_long_unless_a_single_run_is(schedule):
    assert schedule.chunk_size == 1 or schedule.chunk_size * schedule.quantum_s <= LONGEST_CHUNK_S


@given(SCHEDULES)
def test_every_run_ends_before_the_release_is_visible(schedule):
    rounds = -(-schedule.chunks // schedule.slots)
    assert schedule.visible_after_s >= rounds * schedule.chunk_size * schedule.wall_s
    assert schedule.visible_after_s >= schedule.chunk_s


def test_the_schedule_knows_public_values_only():
    assert set(Schedule.model_fields) == {"blocks", "wall_s", "slots", "nominal_size"}
    assert set(inspect.signature(padded_time).parameters) == {"due", "finished", "late_tick_s"}


@given(INSTANTS, st.floats(0, 1e6), st.floats(1, 600))
def test_padded_time_in_time_is_the_same_however_long_the_runs_took(due, early, tick):
    assert padded_time(due=due, finished=due - early, late_tick_s=tick) == due


@given(INSTANTS, st.floats(0, 1e5), st.floats(1, 600))
def test_padded_time_when_late_is_a_whole_number_of_ticks_after_due(due, late, tick):
    visible = padded_time(due=due, finished=due + late, late_tick_s=tick)
    ticks = (visible - due) / tick
    assert ticks == pytest.approx(round(ticks), abs=1e-5)
    assert due + late - 1e-5 <= visible <= due + late + tick + 1e-5


@given(INSTANTS, st.floats(0.1, 3600))
def test_coarse_time_is_the_next_step(finished, step):
    visible = coarse_time(finished=finished, step_s=step)
    assert finished - 1e-5 <= visible <= finished + step + 1e-5
    assert visible / step == pytest.approx(round(visible / step), abs=1e-5)


def test_finished_within_one_step_looks_the_same():
    assert {coarse_time(finished=second, step_s=60) for second in (61, 75.5, 119.9, 120)} == {120}

"""The schedule covers every block once, and the time of release follows from public values alone."""

from __future__ import annotations

import inspect
from itertools import chain

import pytest
from factories import (
    job_request_fields,
    make_declaration,
    make_job_request,
    make_manifest,
    manifest_fields,
    policy_fields,
    table_fields,
)
from hypothesis import given
from hypothesis import strategies as st

from domain import carrying
from domain.errors import InvalidRequest
from domain.model import parse
from domain.pipeline import OutputFile
from domain.policy import Timing
from domain.schedule import (
    LONGEST_CHUNK_S,
    MOST_SEATS,
    MOST_TURNS,
    QUEUEING_S,
    Busy,
    Schedule,
    begins_at,
    coarse_time,
    padded_time,
)
from domain.shape import Shape, lock
from formats import nifti
from worker.sandbox.core.seat import RUNS_PER_SUPERVISOR

SCHEDULES = st.builds(
    Schedule,
    runs=st.integers(2, 4000),
    wall_s=st.floats(0.2, 86_400),
    slots=st.integers(1, 256),
    nominal_size=st.integers(6, 1_000_000),
    turns=st.just(0) | st.integers(1, 4000),
)
INSTANTS = st.floats(1.6e9, 2e9)


@given(SCHEDULES)
def test_chunks_cover_the_runs_and_turns_exactly_once(schedule):
    first = schedule.participant_chunks
    assert [schedule.is_participant(chunk) for chunk in (first - 1, first)] == [True, False]
    turns = [schedule.turns_of(chunk) for chunk in range(first)]
    runs = [schedule.runs_of(chunk) for chunk in range(first, schedule.chunks)]
    assert list(chain(*turns)) == list(range(schedule.turns))
    assert list(chain(*runs)) == list(range(schedule.runs))
    assert all(map(len, turns + runs))


@given(SCHEDULES)
def test_no_chunk_is_long_unless_a_single_run_is(schedule):
    for size in (schedule.chunk_size, schedule.participant_chunk_size):
        assert size == 1 or size * schedule.quantum_s <= LONGEST_CHUNK_S
    assert schedule.participant_chunk_size <= MOST_TURNS <= RUNS_PER_SUPERVISOR


@given(SCHEDULES, st.floats(0.5, 21))
def test_a_run_that_is_slow_to_die_has_its_seat_for_that_long(schedule, dying_s):
    slow = schedule.model_copy(update={"dying_s": dying_s})
    assert slow.quantum_s >= schedule.quantum_s
    for chunk in {0, slow.chunks - 1}:
        turns = slow.participant_chunk_size if slow.is_participant(chunk) else slow.chunk_size
        seats = slow.seats_of(chunk)
        assert 1 <= seats <= min(MOST_SEATS, turns)
        assert seats == turns or (seats - 1) * slow.quantum_of(chunk) >= dying_s * (1 - 1e-9)


def test_its_end_costs_no_turn_of_a_pipeline_with_the_usual_limits():
    for wall_s, seats in ((10, 2), (1, 3), (0.2, 4)):
        pipeline = job_request_fields()["pipeline"]
        manifest = manifest_fields(resources={"wall_seconds": wall_s})
        request = make_job_request(pipeline={**pipeline, "manifest": manifest})
        schedule = request.schedule(make_declaration(), slots=1)
        assert schedule.dying_s == pytest.approx(0.5 + 64 * 0.02 + 0.6 * wall_s)
        assert schedule.quantum_s == schedule.model_copy(update={"dying_s": 0}).quantum_s
        assert schedule.seats_of(0) == seats


@given(SCHEDULES)
def test_every_run_ends_before_the_release_is_visible(schedule):
    people, groups = (
        -(-count // schedule.slots) for count in (schedule.participant_chunks, schedule.group_chunks)
    )
    ends = people * schedule.participant_chunk_size + groups * schedule.chunk_size
    assert schedule.visible_after_s >= ends * schedule.wall_s
    for chunk in {0, schedule.chunks - 1}:
        assert schedule.visible_after_s >= schedule.longest_s(chunk)


@given(SCHEDULES)
def test_without_a_participant_level_only_the_group_runs_count(schedule):
    alone = schedule.model_copy(update={"turns": 0})
    assert alone.participant_chunks == 0
    assert alone.chunks == schedule.group_chunks
    assert alone.visible_after_s == -(-alone.chunks // alone.slots) * alone.chunk_s
    assert [list(alone.runs_of(chunk)) for chunk in range(alone.chunks)] == [
        list(schedule.runs_of(chunk)) for chunk in range(schedule.participant_chunks, schedule.chunks)
    ]


@pytest.mark.parametrize(
    ("turns", "chunks", "visible_after_s"),
    # by hand: quantum 2.5 s, opening and messages 2.003 s; 81 turns are 41 on a slot, 20 runs are 10
    [(0, 2, 2.003 + 10 * 2.5), (81, 4, 2 * 2.003 + (41 + 10) * 2.5), (1, 3, 2 * 2.003 + (1 + 10) * 2.5)],
)
def test_figures_of_a_small_study(turns, chunks, visible_after_s):
    schedule = Schedule(runs=20, wall_s=2, slots=2, nominal_size=60, turns=turns)
    assert schedule.chunks == chunks
    assert schedule.visible_after_s == pytest.approx(visible_after_s)


@pytest.mark.parametrize(
    ("levels", "turns", "carrying_s"), [(["group"], 0, 0), (["participant", "group"], 81, 0.8)]
)
def test_what_a_request_takes_from_the_declaration(levels, turns, carrying_s):
    pipeline = job_request_fields()["pipeline"]
    request = make_job_request(
        pipeline={**pipeline, "manifest": manifest_fields(levels=levels, resources={"wall_seconds": 2})}
    )
    for staging, quantum_s in ((0, 2.5), (7.5, 10)):
        timing = {"mode": "padded", "staging_seconds": staging}
        declaration = make_declaration(nominal_size=60, policy=policy_fields(timing=timing))
        schedule = request.schedule(declaration, slots=2)
        assert schedule.turns == turns
        brought_s = schedule.people * schedule.person_s
        assert schedule.quantum_s == pytest.approx(quantum_s + carrying_s + brought_s)
        assert brought_s < 0.05  # one short row of each: within what any run has


def test_a_turn_has_room_for_the_most_of_everybody_in_a_run():
    def schedule_with(**fields):
        tables = [table_fields(), table_fields(path="visits.tsv", rows_per_person="many", **fields)]
        return make_job_request().schedule(make_declaration(nominal_size=60, tables=tables), slots=2)

    little, much = schedule_with(most_rows=10), schedule_with(most_rows=100_000)
    # 100,000 rows of at most 256 bytes at 100 MiB a second, and a few milliseconds to open where they lie
    assert much.person_s - little.person_s == pytest.approx(99_990 * 256 / 2**20 / 100, rel=0.05)
    assert much.quantum_s - little.quantum_s == pytest.approx(much.people * (much.person_s - little.person_s))
    assert much.first_run_s - little.first_run_s == pytest.approx(much.quantum_s - little.quantum_s)
    assert much.visible_after_s > little.visible_after_s
    # 81 people at the most, in 20 blocks by lot
    assert 81 / 20 < much.people <= 81


def test_room_for_staging_belongs_to_padded_timing_and_is_no_news_to_older_declarations():
    with pytest.raises(InvalidRequest, match="staging_seconds belongs to mode padded"):
        parse(Timing, {"mode": "coarse", "step_seconds": 5, "staging_seconds": 1})
    assert Timing().model_dump(mode="json") == {"mode": "padded", "step_seconds": None}


def test_the_schedule_knows_public_values_only():
    fields = {
        "runs",
        "wall_s",
        "slots",
        "nominal_size",
        "turns",
        "carrying_s",
        "person_s",
        "people",
        "dying_s",
    }
    assert set(Schedule.model_fields) == fields
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


@pytest.mark.parametrize(
    ("levels", "output_mib", "expected"),
    [
        (["group"], 16, 0),
        (["group"], 1, 0),
        (["group"], 116, 5),
        (["participant", "group"], 1, 0.05),
        (["participant", "group"], 512, 25.6),
    ],
)
def test_every_turn_has_room_for_the_most_that_a_run_may_write(levels, output_mib, expected):
    resources = {"wall_seconds": 2, "output_mib": output_mib}
    pipeline = job_request_fields()["pipeline"]
    manifest = manifest_fields(levels=levels, resources=resources)
    request = make_job_request(pipeline={**pipeline, "manifest": manifest})
    assert carrying.carrying_s(request.pipeline.manifest, request.shape) == expected


@pytest.mark.parametrize(
    ("memory_mib", "scratch_mib", "expected"), [(512, 64, 0), (960, 64, 0), (4096, 1024, 1), (9216, 1, 2)]
)
def test_every_turn_has_room_for_the_end_of_a_run_that_has_filled_its_memory(
    memory_mib, scratch_mib, expected
):
    resources = {"wall_seconds": 2, "memory_mib": memory_mib, "scratch_mib": scratch_mib}
    request = make_job_request()
    manifest = make_manifest(resources=resources)
    assert carrying.carrying_s(manifest, request.shape) == pytest.approx(expected, abs=0.001)


def test_large_formats_take_their_readers_time():
    header = nifti.new_header((64, 64, 64), kind="u1", zooms=(3, 3, 3))
    volume = {"name": "cube", "lower": 0, "upper": 1, "average": 32}
    output = OutputFile.model_validate({"file": "mean.nii", "volume": volume})
    shape = Shape(files=(lock(output, header + bytes(64**3), {}),) * 8)
    manifest = make_manifest()
    assert carrying.carrying_s(manifest, shape) == pytest.approx(8 * (0.2 + 64**3 / 2**23) - 0.25, abs=0.001)


BEGINS = (
    ("nobody else", [], 2, 100),
    ("there is room beside it", [Busy(150, 1)], 1, 100),
    ("all slots are taken", [Busy(150, 2)], 1, 150 + QUEUEING_S),
    ("it needs both", [Busy(150, 1), Busy(170, 1)], 2, 170 + QUEUEING_S),
    ("the first that is free is enough", [Busy(150, 1), Busy(170, 1)], 1, 150 + QUEUEING_S),
    ("one that is late says nothing", [Busy(99, 2)], 2, 100),
    ("more than there are, after all others", [Busy(150, 1)], 5, 150 + QUEUEING_S),
)


def test_a_job_is_due_when_those_before_it_are_over(subtests: pytest.Subtests):
    for title, busy, slots, begins in BEGINS:
        with subtests.test(title):
            assert begins_at(now=100, busy=busy, slots=slots, capacity=2) == begins

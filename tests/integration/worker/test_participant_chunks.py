"""Chunks of the participant level: before all group runs, on the public grid, resumed where they ended."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from heights import PEOPLE
from levels import TWO_LEVELS, NotingSandbox, noting, two_level_fields
from zones import Bench, check_books, given_heights, open_bench, submit

from domain.channels import ChannelName
from domain.dataset import Dataset
from domain.schedule import JOB_OVERHEAD_S, OPENING_S
from domain.states import JobState
from store import policies
from store.tables import chunks, run_outputs
from worker import time_grid
from worker.chunk import Chunk, claim_chunk, order_of, participant_level, run
from worker.execute import execute_chunk
from worker.levels import ParticipantLevel
from worker.order import for_participants
from worker.participant_chunk import people_of, run_people
from worker.sandbox.protocol import RunResult, SandboxUnavailable, Slot
from worker.sweep import sweep

CANARY = "canary-8d0f3c"
# of a chunk's time, what comes behind its end: messages and the release
RELEASING_S = JOB_OVERHEAD_S - OPENING_S


def running(bench: Bench, source: str = TWO_LEVELS, **overrides: Any) -> str:
    """A job that was charged; its chunks wait: two of the participant level, two of group runs."""
    job_id = submit(bench, **two_level_fields(source), **overrides)
    bench.deliver(bench.sent.queue.popleft())
    return job_id


def outcomes(bench: Bench) -> dict[Path, int]:
    """The files of kept outcomes, and what tells one that was written again."""
    folder = bench.zone.settings.participants_folder
    return {path: path.stat().st_ino for path in folder.rglob("*") if path.is_file()}


def test_group_runs_wait_for_the_whole_participant_level(bench: Bench) -> None:
    bench, sandbox = noting(bench)
    given_heights(bench)
    job_id = running(bench)
    assert bench.sent.take() == [("chunk", job_id, 0), ("chunk", job_id, 1)]
    for number in (3, 2, 1, 2, 1):
        execute_chunk(bench.zone, job_id, number)
    assert not sandbox.take("group")
    assert not bench.sent.queue
    states = {row["number"]: (row["state"], row["attempts"]) for row in bench.rows(chunks)}
    assert states == {0: ("WAITING", 0), 1: ("DONE", 1), 2: ("WAITING", 0), 3: ("WAITING", 0)}
    execute_chunk(bench.zone, job_id, 0)
    assert len(sandbox.take("participant")) == len(PEOPLE)
    assert bench.sent.take() == [("chunk", job_id, 2), ("chunk", job_id, 3)]
    assert not bench.rows(run_outputs)
    for number in (2, 3):
        execute_chunk(bench.zone, job_id, number)
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    check_books(bench)


def test_lost_messages_are_sent_again(bench: Bench) -> None:
    given_heights(bench)
    job_id = running(bench)
    for _ in range(2):  # each level's messages are lost once
        bench.sent.take()
        bench.clock.forward(31)
        sweep(bench.zone)
        for message in bench.sent.take():
            bench.deliver(message)
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    check_books(bench)


class FailsAfter(NotingSandbox):
    """The host breaks down after some runs, once."""

    left = 3

    def open_slot(self, *arguments: Any, **more: Any) -> Any:
        slot = super().open_slot(*arguments, **more)
        run = slot.run

        def breaking(block: Mapping[str, bytes], **other: Any) -> RunResult:
            self.left -= 1
            if self.left == -1:
                raise SandboxUnavailable("the host has no memory left")
            return run(block, **other)

        slot.run = breaking  # type: ignore[method-assign]
        return slot


def test_a_chunk_that_broke_off_goes_on_with_those_who_are_left(bench: Bench) -> None:
    given_heights(bench)
    sandbox = FailsAfter(bench.zone.sandbox)
    bench = replace(bench, zone=replace(bench.zone, sandbox=sandbox))  # type: ignore[arg-type]
    job_id = running(bench)
    bench.sent.take()
    execute_chunk(bench.zone, job_id, 0)
    kept = outcomes(bench)
    assert len(kept) == len(sandbox.take("participant")) == 3
    bench.clock.forward(31)
    sweep(bench.zone)
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    assert len(sandbox.take("participant")) == len(PEOPLE) - 3
    assert kept.items() <= outcomes(bench).items()
    check_books(bench)


def test_two_jobs_at_once_share_what_is_there(bench: Bench) -> None:
    bench, sandbox = noting(bench)
    given_heights(bench)
    first, second = running(bench, epsilon="100"), submit(bench, **two_level_fields(), epsilon="200")
    execute_chunk(bench.zone, first, 0)
    bench.drive()
    assert {bench.job(job_id).state for job_id in (first, second)} == {JobState.RELEASED}
    assert len(sandbox.take("participant")) == len(PEOPLE)


def accept(bench: Bench, dataset: Dataset, *channels: ChannelName) -> None:
    """By the policy in effect for jobs that are submitted from now on."""
    with bench.database.transaction() as connection:
        before = policies.in_effect(connection, dataset.name)
        assert before is not None
        after = before.policy.model_copy(update={"accepted_channels": channels})
        how = {"expected": before.number, "by": "holder", "reason": "so", "now": bench.clock()}
        policies.change(connection, dataset=dataset, policy=after, **how)


def level_of(bench: Bench, job_id: str) -> ParticipantLevel:
    chunk = claim_chunk(bench.zone, job_id, 0)
    assert chunk is not None
    bench.sent.take()
    return participant_level(bench.zone, chunk)


def test_nothing_is_kept_for_a_job_whose_policy_accepts_fewer_channels(bench: Bench) -> None:
    dataset = given_heights(bench)
    accept(bench, dataset, "page_faults", "pipe_count", "mount_numbers", "shared_pages", "pid_numbers")
    first, second = (level_of(bench, running(bench, epsilon=epsilon)) for epsilon in ("100", "200"))
    for person in PEOPLE:
        first.outputs.keep(first.name_of(person), {})
    assert all(map(second.is_done, PEOPLE))
    accept(bench, dataset, "page_faults")
    assert not any(map(level_of(bench, running(bench, epsilon="300")).is_done, PEOPLE))


def test_an_outcome_that_is_gone_stops_the_job_and_changes_no_result(bench: Bench) -> None:
    given_heights(bench)
    job_id = running(bench)
    for number in (0, 1):
        execute_chunk(bench.zone, job_id, number)
    next(iter(outcomes(bench))).unlink()
    for _ in range(bench.zone.settings.max_attempts):
        execute_chunk(bench.zone, job_id, 2)
    assert not bench.rows(run_outputs)
    sweep(bench.zone)
    assert bench.job(job_id).state is JobState.ERRORED


def test_what_no_job_used_for_a_month_goes_with_the_sweep(bench: Bench) -> None:
    given_heights(bench)
    running(bench)
    bench.drive()
    assert len(outcomes(bench)) == len(PEOPLE)
    bench.clock.forward(29 * 86_400)
    sweep(bench.zone)
    assert len(outcomes(bench)) == len(PEOPLE)
    bench.clock.forward(2 * 86_400)
    sweep(bench.zone)
    assert not outcomes(bench)


@pytest.fixture
def own_scratch() -> Iterator[Path]:
    """In memory like the common one, in which other tests' pipelines lie."""
    folder = Path(tempfile.mkdtemp(prefix="dpgate-test-", dir="/dev/shm"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


def test_nothing_that_a_participant_level_wrote_lies_anywhere_plain(
    database_url: str, tmp_path: Path, own_scratch: Path
) -> None:
    with open_bench(database_url, tmp_path, scratch_folder=own_scratch) as bench:
        given_heights(bench)
        secret = TWO_LEVELS.replace('write("%r"', f'write("%r {CANARY}"').replace(
            ".read())", ".read().split()[0])"
        )
        running(bench, secret)
        bench.drive()
        assert len(outcomes(bench)) == len(PEOPLE)
    folders = (tmp_path, own_scratch)
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in files if CANARY in str(path) or CANARY.encode() in path.read_bytes()]


def test_more_people_than_turns_come_at_the_end_of_the_last_chunk(bench: Bench) -> None:
    given_heights(bench)
    job_id = running(bench)
    found: list[Mapping[int, str]] = []
    for number in (0, 1):
        chunk = claim_chunk(bench.zone, job_id, number)
        assert chunk is not None
        fewer = replace(chunk, schedule=chunk.schedule.model_copy(update={"turns": 4}))
        found.append(people_of(bench.zone, fewer, participant_level(bench.zone, fewer)))
    first, last = found
    assert list(first) == [0, 1]
    assert list(last) == list(range(2, len(PEOPLE)))
    assert sorted([*first.values(), *last.values()]) == sorted(PEOPLE)


@dataclass
class GridClock:
    """Stands still but for those who wait for an edge of the grid: what is left is their waiting."""

    now: float

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_padded_chunk_takes_its_time_whether_anybody_runs_or_not(sqlite_url: str, tmp_path: Path) -> None:
    """13 turns over 13 slots: one in each chunk. The second job finds everything."""
    with open_bench(sqlite_url, tmp_path, slots=13) as opened:
        bench, sandbox = noting(opened)
        few = {name: PEOPLE[name] for name in list(PEOPLE)[:6]}
        padded = {"timing": {"mode": "padded"}, "isolation": "shared"}  # else one slot would have all turns
        given_heights(bench, few, nominal_size=6, policy=padded)
        first = somebodys_chunk(bench, running(bench, epsilon="100", wall_s=20))
        check_time_of(bench, first)
        assert len(sandbox.take("participant")) == 1
        run_the_rest(bench, first)
        assert len(sandbox.take("participant")) == len(few) - 1
        check_time_of(bench, somebodys_chunk(bench, running(bench, epsilon="200", wall_s=20)))
        assert [run.people for run in sandbox.take("participant")] == [[]], "a turn without a person's run"


def check_time_of(bench: Bench, chunk: Chunk) -> None:
    clock = GridClock(chunk.claimed_at)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time_grid, "time", clock)
        run_people(bench.zone, chunk)
    assert clock.now == pytest.approx(chunk.claimed_at + chunk.schedule.participant_chunk_s - RELEASING_S)


@pytest.mark.parametrize("slow_s", [0.0, 0.8])
def test_a_run_that_dies_behind_the_last_turn_does_not_move_the_end_of_its_chunk(
    bench: Bench, slow_s: float
) -> None:
    given_heights(bench, policy={"timing": {"mode": "padded"}})
    job_id = submit(bench, wall_s=0.2)
    bench.deliver(bench.sent.queue.popleft())
    chunk = claim_chunk(bench.zone, job_id, 0)
    assert chunk is not None
    assert slow_s < chunk.schedule.dying_s
    clock = GridClock(chunk.claimed_at)
    opened = bench.zone.sandbox.open_slot

    @contextmanager
    def slow_to_close(*order: Any, **options: Any) -> Iterator[Slot]:
        with opened(*order, **options) as slot:
            yield slot
        clock.now += slow_s  # what the last run left is waited for

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time_grid, "time", clock)
        patch.setattr(bench.zone.sandbox.real, "open_slot", slow_to_close)
        run(bench.zone, chunk)
    assert clock.now == pytest.approx(chunk.claimed_at + chunk.schedule.chunk_s - RELEASING_S)


def run_the_rest(bench: Bench, chunk: Chunk) -> None:
    level = participant_level(bench.zone, chunk)
    order = for_participants(order_of(bench.zone, chunk))
    with bench.zone.sandbox.open_slot(order, slot=0) as slot:
        for person in level.people.names:
            if not level.is_done(person):
                level.run(slot, person)


def somebodys_chunk(bench: Bench, job_id: str) -> Chunk:
    """A chunk in which somebody has a turn."""
    bench.sent.take()
    for number in range(13):
        chunk = claim_chunk(bench.zone, job_id, number)
        assert chunk is not None
        if people_of(bench.zone, chunk, participant_level(bench.zone, chunk)):
            return chunk
    raise AssertionError("nobody has a turn")

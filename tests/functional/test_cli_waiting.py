"""What whoever waits is told: when a release comes, that it missed its time, that a command goes on."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from shown_objects import job_of

from dpgate.cli.jobs_shown import CLOCKS_APART, ahead, news, reasons

DUE = datetime(2027, 1, 1, 0, 10, tzinfo=UTC)
PADDED = {"turns": 20, "begins_at": "2027-01-01T00:01:00Z"}


def test_the_time_of_a_release_is_told_once_it_is_known_and_again_when_it_is_missed() -> None:
    before, after = DUE - timedelta(seconds=1), DUE + CLOCKS_APART + timedelta(seconds=1)
    assert news(job_of(due_at=None), before) == ""
    assert news(job_of(state="RELEASED"), after) == ""
    assert news(job_of(**PADDED), before) == "Its release is visible at 00:10:00 UTC."
    late = news(job_of(**PADDED), after)
    assert late.startswith("Its release missed its time, 00:10:00 UTC. It becomes visible some ticks later")
    assert news(job_of(), before) == "Its release is planned before 00:10:00 UTC."
    assert news(job_of(), after) == "Its release was planned before 00:10:00 UTC and is late."


def test_a_release_in_review_has_not_missed_its_time() -> None:
    """It may be there in time, and wait for days: a miss would be a word about the data that is not so."""
    for job in (job_of(state="IN_REVIEW", **PADDED), job_of(state="IN_REVIEW")):
        for now in (DUE - timedelta(seconds=1), DUE + timedelta(days=1)):
            assert news(job, now).startswith("Its release waits for a reviewer")


def test_a_clock_that_is_fast_by_seconds_misses_no_release() -> None:
    assert news(job_of(**PADDED), DUE + timedelta(seconds=2)) == "Its release is visible at 00:10:00 UTC."


def test_a_list_says_each_reason_once_with_its_jobs() -> None:
    """Why they wait, before anybody asks for each of them."""
    a, b, c = job_of(id="a", reason="no worker is there"), job_of(id="b"), job_of(id="c", reason="image gone")
    assert reasons([a, b, job_of(id="d", reason=a.reason), c]) == [
        "a, d: no worker is there.",
        "c: image gone.",
    ]


def test_a_job_behind_others_of_its_author_is_told_so() -> None:
    made = "2027-01-01T00:00:0{}Z"
    job = job_of(state="QUEUED", created_at=made.format(5), due_at=None)
    later = job_of(id="job-later", created_at=made.format(6))
    before, after = DUE - timedelta(seconds=1), DUE + CLOCKS_APART + timedelta(seconds=1)
    assert ahead(job, [job, later], before) == ""
    waits = job_of(id="job-waits", state="QUEUED", created_at=made.format(2), due_at=None)
    assert ahead(job, [later, job, waits], before).startswith(
        "1 of your jobs is ahead of it. Its own time begins"
    )
    runs = job_of(id="job-runs", created_at=made.format(1))
    two = "2 of your jobs are ahead of it, of which the last that runs is"
    assert ahead(job, [later, job, waits, runs], before).startswith(f"{two} planned before 00:10 UTC.")
    assert ahead(job, [later, job, waits, runs], after).startswith(f"{two} late.")
    padded = job_of(id="job-padded", created_at=made.format(1), **PADDED)
    assert ahead(job, [later, job, waits, padded], before).startswith(f"{two} visible at 00:10 UTC.")


def test_a_command_that_takes_its_time_shows_at_a_terminal_that_it_goes_on(tmp_path: Path) -> None:
    """Into a file it says nothing of it: that is for eyes alone."""
    command = [sys.executable, "-m", "dpgate", "doctor", "--no-battery", "--home", str(tmp_path / "home")]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    screen, terminal_end = pty.openpty()
    try:
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal_end
        ) as process:
            os.close(terminal_end)
            assert b"examining this host" in b"".join(_read_all(screen))
            process.wait()
    finally:
        os.close(screen)
    quiet = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert b"\x1b" not in quiet.stderr


def _read_all(screen: int) -> Iterator[bytes]:
    """Until the last process that has the other end of it is gone."""
    with suppress(OSError):
        while shown := os.read(screen, 65536):
            yield shown

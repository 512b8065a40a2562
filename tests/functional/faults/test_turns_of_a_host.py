"""Runs that must be alone on their host are: seen from outside, also when their worker dies in the middle.

Two processes of one host, a job whose data set says `exclusive` and one whose data set says `shared`. When
each run began and ended is read from the host's list of processes.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from heights import MEAN, request_fields
from waiting import wait_until
from workers import Platform, named, open_platform
from zones import given_heights, submit

from domain.states import JobState

WORD = f"payload-of-the-turns-test-{os.getpid()}"
ALONE, BESIDE = f"{WORD}-alone", f"{WORD}-beside"
# long enough to be seen more than once by somebody who looks seldom, on a busy host
LASTS_S = {ALONE: 1.5, BESIDE: 3}


@dataclass
class Sightings:
    """When each run was there for sure: from the end of the look that saw it first to the beginning of that
    which saw it last."""

    of: dict[tuple[str, int], tuple[float, float]] = field(default_factory=dict)

    def look(self) -> None:
        before = time.monotonic()
        found = named(WORD)
        after = time.monotonic()
        for process, line in found.items():
            who = (ALONE if ALONE in line else BESIDE, process)
            first, _ = self.of.get(who, (after, before))
            self.of[who] = (first, before)

    def overlaps(self) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
        alone, beside = ([who for who in self.of if who[0] == word] for word in (ALONE, BESIDE))
        for one, other in product(alone, beside):
            (begin, end), (other_begin, other_end) = self.of[one], self.of[other]
            if max(begin, other_begin) < min(end, other_end):
                yield one, other


def ask(platform: Platform, word: str, dataset: str) -> str:
    """A job that no warm interpreter can take, so that its runs have command lines of their own."""
    slow = f"import time\ntime.sleep({LASTS_S[word]})\n{MEAN}"
    pipeline = request_fields(slow, wall_s=LASTS_S[word] + 0.5)["pipeline"]
    pipeline["manifest"]["command"].append(word)
    job_id = submit(platform.bench, epsilon="1", pipeline=pipeline, dataset=dataset)
    platform.bench.sent.take()
    platform.queue.run_job(job_id)
    return job_id


def given_both(platform: Platform) -> None:
    padded = {"timing": {"mode": "padded"}, "isolation": "exclusive"}
    given_heights(platform.bench, name="alone", cohort="alone", policy=padded)
    given_heights(platform.bench, {f"other-{n}": 150 + n for n in range(12)}, name="beside", cohort="beside")


def watch_until_released(platform: Platform, seen: Sightings, asked: list[str]) -> None:
    def all_are() -> bool:
        seen.look()
        states = {platform.bench.job(job_id).state for job_id in asked}
        return states == {JobState.RELEASED}

    wait_until(all_are, unless=platform.has_ended)


def at_work(platform: Platform) -> list[int]:
    """The processes of the worker that have a turn, by their open marks."""
    found = []
    for process in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            names = [os.readlink(link) for link in Path(f"/proc/{process}/fd").iterdir()]
        except OSError:  # it has ended, or is nobody's business
            continue
        if any(name.startswith(f"{platform.scratch}/turn-mark-") for name in names):
            found.append(process)
    return found


def test_runs_that_must_be_alone_are_also_when_their_process_is_killed(
    sqlite_url: str, tmp_path: Path
) -> None:
    with open_platform(sqlite_url, tmp_path) as platform:
        given_both(platform)
        platform.start_worker()
        seen = Sightings()
        first = ask(platform, ALONE, "alone")
        wait_until(lambda: named(ALONE))
        second = ask(platform, BESIDE, "beside")
        seen.look()
        (holder,) = at_work(platform)
        os.kill(holder, signal.SIGKILL)
        watch_until_released(platform, seen, [first, second])
        assert {word for word, _ in seen.of} == {ALONE, BESIDE}
        assert not list(seen.overlaps())
        assert not list(platform.scratch.glob("turn-mark-*"))
        assert "died at work or failed" in platform.log.read_text()


def test_without_turns_they_are_beside_others(sqlite_url: str, tmp_path: Path) -> None:
    """The control: the same two jobs, and the eyes that must see it."""
    with open_platform(sqlite_url, tmp_path) as platform:
        given_both(platform)
        platform.start_worker("no-turns")
        seen = Sightings()
        first = ask(platform, ALONE, "alone")
        wait_until(lambda: named(ALONE))  # else the other job may take both processes first
        watch_until_released(platform, seen, [first, ask(platform, BESIDE, "beside")])
        assert list(seen.overlaps())

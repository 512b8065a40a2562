"""A worker killed with SIGKILL inside the participant level: the next one runs those who are left."""

from __future__ import annotations

from pathlib import Path

import pytest
from heights import PEOPLE
from levels import TWO_LEVELS, two_level_fields
from waiting import wait_until
from workers import Platform, open_platform
from zones import check_books, given_heights, submit

from domain.states import JobState

FEW = {name: PEOPLE[name] for name in list(PEOPLE)[:6]}
# the second person has run, and nothing of it is kept yet
FAULT = "second:worker.levels:own_files"


def outcomes(platform: Platform) -> dict[Path, int]:
    """Kept outcomes, and what tells one that was written again."""
    folder = platform.bench.zone.settings.participants_folder
    found = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return {path: path.stat().st_ino for path in found}


@pytest.mark.deep("half a minute; integration/worker mends each state of a participant level")
def test_killed_inside_the_participant_level(sqlite_url: str, tmp_path: Path) -> None:
    with open_platform(sqlite_url, tmp_path, DPGATE_SLOTS="1") as platform:
        given_heights(platform.bench, FEW, nominal_size=6)
        job_id = submit(platform.bench, **two_level_fields(TWO_LEVELS, wall_s=0.2), epsilon="1")
        platform.bench.sent.take()
        marker = platform.start_worker(FAULT)
        platform.queue.run_job(job_id)
        wait_until(marker.exists)
        platform.wait_for_death()
        kept = outcomes(platform)
        assert len(kept) == 1
        platform.start_worker()
        wait_until(lambda: platform.bench.job(job_id).state is JobState.RELEASED)
        assert kept.items() <= outcomes(platform).items()
        assert len(outcomes(platform)) == len(FEW)
        check_books(platform.bench)

"""On a padded grid a run knows when it starts, and nothing tells it when the run before has ended."""

import pytest
from sandbox_harness import SLOT
from waiting import let_pass

SCRIPT = """
import os, time
open("/out/started", "a").close()
now, ages = os.stat("/out/started").st_ctime, {}
for place in ("/tmp", "/dev/shm", "/in", "/out"):
    seen = os.stat(place)
    ages[place] = [max(now - time, 0) for time in (seen.st_ctime, seen.st_mtime) if time > 1e9]
with open("/out/verdict", "a") as file:
    file.write(repr(max(max(each, default=0) for each in ages.values())) + " ")
"""
PAUSE_S = 2.0
TWO_LEVELS = ("participant", "group")


def oldest_s(supervised, ask) -> list[float]:
    """Of what a run finds, in each of its levels, when nothing has run for a while."""
    with supervised.open_slot(ask(SCRIPT, levels=TWO_LEVELS), slot=SLOT) as slot:
        slot.run({})
        let_pass(PAUSE_S, because="a run waits for its turn")
        return [float(age) for age in slot.run({}).outputs["verdict"].split()]


def test_no_folder_tells_when_the_run_before_ended(supervised, ask):
    ages = oldest_s(supervised, ask)
    assert len(ages) == 2
    assert max(ages) < PAUSE_S / 2, ages


@pytest.mark.parametrize("mode", ["warm"])
def test_they_would_if_they_kept_the_time_at_which_they_were_made(supervised, ask, doctored):
    doctored(
        "filesystems.py", lambda source: source.replace('os.utime(".", _LONG_AGO, dir_fd=folder)', "pass")
    )
    assert max(oldest_s(supervised, ask)) >= PAUSE_S / 2

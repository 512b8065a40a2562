"""What a worker does when it cannot write its log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = """
import logging, worker.app
logging.getLogger().addHandler(logging.StreamHandler(open("/dev/full", "w")))
logging.getLogger("worker").error("a line with %s", "its words")
"""


@pytest.mark.needs(process=True)
def test_a_line_that_finds_no_room_is_lost_without_a_trace_of_it(tmp_path: Path) -> None:
    places = {"DPGATE_ZONE_FOLDER": str(tmp_path), "DPGATE_SCRATCH_FOLDER": str(tmp_path)}
    told = places | {"DPGATE_DATABASE_URL": "sqlite://", "DPGATE_BROKER_URL": "memory://"}
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", FULL]
    done = subprocess.run(
        command, env=os.environ | told, cwd=root, capture_output=True, text=True, check=True
    )
    assert "Logging error" not in done.stderr
    assert "its words" not in done.stderr

"""An exception that has seen data is logged by its type and place; its text stays in the process."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from domain.errors import InvalidRequest, PlatformError
from worker.failure import without_its_text

CANARY = "canary9d2c"
SCRIPT = f"""
import logging, sys
logging.basicConfig(stream=sys.stderr, level=logging.DEBUG)
from worker.app import without_data

@without_data
def task(*args):
    try:
        raise KeyError("{CANARY}")
    except KeyError:
        raise ValueError("{CANARY} again")

task("job-000001", 3)
"""


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:
        return caught


@pytest.mark.parametrize(
    "error",
    [
        ValueError(CANARY),
        KeyError(CANARY),
        UnicodeDecodeError("utf-8", CANARY.encode(), 0, 1, CANARY),
        InvalidRequest("field", CANARY),
        MemoryError(CANARY),
        ExceptionGroup(CANARY, [ValueError(CANARY)]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_only_type_and_place_are_said(error: Exception) -> None:
    said = without_its_text(raised(error))
    assert CANARY not in said
    assert said.startswith(f"{type(error).__name__} at {__name__}:")


def test_our_own_errors_are_said_in_full() -> None:
    assert without_its_text(raised(PlatformError("the key is missing"))) == "the key is missing"


def test_the_outermost_frame_of_a_task(tmp_path: Path) -> None:
    settings = {
        "DPGATE_DATABASE_URL": "sqlite://",
        "DPGATE_BROKER_URL": "redis+socket:///nowhere",
        "DPGATE_ZONE_FOLDER": str(tmp_path),
        "DPGATE_SCRATCH_FOLDER": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=settings, capture_output=True, text=True, check=True
    )
    assert CANARY not in done.stdout + done.stderr
    assert "task('job-000001', 3): ValueError at __main__:" in done.stderr


def test_nothing_is_logged_with_a_traceback_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("worker.sweep").error("%s", without_its_text(raised(ValueError(CANARY))))
    assert CANARY not in caplog.text

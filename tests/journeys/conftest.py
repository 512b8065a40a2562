"""One real platform and one Chromium for all journeys; each person comes in a window of their own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from given_people import Town, open_town
from playwright.sync_api import Browser, sync_playwright
from walker import MODES, Mode, Walks

# Playwright keeps an event loop running on this thread: what outlives the module disturbs other tests


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    found = shutil.which("chromium")
    assert found is not None, "chromium is missing; deploy/test-host.sh installs it"
    # no page is there for long: to translate its scripts for speed is in vain
    arguments = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--js-flags=--no-opt --no-maglev",
    ]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with open_town(tmp_path_factory.mktemp("town")) as opened:
        yield opened


WITHOUT = pytest.mark.deep("tests/pages asks each form and link without scripts; this is the whole way of it")


@pytest.fixture(
    params=[pytest.param(mode, id=mode.name, marks=() if mode.scripts else WITHOUT) for mode in MODES]
)
def mode(request: pytest.FixtureRequest) -> Mode:
    """With scripts in a wide window, and without scripts on a telephone."""
    found: Mode = request.param
    return found


@pytest.fixture
def walks(chromium: Browser, town: Town, mode: Mode) -> Iterator[Walks]:
    """Where people come in; their windows are closed at the end."""
    wanted = os.environ.get("DPGATE_TEST_SHOTS")
    shots = Path(wanted) if wanted else None
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    opened = Walks(chromium, town.stack.url, mode, shots)
    yield opened
    opened.close()

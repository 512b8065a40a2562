"""Which cases run in one process one after the other, and which of these rooms is taken first.

A room is a file, or the files that share something costly (a daemon, a platform). Whoever is done takes the
longest room that is left, by the seconds that recorded/seconds.json has of it, and few take what needs a
platform or a browser.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parents[1]
SECONDS = ROOT / "tests" / "recorded" / "seconds.json"
# files below these share what takes seconds to start
SHARED = ("tests/integration/docker",)
# what lasts as long as the process that has started it, and takes seconds of processor time to start
PLATFORM, BROWSER = "platform", "browser"
ON_PLATFORM = ("tests/functional/on_platform/", "tests/functional/test_cli_")
IN_BROWSER = ("tests/pages/",)
MOST = 2
"""Processes that have one."""


def room_of(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    return next((folder for folder in SHARED if file.startswith(f"{folder}/")), file)


@cache
def lasting(room: str) -> str:
    """What lasts beyond the room, or `""`."""
    if room.startswith(ON_PLATFORM):
        return PLATFORM
    in_browser = room.startswith(IN_BROWSER) and "browser: Browser" in (ROOT / room).read_text("utf-8")
    return BROWSER if in_browser else ""


class Rooms(LoadScopeScheduling):
    """Rooms in the order in which the cases come."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False
        self._have: dict[str, set[Any]] = {PLATFORM: set(), BROWSER: set()}

    def _split_scope(self, nodeid: str) -> str:
        return room_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        # of equals the first, which is the longest
        room = min(self.workqueue, key=lambda room: self._rank(room, node))
        if what := lasting(room):
            self._have[what].add(node)
        self.workqueue.move_to_end(room, last=False)
        super()._assign_work_unit(node)

    def _rank(self, room: str, node: Any) -> int:
        """Who has what a room needs takes it first; who has none starts one where few have, or where nothing
        else is left."""
        have = self._have.get(lasting(room))
        if have is None:
            return 1
        if node in have:
            return 0
        return 1 if len(have) < MOST else 2


def longest_first(items: list[pytest.Item]) -> list[pytest.Item]:
    """A room that is not on record comes first: nobody knows how long it takes."""
    known: dict[str, float] = json.loads(SECONDS.read_text("utf-8"))

    def order(item: pytest.Item) -> tuple[float, str]:
        room = room_of(item.nodeid)
        return -known.get(room, float("inf")), room

    return sorted(items, key=order)


def record_seconds(reports: Iterable[Iterable[Any]]) -> None:
    """What set-up, cases and clearing up of each room took, of the rooms that were run."""
    took: defaultdict[str, float] = defaultdict(float)
    for report in (each for kind in reports for each in kind):
        if hasattr(report, "duration") and hasattr(report, "when"):
            took[room_of(report.nodeid)] += report.duration
    known = json.loads(SECONDS.read_text("utf-8")) | {
        room: round(seconds, 1) for room, seconds in took.items()
    }
    SECONDS.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", "utf-8")

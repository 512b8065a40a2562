"""Which cases run in one process one after the other, and which of these rooms is taken first.

A room is a file, or the files that share something costly (a daemon, a platform). Whoever is done takes the
longest room that is left, by the seconds that recorded/seconds.json has of it, and few take what needs a
platform.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

SECONDS = Path(__file__).parent / "recorded" / "seconds.json"
# files below these share what takes seconds to start
SHARED = ("tests/integration/docker",)
# these share a platform that lasts as long as its process, and takes seconds of processor time to start
ON_PLATFORM = ("tests/functional/on_platform/", "tests/functional/test_cli_")
MOST_PLATFORMS = 2


def room_of(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    return next((folder for folder in SHARED if file.startswith(f"{folder}/")), file)


class Rooms(LoadScopeScheduling):
    """Rooms in the order in which the cases come."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False
        self._has_platform: set[Any] = set()

    def _split_scope(self, nodeid: str) -> str:
        return room_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        # of equals the first, which is the longest
        room = min(self.workqueue, key=lambda room: self._rank(room, node))
        if room.startswith(ON_PLATFORM):
            self._has_platform.add(node)
        self.workqueue.move_to_end(room, last=False)
        super()._assign_work_unit(node)

    def _rank(self, room: str, node: Any) -> int:
        """Who has a platform takes what needs one first; who has none starts one where few have, or where
        nothing else is left."""
        if not room.startswith(ON_PLATFORM):
            return 1
        if node in self._has_platform:
            return 0
        return 1 if len(self._has_platform) < MOST_PLATFORMS else 2


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

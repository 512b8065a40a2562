"""How far a job's runs are by its timetable: of two public times, a public number and a moment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def turns_over(job: Mapping[str, Any], now: datetime) -> int | None:
    """About so many turns of the `turns` that a job's JSON states. None: it has no timetable now."""
    turns, begins, due = (job.get(name) for name in ("turns", "begins_at", "due_at"))
    if turns is None or begins is None or due is None:
        return None
    begins_at, due_at = (datetime.fromisoformat(text) for text in (begins, due))
    share = (now - begins_at) / (due_at - begins_at)
    return int(turns * min(max(share, 0), 1))

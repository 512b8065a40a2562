"""Whether the kernel of this host logs how runs end. A run chooses the name, and of a crash the addresses,
that stand in such a line: so it can write there what it read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from worker.sandbox.profiles import Feature

QUIET = "the log of the kernel says nothing of how runs end"
_CRASHES = Path("/proc/sys/debug/exception-trace")
_KILLS = Path("/proc/sys/kernel/seccomp/actions_logged")
_KILL = "kill_process"  # by our filter, for a call of another convention


def quiet_log() -> Feature:
    """Advised: no run reads that log, and who does is the operator's to know."""
    told = [
        sentence
        for place, loud in (
            (_CRASHES, lambda text: text != "0"),
            (_KILLS, lambda text: _KILL in text.split()),
        )
        if (sentence := _why_told(place, loud)) is not None
    ]
    detail = " and ".join(told) or "neither crashes nor killed calls are logged"
    fix = f"set debug.exception-trace to 0, and kernel.seccomp.actions_logged to what it says without {_KILL}"
    return Feature(QUIET, None, present=not told, detail=detail, fix=fix)


def _why_told(place: Path, loud: Callable[[str], bool]) -> str | None:
    try:
        return f"{place} lets it tell" if loud(place.read_text("ascii").strip()) else None
    except OSError as error:
        return f"{place} cannot be read: {error.strerror}"

"""What of a run can be seen on its host from outside: lines in the log of the kernel, and the list of
processes. A run chooses names and addresses that stand there, so it can write there what it read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from worker.sandbox.profiles import Feature

QUIET = "the log of the kernel says nothing of how runs end"
HIDDEN = "accounts of this host see no processes of others"
_MOUNTS = Path("/proc/self/mounts")
_HIDING = {
    "hidepid=invisible",
    "hidepid=2",
    "hidepid=ptraceable",
    "hidepid=4",
    "hidepid=noaccess",
    "hidepid=1",
}
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


def hidden_processes() -> Feature:
    """Advised: where no other account is, nobody is there to look. Of the /proc that this process sees."""
    rows = [line.split() for line in _MOUNTS.read_text("utf-8", "replace").splitlines()]
    options = [row[3].split(",") for row in rows if row[1] == "/proc"]
    present = bool(options) and not _HIDING.isdisjoint(options[-1])
    detail = "/proc hides them" if present else "/proc shows them to everybody"
    fix = "mount /proc with hidepid=invisible, or let no other account be on this host"
    return Feature(HIDDEN, None, present=present, detail=detail, fix=fix)


def _why_told(place: Path, loud: Callable[[str], bool]) -> str | None:
    try:
        return f"{place} lets it tell" if loud(place.read_text("ascii").strip()) else None
    except OSError as error:
        return f"{place} cannot be read: {error.strerror}"

"""The processes behind an open slot, as the host sees them."""

from pathlib import Path


def children_of(process: int) -> list[int]:
    """Empty if the process has ended meanwhile."""
    try:
        return [int(name) for name in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def supervisor_of(open_slot) -> int:
    """Its process number on the host: the only child of its bwrap."""
    (process,) = children_of(bwrap_of(open_slot))
    return process


def zygote_of(open_slot) -> int:
    """The supervisor's only child."""
    (process,) = children_of(supervisor_of(open_slot))
    return process


def run_of(open_slot) -> int:
    """Process 1 of the run that is under way."""
    (process,) = children_of(zygote_of(open_slot))
    return process


def bwrap_of(open_slot) -> int:
    return open_slot._seat.process._process.pid


def processes_of(open_slot) -> list[int]:
    """bwrap, the supervisor, its zygote, and what its run has started by now."""
    found = [bwrap_of(open_slot)]
    for process in found:
        found += children_of(process)
    return found


def name_of(process: int) -> str:
    """Empty if the process has ended meanwhile."""
    try:
        return Path(f"/proc/{process}/comm").read_text().rstrip("\n")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_gone(process: int) -> bool:
    """A dead one that nobody has waited for yet holds nothing but its number."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True

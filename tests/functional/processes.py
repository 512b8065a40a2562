"""What runs on this host, as /proc tells it."""

from __future__ import annotations

from pathlib import Path


def descendants(pid: int) -> dict[int, str]:
    """Process id and start time of everything that this process has started, in any session."""
    parents, found = _parents(), {}
    pending = [pid]
    while pending:
        here = pending.pop()
        for child, (parent, started) in parents.items():
            if parent == here:
                found[child] = started
                pending.append(child)
    return found


def alive(processes: dict[int, str]) -> list[str]:
    """Command lines of those that still run; a zombie has ended."""
    now = _parents()
    return [_command(pid) for pid, started in processes.items() if now.get(pid, (0, ""))[1] == started]


def command_of(pid: int) -> str:
    return _command(pid)


def _parents() -> dict[int, tuple[int, str]]:
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fields[0] != "Z":
            found[int(entry.name)] = (int(fields[1]), fields[19])
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except FileNotFoundError:
        return ""

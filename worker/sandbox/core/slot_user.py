"""As which host users a slot runs.

Namespaces do not split the kernel's per-user quotas (pipe pages, watched descriptors), so two runs of one
user could talk through them, and root itself has no process limit at all. A worker that is root gives each
slot its own group, and each supervisor in it its own user: a run that is slow to die keeps what is counted
for its user, and another supervisor makes the next. An ordinary worker has only itself to offer.
"""

import os
import stat
from itertools import count
from pathlib import Path

from worker.sandbox.protocol import SandboxUnavailable

FIRST_SLOT_UID = 200_000  # above what distributions and directory services hand out; also used as group
FIRST_SEAT_UID = 210_000
# Of one slot: until a user comes again, whoever died slowly under it has had the time of several chunks.
SEAT_USERS = 16


def slot_user(slot: int) -> int:
    """Whose is what a slot's runs are given. Raises SandboxUnavailable for a root that has no such user."""
    return os.getuid() if os.getuid() != 0 else _mapped(FIRST_SLOT_UID + slot)


class SeatUsers:
    """Of one slot's supervisors, one after the other."""

    def __init__(self, slot: int) -> None:
        self._slot, self._starts = slot, count()

    def next(self) -> int:
        """Raises SandboxUnavailable as `slot_user` does."""
        if os.getuid() != 0:
            return os.getuid()
        return _mapped(FIRST_SEAT_UID + self._slot * SEAT_USERS + next(self._starts) % SEAT_USERS)


def _mapped(user: int) -> int:
    if not _is_mapped(user):
        raise SandboxUnavailable(
            f"this root has no user {user} for a slot, because its user namespace maps none: map more "
            "users to it, or run the worker as an ordinary user"
        )
    return user


def _is_mapped(user: int) -> bool:
    lines = (line.split() for line in Path("/proc/self/uid_map").read_text().splitlines())
    return any(int(first) <= user < int(first) + int(count) for first, _, count in lines)


def check_open_to_slots(path: Path, *, listed: bool = True) -> None:
    """Every folder on the way must let other users through, and if `listed`, `path` must let them read."""
    if os.getuid() != 0:
        return
    path = path.resolve()
    for step in (path, *path.parents):
        mode = step.stat().st_mode
        needed = 0o5 if listed and step == path else 0o1
        if mode & needed != needed:
            raise SandboxUnavailable(
                f"{path} cannot be used by pipelines: {step} is closed to other users "
                f"({stat.filemode(mode)}), and a worker that is root runs them as another user; "
                "put it where everyone can read it, or run the worker as its owner"
            )

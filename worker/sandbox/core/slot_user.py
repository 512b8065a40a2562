"""As which host user a slot runs.

A worker that is root gives each slot its own user: namespaces do not split the kernel's per-user quotas
(pipe pages, in-flight descriptors), so two runs of one user could talk through them, and root itself has no
process limit at all. An ordinary worker has only itself to offer: run one slot at a time there if runs must
not notice each other.
"""

import os
import stat
from pathlib import Path

from worker.sandbox.protocol import SandboxUnavailable

FIRST_SLOT_UID = 200_000  # above what distributions and directory services hand out; also used as group


def slot_user(slot: int) -> int:
    """Raises SandboxUnavailable for a root that has no such users to give."""
    if os.getuid() != 0:
        return os.getuid()
    user = FIRST_SLOT_UID + slot
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

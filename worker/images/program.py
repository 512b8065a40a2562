"""A program of an import, the world that it gets, and as whom it runs."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worker.sandbox.core.slot_user import FIRST_SLOT_UID
from worker.sandbox.protocol import MIB

GIB = 1024 * MIB
_IMPORT_UID = FIRST_SLOT_UID - 1


@dataclass(frozen=True)
class Folder:
    """The writable one, and how much may be in it. It may be full for as long as one look takes."""

    path: Path
    quota_bytes: int
    spare_bytes: int = GIB  # of the disk, which must stay free whoever fills it


@dataclass(frozen=True)
class Confined:
    """A program and its world."""

    command: tuple[str, ...]
    mounts: tuple[str, ...]  # bwrap's flags for the root file system
    python: Path  # of the host, open to the import's user
    files: Mapping[str, bytes] = field(default_factory=dict)  # by absolute path
    folder: Folder | None = None  # at /room
    wall_s: float = 3600
    memory_bytes: int = 4 * GIB  # address space of each process
    file_bytes: int = 0
    processes: int = 64
    answer_bytes: int = 1024 * 1024
    stdin: int = subprocess.DEVNULL  # or a descriptor: what it may read without a path to it


@dataclass(frozen=True)
class Ended:
    code: int
    answer: bytes  # standard output; hostile
    complaint: str  # the end of standard error


def import_user() -> int:
    """As whom the programs of an import run, and to whom their writable folder must belong."""
    return _IMPORT_UID if os.getuid() == 0 else os.getuid()


def other_user() -> dict[str, Any]:
    """For subprocess."""
    user = import_user()
    return {} if user == os.getuid() else {"user": user, "group": user, "extra_groups": ()}

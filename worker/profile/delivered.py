"""The key beside a delivery: `deliveries/NUMBER.key`, from whoever delivered, never from the gateway."""

from __future__ import annotations

import json
import os
from pathlib import Path

from domain.errors import InvalidRequest
from domain.model import canonical, parse
from domain.profile_request import DeliveredKey, ProfileProblem, ProfileRequest
from worker.intake.beside import read_beside
from worker.intake.delivery import JOURNAL

SUFFIX = ".key"
_MOST_BYTES = 4096


class NoProfile(Exception):
    """Why nothing is sealed: one of a fixed list."""

    def __init__(self, problem: ProfileProblem) -> None:
        super().__init__(problem.value)
        self.problem = problem


def key_file(folder: Path) -> Path:
    """Beside the delivery: inside it would be a file that nobody declared."""
    return folder.with_name(folder.name + SUFFIX)


def write_key(folder: Path, key: DeliveredKey) -> None:
    """For the worker to read; whoever delivers again writes anew."""
    path = key_file(folder)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(canonical(key.model_dump(mode="json")))


def check_delivered(folder: Path, request: ProfileRequest) -> None:
    """Raises NoProfile unless the delivery is there, whole, and came with this key and name."""
    if folder.is_symlink() or not folder.is_dir() or (folder / JOURNAL).exists():
        raise NoProfile(ProfileProblem.NOT_DELIVERED)
    found = _read(key_file(folder))
    if found is None:
        raise NoProfile(ProfileProblem.NO_KEY)
    if found != DeliveredKey(name=request.name, key=request.key):
        raise NoProfile(ProfileProblem.OTHER_KEY)


def remove_keys_left_behind(deliveries: Path) -> None:
    """Keys of deliveries that are gone: an import took them."""
    for path in deliveries.glob(f"*{SUFFIX}") if deliveries.is_dir() else ():
        if not path.with_suffix("").is_dir():
            path.unlink(missing_ok=True)


def _read(path: Path) -> DeliveredKey | None:
    try:
        return parse(DeliveredKey, json.loads(read_beside(path, most_bytes=_MOST_BYTES) or b""))
    except (ValueError, RecursionError, InvalidRequest):
        return None

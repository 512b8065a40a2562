"""The files of a delivery as they lie in its folder: plain files alone, with names that a run can have."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from domain.dataset import ImportProblem
from worker.intake.refusal import ImportRefused

MOST_PARTS = 32
LONGEST_PATH = 1000
WORK_PREFIX = ".dpgate-work-"
"""Files that the import writes for itself beside a delivery; those of one that was killed are passed over."""


@dataclass(frozen=True)
class Tree:
    """A checked folder: the size of each file, and every folder, by relative path in order."""

    root: Path
    files: Mapping[str, int]
    folders: tuple[str, ...]

    def path(self, place: str) -> Path:
        return self.root / place


def _nothing(_: str) -> bool:
    return False


def read_tree(folder: Path, *, max_file_bytes: int, excludes: Callable[[str], bool] = _nothing) -> Tree:
    """What `excludes` says is not looked at.

    Raises ImportRefused for links, special files, files that are too large, and names that no run can have.
    """
    if not folder.is_dir():
        raise ImportRefused(ImportProblem.NOT_DELIVERED, place=folder.name)
    files: dict[str, int] = {}
    folders: list[str] = []
    for place, status in _entries(folder, excludes):
        if not can_be_staged(place):
            raise ImportRefused(ImportProblem.FILE_NAME, place=ascii(place))
        if stat.S_ISDIR(status.st_mode):
            folders.append(place)
            continue
        if not stat.S_ISREG(status.st_mode):
            raise ImportRefused(ImportProblem.NOT_A_FILE, place=place)
        if status.st_size > max_file_bytes:
            raise ImportRefused(ImportProblem.TOO_LARGE, place=place, detail=f"limit {max_file_bytes} bytes")
        if not place.rsplit("/", 1)[-1].startswith(WORK_PREFIX):
            files[place] = status.st_size
    return Tree(folder, dict(sorted(files.items())), tuple(sorted(folders)))


def _entries(root: Path, excludes: Callable[[str], bool]) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder, links unfollowed. Not recursive: a tree may be deeper than the stack."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        with os.scandir(root / here) as found:
            for entry in found:
                place = f"{here}/{entry.name}" if here else entry.name
                if excludes(place):
                    continue
                status = entry.stat(follow_symlinks=False)
                # below what cannot be staged nothing is looked at
                if stat.S_ISDIR(status.st_mode) and can_be_staged(place):
                    waiting.append(place)
                yield place, status


def can_be_staged(place: str) -> bool:
    """Found out now: in a run it would look like a failure of the platform."""
    try:
        length = len(place.encode())
    except UnicodeEncodeError:
        return False
    has_control = any(ord(character) < 32 or ord(character) == 127 for character in place)
    return not has_control and length <= LONGEST_PATH and place.count("/") < MOST_PARTS

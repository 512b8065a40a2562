"""A folder as it lies on disk: every folder and file in it by relative path. Never leaves it by a link."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpgate.errors import DpgateError

HISTORY = frozenset({".git", ".gitattributes", ".gitignore", ".gitmodules", ".datalad"})
"""What version control keeps beside a data set: who goes is in there still, so it is in nobody's input."""


@dataclass(frozen=True)
class Tree:
    """Relative paths with forward slashes, in order. A link is listed as the file that it leads to."""

    root: Path
    folders: tuple[str, ...]
    files: Mapping[str, Path]

    def read(self, path: str) -> bytes:
        return self.files[path].read_bytes()


def read_tree(root: Path, *, exclude: Sequence[str] = (), passed_over: Collection[str] = ()) -> Tree:
    """All of a folder but what lies at or below the excluded paths, and those at its top that have a name to
    be `passed_over`.

    Raises DpgateError for an excluded path that is not there, a link that leads out of the folder, to a
    folder or to nothing, a socket or the like, and a name that is not UTF-8.
    """
    if not root.is_dir():
        raise DpgateError(f"{root} is not a folder")
    excluded = {_clean(path) for path in exclude}
    folders: list[str] = []
    files: dict[str, Path] = {}
    pending, passed = [""], set()
    while pending:
        above = pending.pop()
        for entry in sorted(os.scandir(root / above), key=lambda entry: entry.name):
            path = f"{above}/{entry.name}" if above else entry.name
            if path in excluded or path in passed_over:
                passed.add(path)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(_printable(path))
                pending.append(path)
            else:
                files[_printable(path)] = _file(root, path, is_link=entry.is_symlink())
    if excluded - passed:
        raise DpgateError(f"--exclude {min(excluded - passed)}: there is no such path in {root}")
    return Tree(root, tuple(sorted(folders)), dict(sorted(files.items())))


def find_below(path: str, places: Sequence[str]) -> str | None:
    """The first of the places that is this path or a folder above it."""
    cleaned = (_clean(place) for place in places)
    return next((place for place in cleaned if path == place or path.startswith(place + "/")), None)


def _clean(path: str) -> str:
    return path.removeprefix("./").rstrip("/")


def _printable(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise DpgateError(f"the name {path!a} is not UTF-8; rename the file") from None
    return path


def _file(root: Path, path: str, *, is_link: bool) -> Path:
    found = root / path
    if not is_link:
        if not found.is_file():
            raise DpgateError(f"{path} is neither a file nor a folder; --exclude it")
        return found
    target = found.resolve()
    if not target.is_relative_to(root.resolve()):
        raise DpgateError(f"{path} is a link that leads out of {root}; put the file there, or --exclude it")
    if not target.is_file():
        raise DpgateError(
            f"{path} is a link to a folder or to nothing; fetch what it stands for, or --exclude it"
        )
    return target

"""Go through a tree that a stranger has made: by descriptor, without recursion, following no link."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HELD = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST_KEPT_OPEN = 64


class TooDeep(Exception):
    """Folders in folders beyond what was asked for. Its text is the path."""


@dataclass(frozen=True)
class Entry:
    """Something in a tree, while the walk stands at it."""

    path: bytes  # below the top; the top itself is empty
    parent: int  # descriptor of the folder that it is in
    name: bytes
    found: os.stat_result

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.found.st_mode)


def walk(top: Path, *, depth: int, opened: Callable[[int], None] | None = None) -> Iterator[Entry]:
    """All that is below `top`, folders before their content, names in byte order.

    `opened` is called with each folder, `top` included, before its names are read. Raises TooDeep.
    """
    here = os.open(top, _FOLDER)
    stack = [(here, _entries(b"", here, opened))]
    try:
        while stack:
            here, entries = stack[-1]
            entry = next(entries, None)
            if entry is None:
                os.close(here)
                stack.pop()
                continue
            yield entry
            if entry.is_folder:
                if len(stack) > depth:
                    raise TooDeep(os.fsdecode(entry.path))
                there = _open_folder(entry.name, here)
                stack.append((there, _entries(entry.path, there, opened)))
    finally:
        for here, _ in stack:
            os.close(here)


def _entries(path: bytes, folder: int, opened: Callable[[int], None] | None) -> Iterator[Entry]:
    if opened is not None:
        opened(folder)
    for name in sorted(os.fsencode(name) for name in os.listdir(folder)):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        yield Entry(path + b"/" + name if path else name, folder, name, found)


def _open_folder(name: bytes, parent: int) -> int:
    """Also one that its owner, this process, may not read as it stands."""
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        held = os.open(name, _HELD, dir_fd=parent)  # this folder, whatever the name means a moment later
        try:
            os.chmod(f"/proc/self/fd/{held}", 0o700)
            return os.open(".", _FOLDER, dir_fd=held)
        finally:
            os.close(held)


def used_bytes(top: Path, *, depth: int) -> int:
    """On disk, while somebody else may still be writing. Raises TooDeep."""
    try:
        return sum(entry.found.st_blocks * 512 for entry in walk(top, depth=depth))
    except FileNotFoundError:  # gone while we looked; the next look will tell
        return 0


def remove(top: Path) -> None:
    """Remove a tree, however deep it is and whatever its modes: what lies deep is moved up first."""
    parent = os.open(top.parent, _FOLDER)
    stack = [(parent, [os.fsencode(top.name)])]
    moved = 0
    try:
        while stack:
            here, pending = stack[-1]
            if not pending:
                os.close(stack.pop()[0])
            elif _removed(here, pending[-1]):
                pending.pop()
            elif len(stack) > _DEEPEST_KEPT_OPEN:
                moved += 1
                fresh = b".moved-%d-%d" % (os.getpid(), moved)
                there = _open_folder(pending[-1], here)
                os.fchmod(there, 0o700)  # to be moved, a folder must be one that its owner can write
                os.close(there)
                os.rename(pending.pop(), fresh, src_dir_fd=here, dst_dir_fd=stack[1][0])
                stack[1][1].append(fresh)
            else:
                there = _open_folder(pending[-1], here)
                os.fchmod(there, 0o700)
                stack.append((there, [os.fsencode(name) for name in os.listdir(there)]))
    finally:
        for here, _ in stack:
            os.close(here)


def _removed(here: int, name: bytes) -> bool:
    """False: a folder that is not empty yet."""
    try:
        found = os.stat(name, dir_fd=here, follow_symlinks=False)
        if not stat.S_ISDIR(found.st_mode):
            os.unlink(name, dir_fd=here)
            return True
    except FileNotFoundError:
        return True
    try:
        os.rmdir(name, dir_fd=here)
    except OSError:
        return False
    return True

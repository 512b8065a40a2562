"""Collect the declared outputs of a run: after everything of it is dead, by descriptor, once.

Every other name in the folder is ignored: nothing is listed, unpacked or matched. The bytes stay hostile;
worker/collect.py turns them into bounded numbers.
"""

import errno
import os
import stat
from collections.abc import Mapping, Sequence

# O_NONBLOCK: opening a fifo must not wait for a writer; O_NOCTTY: nor may a terminal become ours
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def read_outputs(folder: int, paths: Sequence[str], *, cap: int) -> Mapping[str, bytes] | None:
    """The bytes of each of `paths` below the directory descriptor `folder`, each at most `cap` long.

    None if one is missing, is reached through a link, is not a plain file with one name that its owner can
    read, or is larger.
    """
    found = {}
    for path in paths:
        content = _read(folder, path, cap)
        if content is None:
            return None
        found[path] = content
    return found


def _read(folder: int, path: str, cap: int) -> bytes | None:
    try:
        descriptor = _open_beneath(folder, path)
    except OSError:
        return None
    try:
        facts = os.fstat(descriptor)
        # a worker that is root could read what the run's own user cannot: then deployments would differ
        readable = facts.st_mode & stat.S_IRUSR
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1 or facts.st_size > cap or not readable:
            return None
        content = _read_at_most(descriptor, cap + 1)
        return content if len(content) <= cap else None
    finally:
        os.close(descriptor)


def _open_beneath(folder: int, path: str) -> int:
    *folders, name = path.split("/")
    here = os.dup(folder)
    try:
        _check_passable(here)
        for step in folders:
            there = os.open(step, _FLAGS | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = there
            _check_passable(here)
        return os.open(name, _FLAGS, dir_fd=here)
    finally:
        os.close(here)


def _check_passable(folder: int) -> None:
    """As for files: root passes where the run's own user could not."""
    if not os.fstat(folder).st_mode & stat.S_IXUSR:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _read_at_most(descriptor: int, count: int) -> bytes:
    content = b""
    while len(content) < count:
        piece = os.read(descriptor, count - len(content))
        if not piece:
            break
        content += piece
    return content

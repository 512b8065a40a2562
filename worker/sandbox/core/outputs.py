"""Collect the declared outputs of a run: after everything of it is dead, by descriptor, once.

Every other name in the folder is ignored: nothing is listed, unpacked or matched. The bytes stay hostile;
worker/collect.py turns them into bounded numbers.
"""

import errno
import os
import stat
from collections.abc import Mapping, Sequence

from sandbox_images.output_tree import FLAGS, NotPlain, plain_content


def read_outputs(folder: int, paths: Sequence[str], *, cap: int) -> Mapping[str, bytes] | None:
    """The bytes of each of `paths` below the directory descriptor `folder`, each at most `cap` long.

    None if one is missing, is reached through a link, is not a plain file with one name that its owner can
    read, or is larger.
    """
    try:
        return {path: _read(folder, path, cap) for path in paths}
    except (OSError, NotPlain):
        return None


def _read(folder: int, path: str, cap: int) -> bytes:
    descriptor = _open_beneath(folder, path)
    try:
        content: bytes = plain_content(descriptor, cap)
        return content
    finally:
        os.close(descriptor)


def _open_beneath(folder: int, path: str) -> int:
    *folders, name = path.split("/")
    here = os.dup(folder)
    try:
        _check_passable(here)
        for step in folders:
            there = os.open(step, FLAGS | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = there
            _check_passable(here)
        return os.open(name, FLAGS, dir_fd=here)
    finally:
        os.close(here)


def _check_passable(folder: int) -> None:
    """As for files: root passes where the run's own user could not."""
    if not os.fstat(folder).st_mode & stat.S_IXUSR:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

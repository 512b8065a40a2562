"""How large the input of a run may be: fixed before any data are looked at, and the same for every run.

An input that is larger makes a failed run, like any other failure of a pipeline. Were it decided by what is
free on the host at that moment, or told as an error of the job, who is in a block would show.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from worker.sandbox.core.scratch import default_scratch_root
from worker.view import Part, View

from .protocol import KIB, SandboxUnavailable

# of a file beside its bytes: the rest of its last page, its inode and its name
FILE_OVERHEAD = 8 * KIB
# a slot holds the parts that it has copied, and beside them at most one input that is staged whole
_HELD_BY_SLOT = 2


def room_of_parts(parts: Iterable[Part]) -> int:
    """Bytes of memory that copies of these parts take; equal parts are held once."""
    return sum({part.key: part.size + len(part.files) * FILE_OVERHEAD for part in parts}.values())


def room_of(block: Mapping[str, bytes]) -> int:
    """Bytes of memory that a whole input takes. Nothing of a view is read for it."""
    if isinstance(block, View):
        files = len(block.files) + sum(len(part.files) for part in block.parts)
        return block.size + files * FILE_OVERHEAD
    return sum(map(len, block.values())) + len(block) * FILE_OVERHEAD


def capacity_of(scratch_root: Path | None, *, slots: int, kept_back: int = 0) -> int:
    """The largest input, in bytes, where nobody set one: what every slot of this host can have at once.

    Of the file system but for the bytes `kept_back`, whatever is free now. SandboxUnavailable without one.
    """
    return max(size_of(scratch_root) - kept_back, 0) // (_HELD_BY_SLOT * slots)


def needed_for(input_bytes: int, *, slots: int) -> int:
    """Bytes that the scratch file system must have for inputs of this size."""
    return _HELD_BY_SLOT * slots * input_bytes


def size_of(scratch_root: Path | None) -> int:
    """Bytes of the file system on which a scratch root lies, or will lie."""
    root = scratch_root or default_scratch_root()
    try:
        found = os.statvfs(root if root.exists() else root.parent)
    except OSError as error:
        raise SandboxUnavailable(f"{root} cannot be looked at: {error.strerror}") from error
    return found.f_blocks * found.f_frsize

"""Small files that lie beside deliveries: keys, mandates, orders, approvals.

Whoever delivers may put anything there: what is no plain file is not waited for.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

# of a pipe, opening would wait for whoever writes: for good
_OPENED = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_beside(path: Path, *, most_bytes: int) -> bytes | None:
    """Its first bytes; None where nothing is there, and none of what is no plain file."""
    try:
        descriptor = os.open(path, _OPENED)
    except FileNotFoundError:
        return None
    except OSError:
        return b""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most_bytes)

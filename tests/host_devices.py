"""The device nodes of this host, which all tests share."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def host_nodes() -> Iterator[None]:
    """Alone with the times of this host's device nodes: an attack whose defence is taken away sets
    them, and another session of tests may look at them at this moment.
    """
    with open(Path(tempfile.gettempdir()) / "dpgate-host-nodes.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

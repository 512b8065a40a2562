"""A folder in memory, for what must lie there; open to pass, closed to list."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from worker.sandbox.core.scratch import remove_tree


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="dpgate-test-", dir="/dev/shm"))
    os.chmod(place, 0o711)
    try:
        yield place
    finally:
        remove_tree(place)

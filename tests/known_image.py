"""What this host has for pipelines, looked at once for all commands of a process.

A command looks at some 70,000 files before it runs a pipeline. That takes half a second and finds the same
each time: a test that types twenty commands would spend most of its time on it. What looking finds is asked
in tests/unit/sandbox/test_host_image.py, and whoever starts `dpgate` as a process of its own looks again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from looked_image import looked

import dpgate.local_slots
import worker.images.store
import worker.profile.confined
from worker.sandbox.host_image import describe

_LOOKING: tuple[Any, ...] = (dpgate.local_slots, worker.images.store, worker.profile.confined)


@contextmanager
def one_look() -> Iterator[None]:
    """For as long as this lasts, commands of this process find what the first of them found."""
    assert {module.describe for module in _LOOKING} == {describe}
    try:
        for module in _LOOKING:
            module.describe = looked
        yield
    finally:
        for module in _LOOKING:
            module.describe = describe

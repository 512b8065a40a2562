"""What this host has for pipelines, looked at once for all cases of a process.

A look reads some 70,000 files, takes half a second and finds the same each time. What it finds is asked in
tests/unit/sandbox/test_host_image.py.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from worker.sandbox.host_image import describe
from worker.sandbox.protocol import SandboxUnavailable

looked = cache(describe)


def looked_before() -> None:
    """For a process whose forks are to find it done. Where nothing can be found, those who ask are told."""
    with suppress(SandboxUnavailable):
        looked()

"""Which images of this machine's store hold a library or a command: what to say where another lacks it."""

from __future__ import annotations

import glob
from pathlib import Path

from worker.images.libraries import PROGRAMS, holding
from worker.images.store import ImageStore

_MOST_NEAR = 3


def images_with(name: str, store: Path | None) -> tuple[str, ...]:
    """By name; `name` is a Python module, an R package, a package of Octave or a command."""
    if store is None or not store.is_dir():
        return ()
    return holding(name, ImageStore(store).listed())


def programs_like(name: str, rootfs: Path) -> tuple[str, ...]:
    """Commands of an image that begin with this name, as python3 does with python: the shortest first."""
    found = {
        path.name
        for folder in PROGRAMS
        for path in rootfs.glob(f"{folder}/{glob.escape(name)}*")
        if name and "/" not in name
    }
    return tuple(sorted(found, key=lambda each: (len(each), each))[:_MOST_NEAR])

"""Which images of this machine's store hold a library or a command: what to say where another lacks it."""

from __future__ import annotations

import glob
from pathlib import Path

from worker.images.store import ImageStore

_PYTHON = ("usr/lib/python3*", "usr/local/lib/python3*", "opt/*/lib/python3*")
_R = ("usr/lib/R", "usr/local/lib/R")
_PROGRAMS = ("usr/local/bin", "usr/bin", "bin", "opt/*/bin")
_PLACES = (
    *(f"{folder}/{kind}-packages" for folder in _PYTHON for kind in ("site", "dist")),
    *(f"{folder}/{kind}" for folder in _R for kind in ("library", "site-library")),
    *_PROGRAMS,
)
_OCTAVE = "usr/share/octave/packages"
_MOST_NEAR = 3


def images_with(name: str, store: Path | None) -> tuple[str, ...]:
    """By name; `name` is a Python module, an R package, a package of Octave or a command."""
    if store is None or not store.is_dir():
        return ()
    first = name.split(".")[0]
    images = ImageStore(store).listed()
    return tuple(sorted({image.name for image in images if holds(image.rootfs, first)}))


def programs_like(name: str, rootfs: Path) -> tuple[str, ...]:
    """Commands of an image that begin with this name, as python3 does with python: the shortest first."""
    found = {
        path.name
        for folder in _PROGRAMS
        for path in rootfs.glob(f"{folder}/{glob.escape(name)}*")
        if name and "/" not in name
    }
    return tuple(sorted(found, key=lambda each: (len(each), each))[:_MOST_NEAR])


def holds(rootfs: Path, name: str) -> bool:
    """Whether a library or a command of this name lies where images usually have them."""
    if not name or "/" in name:
        return False
    exact = glob.escape(name)
    patterns = [f"{place}/{exact}{end}" for place in _PLACES for end in ("", ".py")]
    return any(next(rootfs.glob(pattern), None) for pattern in (*patterns, f"{_OCTAVE}/{exact}-*"))

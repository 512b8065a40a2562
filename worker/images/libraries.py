"""Which images hold a library or a command: what to say where another lacks it."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path

from worker.sandbox.core.images import StoredImage

_PYTHON = ("usr/lib/python3*", "usr/local/lib/python3*", "opt/*/lib/python3*")
_R = ("usr/lib/R", "usr/local/lib/R")
PROGRAMS = ("usr/local/bin", "usr/bin", "bin", "opt/*/bin")
_PLACES = (
    *(f"{folder}/{kind}-packages" for folder in _PYTHON for kind in ("site", "dist")),
    *(f"{folder}/{kind}" for folder in _R for kind in ("library", "site-library")),
    *PROGRAMS,
)
_OCTAVE = "usr/share/octave/packages"


def holding(name: str, images: Iterable[StoredImage]) -> tuple[str, ...]:
    """Names of images; `name` is a Python module, an R package, a package of Octave or a command."""
    first = name.split(".")[0]
    return tuple(sorted({image.name for image in images if holds(image.rootfs, first)}))


def holds(rootfs: Path, name: str) -> bool:
    """Whether a library or a command of this name lies where images usually have them."""
    if not name or "/" in name:
        return False
    exact = glob.escape(name)
    patterns = [f"{place}/{exact}{end}" for place in _PLACES for end in ("", ".py")]
    return any(next(rootfs.glob(pattern), None) for pattern in (*patterns, f"{_OCTAVE}/{exact}-*"))

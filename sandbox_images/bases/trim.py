"""Removal of what a pipeline does not need: documents, translations, administration, tests of libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from pathlib import Path

from sandbox_images.bases.recipe import KEPT, TRIMMED

# below the folder of the wheels
WHEELS_TRIMMED = (
    "*/tests/*",
    "*/include/*",
    *(f"*.{suffix}" for suffix in ("a", "c", "cc", "cpp", "h", "hpp", "pxd", "pxi", "pyi", "pyx")),
    *(f"pyarrow/*{part}*.so*" for part in ("flight", "s3")),  # Arrow over the network
    "bin/*",  # commands that name the builder's interpreter
)


def trim(root: Path, patterns: Iterable[str]) -> None:
    """Remove what TRIMMED or one of these patterns matches, and the folders that this leaves empty."""
    _remove(root, (*TRIMMED, *patterns))


def trim_wheels(site: Path) -> None:
    """Remove tests, headers, sources of compiled modules and what needs a network."""
    _remove(site, WHEELS_TRIMMED)


def _remove(top: Path, patterns: Iterable[str]) -> None:
    away, kept = _any_of(patterns), _any_of(KEPT)
    for path in sorted(top.rglob("*"), reverse=True):  # a folder comes after what it holds
        place = path.relative_to(top).as_posix()
        if path.is_dir() and not path.is_symlink():
            if away.match(f"{place}/") and not any(path.iterdir()):
                path.rmdir()
        elif away.match(place) and not kept.match(place):
            path.unlink()


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))

"""A real disk of a few MiB: a tmpfs of this size, in a mount namespace of one Python process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def on_small_disk(function: Any, *arguments: object, place: Path, mib: int) -> str:
    """What a function of a test module prints in a process in which `place` is such a disk, and ends with it.

    Its first argument is the place; all are given as texts."""
    module = Path(function.__code__.co_filename)
    code = (
        f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'tests'), str(module.parent)]!r}; "
        f"from {module.stem} import {function.__name__} as asked; asked(*sys.argv[1:])"
    )
    disk = ["bwrap", "--dev-bind", "/", "/", "--size", str(mib * 2**20), "--tmpfs", str(place)]
    python = [sys.executable, "-c", code, str(place), *map(str, arguments)]
    done = subprocess.run([*disk, *python], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fill(place: Path, *, left_mib: int) -> Path:
    """A file that leaves so many MiB of the disk."""
    import shutil

    filler = place / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(place).free - left_mib * 2**20))
    return filler

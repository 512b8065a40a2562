"""What participant levels wrote on data that lie plain on this machine anyway: a folder for each outcome."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from worker.levels import Tree


class PlainOutputs:
    """Outcomes below a folder, for the next run of the same pipeline on the same people.

    A failure is not kept: whoever sees it mends the pipeline, or tries again.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def status(self, name: bytes) -> bool | None:
        return True if self._place(name).is_dir() else None

    def size(self, _name: bytes) -> int:
        return 0  # whoever reads too much here hears so from the run

    def read(self, name: bytes) -> Tree:
        place = self._place(name)
        os.utime(place)
        files = sorted(path for path in place.rglob("*") if path.is_file())
        return {path.relative_to(place).as_posix(): path.read_bytes() for path in files}

    def keep(self, name: bytes, tree: Tree | None) -> None:
        """All of it or nothing, also where somebody else keeps the same at this moment."""
        if tree is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = Path(tempfile.mkdtemp(prefix=".", dir=self._folder))
        try:
            for path, content in tree.items():
                (unfinished / path).parent.mkdir(parents=True, exist_ok=True)
                (unfinished / path).write_bytes(content)
            if not self._place(name).exists():
                unfinished.rename(self._place(name))
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def remove_unused(self, *, for_s: float) -> None:
        """What nobody has read for so long, and what was left unfinished."""
        before = time.time() - for_s
        for place in self._folder.iterdir() if self._folder.is_dir() else ():
            if place.stat().st_mtime < before:
                shutil.rmtree(place, ignore_errors=True)

    def _place(self, name: bytes) -> Path:
        return self._folder / name.hex()

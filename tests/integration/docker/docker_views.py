"""Views for tests: parts from memory that count how often they are opened, and parts of a folder."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO

from worker.view import Part

# A run's whole input, in one text: what it holds, and the facts by which files could be told from others
LOOK = """
import hashlib
def look(top):
    found = {}
    for folder, folders, names in os.walk(top):
        folders.sort()
        for path in [folder, *(os.path.join(folder, name) for name in sorted(names))]:
            kind = os.stat(path)
            facts = [kind.st_mode, kind.st_ino, kind.st_nlink, kind.st_uid, kind.st_mtime, kind.st_atime]
            if not os.path.isdir(path):
                facts.append(hashlib.sha256(open(path, "rb").read()).hexdigest())
            found[os.path.relpath(path, top)] = facts
    return found
open(out + "/verdict", "w").write(json.dumps(look(given)))
"""


class Source:
    """Opens files from memory. `opened`: how often each was."""

    def __init__(self) -> None:
        self.opened: Counter[str] = Counter()

    def part(self, place: str, files: Mapping[str, bytes], *, key: str | None = None) -> Part:
        openers = {name: partial(self._open, f"{place}/{name}", content) for name, content in files.items()}
        return Part(place, key or place, sum(map(len, files.values())), openers)

    def _open(self, path: str, content: bytes) -> BinaryIO:
        self.opened[path] += 1
        return io.BytesIO(content)


def lying_part(folder: Path, place: str) -> Part:
    """Of files that lie plain in `folder / place`."""
    where = folder / place
    files = {path.relative_to(where).as_posix(): path for path in where.rglob("*") if path.is_file()}
    size = sum(path.stat().st_size for path in files.values())
    openers = {name: partial(open, path, "rb") for name, path in files.items()}
    return Part(place, place, size, openers, folder=where)

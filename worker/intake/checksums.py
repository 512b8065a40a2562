"""Files that are compared with their checksums as they are read."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

from domain.dataset import ImportProblem
from formats.checksums import LISTS, MANIFEST, MAX_LIST_BYTES, parse_list, parse_manifest
from worker.intake.refusal import ImportRefused, refuse_all
from worker.intake.tree import Tree

Open = Callable[[], BinaryIO]


@dataclass(frozen=True)
class Checksums:
    """What came with a delivery: SHA-256 in hex by path, and the list as it was delivered."""

    place: str = ""
    content: bytes | None = field(default=None, repr=False)
    expected: Mapping[str, str] = field(default_factory=dict, repr=False)

    def opener(self, tree: Tree, place: str) -> Open:
        """Opens the file; reading it to its end raises ImportRefused if it is not the one that was listed."""
        return partial(_open, tree, place, self.expected.get(place))


def read_checksums(tree: Tree, excludes: Callable[[str], bool]) -> Checksums:
    """The platform's own list, or else one that the data came with.

    Raises ImportRefused for a list that cannot be read, and unless all that it lists is there; nothing else
    may be there that the platform's own does not list.
    """
    place = next((name for name in (MANIFEST, *LISTS) if name in tree.files), None)
    if place is None:
        return Checksums()
    if tree.files[place] > MAX_LIST_BYTES:
        raise ImportRefused(ImportProblem.TOO_LARGE, place=place, detail=f"limit {MAX_LIST_BYTES} bytes")
    content = tree.path(place).read_bytes()
    try:
        expected = parse_manifest(content) if place == MANIFEST else parse_list(place, content)
    except ValueError as error:
        raise ImportRefused(ImportProblem.CHECKSUM, place=place, detail=str(error)) from None
    expected = {path: digest for path, digest in expected.items() if not excludes(path)}
    missing = sorted(set(expected) - set(tree.files))
    refuse_all(ImportProblem.CHECKSUM, missing, detail=f"listed in {place}, but not there")
    if place == MANIFEST:
        added = sorted(set(tree.files) - set(expected) - {MANIFEST})
        refuse_all(ImportProblem.CHECKSUM, added, detail=f"not listed in {place}")
    return Checksums(place, content, expected)


def _open(tree: Tree, place: str, expected: str | None) -> BinaryIO:
    file = tree.path(place).open("rb")
    return file if expected is None else io.BufferedReader(_Compared(file, place, expected), 2**20)


class _Compared(io.RawIOBase):
    """A file that is read from start to end, once; going back starts the comparison again."""

    def __init__(self, file: BinaryIO, place: str, expected: str) -> None:
        self._file, self._place, self._expected = file, place, expected
        self._digest = hashlib.sha256()
        self._hashed = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        start = self._file.tell()
        part = self._file.read(len(buffer))
        buffer[: len(part)] = part
        if start <= self._hashed:
            # what was read before, and is read again, was compared already
            self._digest.update(part[self._hashed - start :])
            self._hashed = max(self._hashed, start + len(part))
        if not part and start == self._hashed and self._digest.hexdigest() != self._expected:
            raise ImportRefused(ImportProblem.CHECKSUM, place=self._place)
        return len(part)

    def close(self) -> None:
        self._file.close()
        super().close()

"""One run's input without copies: a few small files as bytes, and parts that lie somewhere already.

A sandbox decides how a part gets to its place: copied where the whole is small, bound read-only where it is
not. Nothing here opens a file before somebody asks for its bytes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from worker.sandbox.core.scratch import check_relative_path

Opener = Callable[[], BinaryIO]


@dataclass(frozen=True)
class Part:
    """Files that belong together at one place of an input, as they lie somewhere; read only when needed.

    `place` is a folder of the input ("sub-01", "derivatives/x/sub-01"), or the path of a single file: then
    `files` is {"": opener} and `folder`, where given, is that file.
    """

    place: str  # relative
    key: str  # opaque; equal keys mean equal bytes at equal paths
    size: int  # plain bytes together
    files: Mapping[str, Opener] = field(repr=False)  # by path relative to `place`
    folder: Path | None = field(default=None, repr=False)  # where exactly these files lie plain on this host

    @property
    def is_file(self) -> bool:
        return "" in self.files

    def paths(self) -> Iterator[tuple[str, Opener]]:
        """Every file by its path in the input."""
        for name, opener in self.files.items():
            yield (f"{self.place}/{name}" if name else self.place), opener


class View(Mapping[str, bytes]):
    """One run's input. As a Mapping it reads everything lazily, each file whenever it is asked for.

    ValueError for a path that leaves the input, for a part that is empty, and where two claim one place.
    """

    def __init__(self, files: Mapping[str, bytes], parts: Sequence[Part] = ()) -> None:
        self.files, self.parts = dict(files), tuple(parts)
        _check_places([*self.files, *(part.place for part in self.parts)])
        if any((part.is_file and len(part.files) != 1) or not part.files for part in self.parts):
            raise ValueError("a part of a view is one file, or the files of one folder")

    @cached_property
    def size(self) -> int:
        """Plain bytes of all."""
        return sum(map(len, self.files.values())) + sum(part.size for part in self.parts)

    @cached_property
    def _openers(self) -> Mapping[str, Opener]:
        found = {path: opener for part in self.parts for path, opener in part.paths()}
        for path in found:
            check_path(path)
        return found

    def __getitem__(self, path: str) -> bytes:
        if path in self.files:
            return self.files[path]
        with self._openers[path]() as file:
            return file.read()

    def __contains__(self, path: object) -> bool:
        return path in self.files or path in self._openers

    def __iter__(self) -> Iterator[str]:
        yield from self.files
        yield from self._openers

    def __len__(self) -> int:
        return len(self.files) + len(self._openers)

    def __repr__(self) -> str:
        """Counts only: paths may hold a person's id."""
        return f"View({len(self.files)} files, {len(self.parts)} parts)"


def _check_places(places: Sequence[str]) -> None:
    """No two at one place, and nothing below a place that is taken."""
    taken = set(places)
    if len(taken) != len(places):
        raise ValueError("two files or parts of a view lie at one place")
    for place in places:
        check_path(place)
        steps = place.split("/")
        if any("/".join(steps[:count]) in taken for count in range(1, len(steps))):
            raise ValueError("a file or part of a view lies inside another")


def check_path(path: str) -> None:
    """As check_relative_path, in words that do not name it."""
    try:
        check_relative_path(path)
    except ValueError:  # which names the path, and that may hold a person's id
        raise ValueError("a path of a view is not relative, or is too long or too deep") from None

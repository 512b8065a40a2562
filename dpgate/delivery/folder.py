"""A folder of this machine as a source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from dpgate.delivery.source import MAX_FILE_BYTES, SourceFile
from worker.intake.tree import read_tree


class FolderSource:
    """The plain files of a folder. Raises ImportRefused, with details, for links and special files."""

    def __init__(self, folder: Path, excludes: Callable[[str], bool]) -> None:
        self._folder = folder
        self.identity = str(folder.resolve())
        tree = read_tree(folder, max_file_bytes=MAX_FILE_BYTES, excludes=excludes)
        self.files = [
            SourceFile(path, size, str((folder / path).stat().st_mtime_ns))
            for path, size in tree.files.items()
        ]

    def opened(self, wanted: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, BinaryIO]]:
        for file in wanted:
            with (self._folder / file.path).open("rb") as content:
                yield file, content

"""Whether a twin's folder has the shape of the original's: tables whole, of other files the headers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from domain.dataset import Declaration
from twins.drawn import Difference, OpenFiles, check_conformance
from twins.drawn.table_facts import TableFacts

MAX_COMPARED_BYTES = 256 * 1024 * 1024


class Folder(OpenFiles):
    """Plain files below a folder by their path in it; links are passed over."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths = frozenset(_found(root))

    def open(self, path: str) -> BinaryIO:
        if path not in self._paths:
            raise KeyError(path)
        return (self._root / path).open("rb")

    def __getitem__(self, path: str) -> bytes:
        with self.open(path) as file:
            return file.read()

    def __contains__(self, path: object) -> bool:  # the mapping's own would read the file
        return path in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._paths))

    def __len__(self) -> int:
        return len(self._paths)


def compare_folders(declaration: Declaration, original: Path, twin: Path) -> list[Difference]:
    """What differs, what is to be mended first. For the rights holder alone: people's files were read."""
    theirs = Folder(original)
    large = [
        table
        for table in declaration.tables
        if table.path in theirs
        and not table.is_parquet
        and (original / table.path).stat().st_size > MAX_COMPARED_BYTES
    ]
    facts = {}
    for table in large:
        with theirs.open(table.path) as file:
            facts[table.path] = TableFacts.of_header(table, next(table.delivered_rows(file)).cells)
    found = check_conformance(declaration, theirs, Folder(twin), facts=facts)
    sentence = f"only its line of names is compared: it has more than {MAX_COMPARED_BYTES >> 20} MiB."
    return [*found, *(Difference(table.path, sentence, on_purpose=True) for table in large)]


def _found(root: Path) -> Iterator[str]:
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(root).as_posix()

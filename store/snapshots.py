"""Immutable, content-addressed, sealed copies of original data. Worker zone only.

A snapshot is a sealed manifest, pages that say which file of which person is which blob, and sealed blobs.
Everything is named by a keyed digest of its plain bytes: equal files are stored once, names tell nothing.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from domain.errors import PlatformError
from domain.model import canonical
from store.blobs import BlobArea
from store.keys import Keys, OwnKeys
from store.sealed_file import JoinedFile
from store.sealing import CHUNK

Open = Callable[[], BinaryIO]
VERSION = 3
PEOPLE_PER_PAGE = 10_000


@dataclass(frozen=True)
class StoredFile:
    """One sealed file: `name` is the keyed digest of its plain bytes, `size` their number. Read on demand."""

    name: str
    size: int
    open: Open = field(repr=False, compare=False)


class PersonRows(NamedTuple):
    """How a table in which the rows of each person lie together is cut into pieces: their sizes, none but the
    first of less than one person; and its index, a line for each person: name, and `RowsPlace`."""

    sizes: Sequence[int]
    lines: Open


class RowsPlace(NamedTuple):
    """Where the rows of one person lie: in which piece, and from where. `digest` is of the header and these
    rows, as a run gets them."""

    piece: int
    start: int
    size: int
    digest: str


class Snapshot:
    """One snapshot, read on demand. Paths and names of people in it are secrets."""

    def __init__(self, blobs: BlobArea, manifest: dict[str, Any]) -> None:
        self._blobs = blobs
        self._manifest = manifest

    @property
    def people(self) -> list[str]:
        """Every person of the privacy unit's table, each once. A secret: also its length."""
        return list(self._files)

    @cached_property
    def shared(self) -> Mapping[str, StoredFile]:
        """Files for everybody as they were delivered, by path."""
        return self._stored(self._manifest.get("shared", {}))

    def table(self, path: str) -> bytes:
        return b"".join(self._blobs.read(name) for name in self._pieces(path))

    def open_table(self, path: str) -> JoinedFile:
        """The table as a file that opens as it is read, from any place: for what need not be in memory."""
        names = self._pieces(path)
        sizes = list(map(self._blobs.plain_size, names))
        return JoinedFile([partial(self._blobs.open, name) for name in names], sizes)

    def piece(self, path: str, number: int) -> bytes:
        """One piece of a table, by itself."""
        return self._blobs.read(self._pieces(path)[number])

    def _pieces(self, path: str) -> list[str]:
        found = self._manifest["tables"][path]
        return [found] if isinstance(found, str) else found  # one alone, also where there is no index

    def rows_of(self, path: str) -> Mapping[str, RowsPlace] | None:
        """Where each person's rows lie in a table; None for tables that no run sees, and in snapshots of
        earlier versions."""
        name = self._manifest.get("rows", {}).get(path)
        if name is None:
            return None
        with self._blobs.open(name) as file:
            lines = map(json.loads, io.BufferedReader(file, CHUNK))
            return {person: RowsPlace(*place) for person, *place in lines}

    def files_of(self, person: str) -> Mapping[str, StoredFile]:
        """The person's own files by their path in the tree, at any depth."""
        found = self._files[person]
        return self._stored(json.loads(found) if isinstance(found, bytes) else found)

    def checksums(self) -> bytes | None:
        """The list of checksums that came with the delivery, if one did."""
        name = self._manifest.get("checksums")
        return None if name is None else self._blobs.read(name)

    @cached_property
    def _files(self) -> Mapping[str, bytes | dict[str, str]]:
        """What the pages say of each person, taken apart when it is asked for."""
        if "pages" not in self._manifest:
            return dict(self._manifest["people"])  # version 1
        lines = (line for page in self._manifest["pages"] for line in self._blobs.read(page).splitlines())
        parts = (line.partition(b"\t") for line in lines)
        return {json.loads(person): files for person, _, files in parts}

    def _stored(self, listed: Mapping[str, Any]) -> dict[str, StoredFile]:
        return {path: self._file(*entry) for path, entry in map(_entry, listed.items())}

    def _file(self, name: str, size: int | None) -> StoredFile:
        known = self._blobs.plain_size(name) if size is None else size
        return StoredFile(name, known, partial(_opened, self._blobs, name))


class SnapshotArea:
    """A folder of snapshots under the same keys: of one data set, or of all that have none of their own. Two
    of the same are equal."""

    def __init__(self, root: Path, keys: Keys | OwnKeys) -> None:
        self._blobs = BlobArea(root / "blobs", keys)
        self._manifests = BlobArea(root / "manifests", keys, kind="manifest", fanned_out=False)
        self._is = (root, keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SnapshotArea) and self._is == other._is

    def __hash__(self) -> int:
        return hash(self._is)

    def write(
        self,
        *,
        tables: Mapping[str, Open],
        people: Mapping[str, Mapping[str, Open]],
        rows: Mapping[str, PersonRows] | None = None,
        shared: Mapping[str, Open] | None = None,
        checksums: bytes | None = None,
    ) -> str:
        """Seal a data set and return its name, a keyed digest of the whole content.

        A table that `rows` knows is sealed in pieces that open by themselves: what one person's rows cost
        does not depend on how many another has.

        What is there already, of this snapshot or another, is not sealed again: a write that was killed goes
        on where it ended. No more than a page of people is held in memory.
        """
        manifest = {
            "version": VERSION,
            "tables": {
                path: self._in_pieces(opener, found.sizes)
                if (found := (rows or {}).get(path))
                else self._blobs.write(opener)[0]
                for path, opener in sorted(tables.items())
            },
            "rows": {path: self._blobs.write(found.lines)[0] for path, found in sorted((rows or {}).items())},
            "shared": self._written(shared or {}),
            "pages": list(self._pages(people)),
            "checksums": None if checksums is None else self._blobs.write_bytes(checksums),
        }
        return f"keyed:{self._manifests.write_bytes(canonical(manifest))}"

    def _in_pieces(self, opener: Open, sizes: Sequence[int]) -> list[str]:
        with opener() as file:
            return [self._blobs.write_bytes(file.read(size)) for size in sizes]

    def has(self, snapshot: str) -> bool:
        """Whether the snapshot is here. Opens nothing."""
        return self._manifests.has(_name(snapshot))

    def names(self) -> list[str]:
        """Of all that are here."""
        return [f"keyed:{name}" for name in self._manifests.names()]

    def open(self, snapshot: str) -> Snapshot:
        manifest = json.loads(self._manifests.read(_name(snapshot)))
        if manifest.get("version", 1) > VERSION:
            raise PlatformError("a snapshot was written by a newer version of this program")
        return Snapshot(self._blobs, manifest)

    def _pages(self, people: Mapping[str, Mapping[str, Open]]) -> Iterator[str]:
        """The names of blobs with one line for each person: their name, and their files."""
        lines = (
            canonical(person) + b"\t" + canonical(self._written(files)) + b"\n"
            for person, files in people.items()
        )
        while page := b"".join(islice(lines, PEOPLE_PER_PAGE)):
            yield self._blobs.write_bytes(page)

    def _written(self, files: Mapping[str, Open]) -> dict[str, tuple[str, int]]:
        return {path: self._blobs.write(opener) for path, opener in sorted(files.items())}


def _entry(item: tuple[str, Any]) -> tuple[str, tuple[str, int | None]]:
    # version 1 kept the name alone
    path, entry = item
    return path, (entry, None) if isinstance(entry, str) else (entry[0], entry[1])


def _opened(blobs: BlobArea, name: str) -> BinaryIO:
    return io.BufferedReader(blobs.open(name), CHUNK)


def _name(snapshot: str) -> str:
    kind, _, name = snapshot.partition(":")
    if kind != "keyed" or len(name) != 64 or not set(name) <= set("0123456789abcdef"):
        raise PlatformError("a snapshot has a name of an unknown form")
    return name

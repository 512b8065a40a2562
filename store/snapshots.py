"""Immutable, content-addressed, sealed copies of original data. Worker zone only.

A snapshot is a sealed manifest (which table and which file of which person is which blob) and sealed blobs.
Everything is named by a keyed digest of its plain bytes: equal files are stored once, names tell nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from domain.errors import PlatformError
from domain.model import canonical
from store.keys import Keys
from store.sealing import CHUNK, open_stream, seal_stream

Open = Callable[[], BinaryIO]


class Snapshot:
    """One snapshot, read on demand."""

    def __init__(
        self, area: SnapshotArea, manifest: dict[str, dict[str, str] | dict[str, dict[str, str]]]
    ) -> None:
        self._area = area
        self._tables: dict[str, str] = manifest["tables"]  # type: ignore[assignment]
        self._people: dict[str, dict[str, str]] = manifest["people"]  # type: ignore[assignment]

    @property
    def people(self) -> list[str]:
        """Every person of the privacy unit's table. A secret: also its length."""
        return list(self._people)

    def table(self, path: str) -> bytes:
        return self._area.read_blob(self._tables[path])

    def files_of(self, person: str) -> dict[str, bytes]:
        """The person's own files by path."""
        return {path: self._area.read_blob(blob) for path, blob in self._people[person].items()}


class SnapshotArea:
    """The folder of all snapshots."""

    def __init__(self, root: Path, keys: Keys) -> None:
        self._blobs = root / "blobs"
        self._manifests = root / "manifests"
        self._keys = keys

    def write(self, *, tables: Mapping[str, Open], people: Mapping[str, Mapping[str, Open]]) -> str:
        """Seal a data set and return its name, a keyed digest of the whole content."""
        manifest = {
            "tables": {path: self._write_blob(opener) for path, opener in sorted(tables.items())},
            "people": {
                person: {path: self._write_blob(opener) for path, opener in sorted(files.items())}
                for person, files in sorted(people.items())
            },
        }
        content = canonical(manifest)
        name = self._digest([content])
        self._write(self._manifests / name, [content], context=f"manifest {name}")
        return f"keyed:{name}"

    def has(self, snapshot: str) -> bool:
        """Whether the snapshot is here. Opens nothing."""
        return (self._manifests / _name(snapshot)).is_file()

    def open(self, snapshot: str) -> Snapshot:
        name = _name(snapshot)
        content = b"".join(self._read(self._manifests / name, context=f"manifest {name}"))
        return Snapshot(self, json.loads(content))

    def read_blob(self, name: str) -> bytes:
        return b"".join(self._read(self._blobs / name[:2] / name, context=f"blob {name}"))

    def _write_blob(self, opener: Open) -> str:
        # twice through the file: the name comes first, so that an unchanged file is not sealed again
        name = self._digest(_chunks(opener))
        target = self._blobs / name[:2] / name
        if not target.exists():
            self._write(target, _chunks(opener), context=f"blob {name}")
        return name

    def _write(self, target: Path, parts: Iterable[bytes], *, context: str) -> None:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
        try:
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.writelines(seal_stream(parts, key=self._keys.snapshots, context=context))
                file.flush()
                os.fsync(file.fileno())
            unfinished.rename(target)
        finally:
            unfinished.unlink(missing_ok=True)

    def _read(self, path: Path, *, context: str) -> Iterator[bytes]:
        try:
            with path.open("rb") as file:
                yield from open_stream(
                    iter(lambda: file.read(CHUNK), b""), key=self._keys.snapshots, context=context
                )
        except FileNotFoundError:
            raise PlatformError("a part of a snapshot is missing from the worker's store") from None

    def _digest(self, parts: Iterable[bytes]) -> str:
        digest = hashlib.blake2b(key=self._keys.addresses, digest_size=32)
        for part in parts:
            digest.update(part)
        return digest.hexdigest()


def _chunks(opener: Open) -> Iterator[bytes]:
    with opener() as file:
        yield from iter(lambda: file.read(CHUNK), b"")


def _name(snapshot: str) -> str:
    kind, _, name = snapshot.partition(":")
    if kind != "keyed" or len(name) != 64 or not set(name) <= set("0123456789abcdef"):
        raise PlatformError("a snapshot has a name of an unknown form")
    return name

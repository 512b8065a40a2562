"""What participant levels wrote on original data, sealed. Worker zone only.

One file for each person, pipeline and image, named by a keyed digest of all that decides its content. The
next job of the same pipeline finds it, one with a changed person, pipeline or image does not, and names tell
nothing. The first who keeps an outcome wins: every run of a job must see the same one. Another cohort never
finds it: what one rights holder's job does and takes would depend on whether another has the same person.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from domain.errors import PlatformError
from store.keys import Keys, OwnKeys
from store.sealing import CHUNK, open_stream, seal_stream

Tree = Mapping[str, bytes]
MISSING = "what a participant level wrote is missing from the worker's store"


class ParticipantOutputs:
    """A folder of outcomes under the same keys: of one data set, or of all that have none of their own."""

    def __init__(self, root: Path, keys: Keys | OwnKeys) -> None:
        self._root = root
        self._key = keys.participants

    def of_job(self, job_id: str, *, cohort: str) -> JobOutputs:
        return JobOutputs(self, job_id, cohort)

    def remove_unused(self, *, since: datetime) -> int:
        """Remove what no job has used since then, and what a dead worker did not finish; how many files."""
        before, removed = since.timestamp(), 0
        for path in self._root.glob("??/*"):
            try:
                if path.stat().st_mtime < before:
                    path.unlink()
                    removed += 1
            except FileNotFoundError:
                continue  # another sweep was first
        return removed

    def path_of(self, *parts: bytes) -> Path:
        """Where the outcome named by these parts lies, there or not."""
        digest = hashlib.blake2b(key=self._key, digest_size=32)
        for part in parts:
            digest.update(len(part).to_bytes(8, "big") + part)
        name = digest.hexdigest()
        return self._root / name[:2] / name

    def write(self, target: Path, content: Iterator[bytes]) -> None:
        """Once: what is there stays."""
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, unfinished = tempfile.mkstemp(prefix=".", dir=target.parent)  # for its owner alone
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(seal_stream(content, key=self._key, context=f"outcome {target.name}"))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(unfinished, target)
        finally:
            os.unlink(unfinished)

    def size(self, path: Path) -> int:
        try:
            return path.stat().st_size
        except FileNotFoundError:
            raise PlatformError(MISSING) from None

    def read(self, path: Path) -> bytes:
        try:
            with path.open("rb") as file:
                pieces = iter(lambda: file.read(CHUNK), b"")
                return b"".join(open_stream(pieces, key=self._key, context=f"outcome {path.name}"))
        except FileNotFoundError:
            raise PlatformError(MISSING) from None


class JobOutputs:
    """The outcomes as one job sees them.

    A failure counts for its job alone, since a busy host may be what made a run fail: the next job tries
    again.
    """

    def __init__(self, area: ParticipantOutputs, job_id: str, cohort: str) -> None:
        self._area, self._job, self._cohort = area, job_id.encode(), cohort.encode()

    def status(self, name: bytes) -> bool | None:
        """True: written; False: failed in this job; None: not run yet. Whatever is found counts as used."""
        if _touch(self._failure(name)):
            return False
        return True if _touch(self._written(name)) else None

    def size(self, name: bytes) -> int:
        """Bytes as sealed: a little more than `read` gives. Raises PlatformError as `read` does."""
        return self._area.size(self._written(name))

    def read(self, name: bytes) -> Tree:
        """Raises PlatformError when nothing is kept under this name."""
        return _unpacked(self._area.read(self._written(name)))

    def keep(self, name: bytes, tree: Tree | None) -> None:
        """What a person's run wrote, by path; None for a run that failed."""
        if tree is None:
            self._area.write(self._failure(name), iter(()))
        else:
            self._area.write(self._written(name), _packed(tree))

    def _written(self, name: bytes) -> Path:
        return self._area.path_of(name, b"of the cohort", self._cohort)

    def _failure(self, name: bytes) -> Path:
        return self._area.path_of(name, self._job)


def _touch(path: Path) -> bool:
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _packed(tree: Tree) -> Iterator[bytes]:
    index = json.dumps([[path, len(content)] for path, content in tree.items()]).encode()
    yield len(index).to_bytes(8, "big") + index
    yield from tree.values()


def _unpacked(content: bytes) -> Tree:
    at = 8 + int.from_bytes(content[:8], "big")
    tree: dict[str, bytes] = {}
    for path, size in json.loads(content[8:at]):
        tree[path] = content[at : at + size]
        at += size
    return tree

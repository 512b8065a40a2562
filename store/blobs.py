"""Sealed files by the keyed digest of their plain bytes. Worker zone only."""

from __future__ import annotations

import hashlib
import io
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from domain.errors import PlatformError
from store.keys import Keys, OwnKeys
from store.sealed_file import SealedFile
from store.sealing import CHUNK, open_stream, plain_size, seal_stream

Open = Callable[[], BinaryIO]


class BlobArea:
    """One folder of sealed files of a `kind`; `fanned_out` spreads them over 256 folders."""

    def __init__(
        self, folder: Path, keys: Keys | OwnKeys, *, kind: str = "blob", fanned_out: bool = True
    ) -> None:
        self._folder, self._keys = folder, keys
        self._kind, self._fanned_out = kind, fanned_out

    def has(self, name: str) -> bool:
        return self._path(name).is_file()

    def names(self) -> list[str]:
        """Of all that are here, where they are not fanned out."""
        found = self._folder.iterdir() if self._folder.is_dir() else ()
        return sorted(path.name for path in found if not path.name.startswith("."))

    def write(self, opener: Open) -> tuple[str, int]:
        """Seal what `opener` gives unless it is here already: its name, and its plain size.

        Reads it twice, for the name comes first. Raises PlatformError if that gives two different things.
        """
        digest, size = self._digest(), 0
        for part in _chunks(opener):
            digest.update(part)
            size += len(part)
        name = digest.hexdigest()
        if not self.has(name):
            self._seal(name, self._checked(_chunks(opener), name))
        return name, size

    def write_bytes(self, content: bytes) -> str:
        return self.write(lambda: io.BytesIO(content))[0]

    def read(self, name: str) -> bytes:
        with _found(), self._path(name).open("rb") as file:
            parts = iter(lambda: file.read(CHUNK), b"")
            return b"".join(open_stream(parts, key=self._keys.snapshots, context=self._context(name)))

    def open(self, name: str) -> SealedFile:
        """A file that opens as it is read, from any place."""
        with _found():
            sealed = self._path(name).open("rb")
        return SealedFile(sealed, key=self._keys.snapshots, context=self._context(name))

    def plain_size(self, name: str) -> int:
        """Plain bytes, from the sealed length."""
        with _found():
            return plain_size(self._path(name).stat().st_size)

    def _seal(self, name: str, parts: Iterable[bytes]) -> None:
        target = self._path(name)
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
        try:
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                sealed = seal_stream(parts, key=self._keys.snapshots, context=self._context(name))
                file.writelines(sealed)
                file.flush()
                os.fsync(file.fileno())
            unfinished.rename(target)
        finally:
            unfinished.unlink(missing_ok=True)

    def _checked(self, parts: Iterable[bytes], name: str) -> Iterator[bytes]:
        digest = self._digest()
        for part in parts:
            digest.update(part)
            yield part
        if digest.hexdigest() != name:
            raise PlatformError("a file was changed while it was sealed")

    def _digest(self) -> hashlib.blake2b:
        return hashlib.blake2b(key=self._keys.addresses, digest_size=32)

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name if self._fanned_out else self._folder / name

    def _context(self, name: str) -> str:
        return f"{self._kind} {name}"


@contextmanager
def _found() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise PlatformError("a part of a snapshot is missing from the worker's store") from None


def _chunks(opener: Open) -> Iterator[bytes]:
    with opener() as file:
        yield from iter(lambda: file.read(CHUNK), b"")

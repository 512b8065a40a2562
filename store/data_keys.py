"""The keys of data sets: one each, drawn at random, wrapped under a key of the zone. Worker zone only.

A small file for each, in a folder of its own that backups keep apart. Whoever destroys the file has destroyed
what is sealed under the key, in every copy that was made without this folder.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import tempfile
from base64 import b64decode, b64encode
from contextlib import suppress
from pathlib import Path

from domain.errors import PlatformError
from domain.model import SLUG, canonical
from store.keys import KEY_BYTES, Keys, OwnKeys
from store.sealing import open_sealed, seal

_ID = r"[0-9a-f]{32}"


class DataKeys:
    """The folder: a file for each data set, by its name."""

    def __init__(self, folder: Path, keys: Keys) -> None:
        self.folder, self._keys = folder, keys

    def find(self, name: str) -> OwnKeys | None:
        """None where the data set has no key. Raises PlatformError for one that does not open: of another
        zone, of another data set, or changed."""
        wrapped = _read(self._path(name))
        if wrapped is None:
            return None
        key_id, sealed = wrapped
        root = open_sealed(sealed, key=self._keys.wrapping, context=_context(key_id, name))
        return OwnKeys(key_id, root, self._keys.addresses)

    def make(self, name: str) -> OwnKeys:
        """The key of a data set; a new one where there is none. Of two at once the first stays."""
        if (known := self.find(name)) is not None:
            return known
        key_id = secrets.token_hex(16)
        context = _context(key_id, name)
        sealed = seal(secrets.token_bytes(KEY_BYTES), key=self._keys.wrapping, context=context)
        self._put(name, {"id": key_id, "sealed": b64encode(sealed).decode()})
        made = self.find(name)
        assert made is not None
        return made

    def id_of(self, name: str) -> str | None:
        """Which key a data set has, without opening it."""
        wrapped = _read(self._path(name))
        return None if wrapped is None else wrapped[0]

    def names(self) -> list[str]:
        """Data sets that have a key."""
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return sorted(path.name for path in found if re.fullmatch(SLUG, path.name))

    def destroy(self, name: str, key_id: str) -> None:
        """Overwritten, then removed, on the disk when it returns; a later key of the same name stays.
        Repeating it finds nothing to do. A disk that never overwrites in place may keep the old bytes."""
        path = self._path(name)
        with suppress(PlatformError):  # overwritten before, by one that died
            if self.id_of(name) not in (None, key_id):
                return
        with suppress(FileNotFoundError):
            with path.open("r+b") as file:
                file.write(secrets.token_bytes(path.stat().st_size))
                file.flush()
                os.fsync(file.fileno())
            path.unlink()
            _sync(self.folder)

    def _put(self, name: str, content: dict[str, str]) -> None:
        """Whole or not at all, unless there is one."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, unfinished = tempfile.mkstemp(prefix=".", dir=self.folder)  # for its owner alone
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(canonical(content))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(unfinished, self._path(name))
        finally:
            os.unlink(unfinished)
        _sync(self.folder)

    def _path(self, name: str) -> Path:
        # a row is not believed: a path would lead elsewhere
        if not re.fullmatch(SLUG, name):
            raise PlatformError("a data set has a name that none has")
        return self.folder / name


def _read(path: Path) -> tuple[str, bytes] | None:
    """The id of the key and the wrapped key; None where there is no file."""
    try:
        found = json.loads(path.read_bytes())
        key_id, sealed = str(found["id"]), b64decode(found["sealed"], validate=True)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        key_id, sealed = "", b""
    if not re.fullmatch(_ID, key_id):
        raise PlatformError("the key of a data set is not as it was written")
    return key_id, sealed


def _context(key_id: str, name: str) -> str:
    return f"data key {key_id} of {name}"


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""The keys of data sets: one each, drawn at random, wrapped under a key of the zone. Worker zone only.

A small file for each, in a folder of its own that backups keep apart. Whoever destroys the file has destroyed
what is sealed under the key, in every copy that was made without this folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from domain.errors import PlatformError
from domain.model import SLUG, canonical
from store.keys import KEY_BYTES, Keys, OwnKeys, begin_rotation, end_rotation
from store.sealing import open_sealed, seal

_ID = r"[0-9a-f]{32}"


class DataKeys:
    """The folder: a file for each data set, by its name. The zone's keys are loaded anew for each look: what
    these are wrapped under may be changed while workers go on."""

    def __init__(self, folder: Path, load: Callable[[], Keys]) -> None:
        self.folder, self._load = folder, load

    def find(self, name: str) -> OwnKeys | None:
        """None where the data set has no key. Raises PlatformError for one that does not open: of another
        zone, of another data set, or changed."""
        with suppress(PlatformError):
            return self._find(name)
        return self._find(name)  # between two looks all may have been wrapped anew

    def _find(self, name: str) -> OwnKeys | None:
        wrapped = _read(self._path(name))
        if wrapped is None:
            return None
        key_id, sealed = wrapped
        keys = self._load()
        *others, last = keys.wrapping
        for each in others:
            with suppress(PlatformError):
                root = open_sealed(sealed, key=each, context=_context(key_id, name))
                return OwnKeys(key_id, root, keys.addresses)
        root = open_sealed(sealed, key=last, context=_context(key_id, name))
        return OwnKeys(key_id, root, keys.addresses)

    def make(self, name: str) -> OwnKeys:
        """The key of a data set; a new one where there is none. Of two at once the first stays."""
        if (known := self.find(name)) is not None:
            return known
        with self._locked(fcntl.LOCK_SH):
            self._put(name, self._wrapped(secrets.token_hex(16), secrets.token_bytes(KEY_BYTES), name))
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
        if not path.exists():
            return
        # alone: between the look and the writing nobody else removes it and makes the next one
        with suppress(FileNotFoundError), self._locked(fcntl.LOCK_EX):
            with suppress(PlatformError):  # overwritten before, by one that died
                if self.id_of(name) not in (None, key_id):
                    return
            for unfinished in self.folder.glob(".key-*"):  # of a rotation that was killed: it may be this one
                _overwrite(unfinished)
            _overwrite(path)
            _sync(self.folder)

    def rotate(self, key_file: Path) -> list[str]:
        """All of them wrapped under a new key of the zone; whose. One that dies on the way is begun again.
        Data are not read. Raises PlatformError for one that does not open, and then none is lost."""
        with self._locked(fcntl.LOCK_EX):
            begin_rotation(key_file)
            names = self.names()
            for name in names:
                own = self.find(name)
                assert own is not None
                self._put(name, self._wrapped(own.id, own.root, name), instead=True)
            end_rotation(key_file)
        return names

    def _wrapped(self, key_id: str, root: bytes, name: str) -> dict[str, str]:
        sealed = seal(root, key=self._load().wrapping[0], context=_context(key_id, name))
        return {"id": key_id, "sealed": b64encode(sealed).decode()}

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """Nobody makes a key while one is destroyed, or either while all are wrapped anew."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, how)
            yield
        finally:
            os.close(descriptor)

    def _put(self, name: str, content: dict[str, str], *, instead: bool = False) -> None:
        """Whole or not at all; `instead` of the one that is there, which else stays."""
        descriptor, unfinished = tempfile.mkstemp(prefix=".key-", dir=self.folder)  # for its owner alone
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(canonical(content))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                (os.replace if instead else os.link)(unfinished, self._path(name))
        finally:
            Path(unfinished).unlink(missing_ok=True)
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


def _overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(secrets.token_bytes(path.stat().st_size))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()


def _context(key_id: str, name: str) -> str:
    return f"data key {key_id} of {name}"


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

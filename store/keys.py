"""The keys of the worker zone. The gateway has no path to them.

One master key in a file that only its owner can read; almost all else is derived from it by HKDF-SHA256
(RFC 5869) under a name of its own, so that no two uses share a key. The key of a data set is drawn, not
derived: it can be destroyed (`store/data_keys.py`).
"""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from domain.errors import NotReady

KEY_BYTES = 32
_UNFINISHED = ".master-"


def derived(root: bytes, purpose: str) -> bytes:
    """A key for one purpose."""
    return HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=f"dpgate {purpose}".encode()).derive(root)


@dataclass(frozen=True)
class OwnKeys:
    """Seal what belongs to one data set, and go with it. `root` is drawn at random and comes from no other
    key; files are named under the zone's key, so that equal data have equal names in every data set."""

    id: str
    root: bytes = field(repr=False)
    addresses: bytes = field(repr=False)

    @cached_property
    def snapshots(self) -> bytes:
        return derived(self.root, "snapshots")

    @cached_property
    def outputs(self) -> bytes:
        return derived(self.root, "run outputs")

    @cached_property
    def participants(self) -> bytes:
        return derived(self.root, "participant outputs")


class Keys:
    """Purpose-bound keys from one master key of 32 bytes. Of a data set that has none of its own, they seal
    what belongs to it as well. Behind it may stand what wraps the keys of data sets since that was changed:
    the newest, and while it is being changed the one before."""

    def __init__(self, master: bytes) -> None:
        if len(master) not in (KEY_BYTES, 2 * KEY_BYTES, 3 * KEY_BYTES):
            raise NotReady(f"the master key must have {KEY_BYTES} bytes, it has {len(master)}")
        self._master = master[:KEY_BYTES]
        self._drawn = tuple(
            master[start : start + KEY_BYTES] for start in range(KEY_BYTES, len(master), KEY_BYTES)
        )

    def __repr__(self) -> str:
        return "Keys(...)"

    @property
    def snapshots(self) -> bytes:
        """Seals original data at rest, of data sets that were imported before each had a key."""
        return self._derive("snapshots")

    @property
    def addresses(self) -> bytes:
        """Names original data by keyed digest: a plain hash of a small data set would disclose it."""
        return self._derive("addresses")

    @property
    def outputs(self) -> bytes:
        """Seals un-noised run outputs, of the same."""
        return self._derive("run outputs")

    @property
    def participants(self) -> bytes:
        """Seals and names what participant levels wrote, of the same."""
        return self._derive("participant outputs")

    @property
    def wrapping(self) -> tuple[bytes, ...]:
        """What the key of a data set may be wrapped under; new ones are under the first."""
        return (*self._drawn, self._derive("data keys"))

    @property
    def people(self) -> bytes:
        """Fingerprints people, to know a cohort again."""
        return self._derive("people")

    @property
    def pseudonyms(self) -> bytes:
        """Master of the keys that give people of a data set other names."""
        return self._derive("pseudonyms")

    @property
    def partition(self) -> bytes:
        """Master of the per-job partition keys."""
        return self._derive("partition")

    @property
    def choices(self) -> bytes:
        """Master of the keys that choose which rows of a person count."""
        return self._derive("choices")

    @property
    def worlds(self) -> bytes:
        """Master of the keys that draw a cohort's half-samples."""
        return self._derive("pac worlds")

    @property
    def states(self) -> bytes:
        """Seals a cohort's secret half-sample."""
        return self._derive("pac states")

    @property
    def ledger(self) -> bytes:
        """Vouches for each entry of the zone's own ledger."""
        return self._derive("zone ledger")

    @property
    def backups(self) -> bytes:
        """Vouches for what a backup holds."""
        return self._derive("backups")

    @property
    def marks(self) -> bytes:
        """Names events of the audit trail elsewhere: their own hashes would confirm a guess."""
        return self._derive("marks of the trail")

    @property
    def drawn(self) -> bytes:
        """Seals a release that was drawn, until the platform has it."""
        return self._derive("drawn releases")

    @property
    def signing(self) -> Ed25519PrivateKey:
        """Signs certificates."""
        return Ed25519PrivateKey.from_private_bytes(self._derive("certificates"))

    def _derive(self, purpose: str) -> bytes:
        return derived(self._master, purpose)


def create_keys(path: Path) -> None:
    """A fresh master key, unless there is one. Never overwrites: a lost key is lost data."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_once(path, secrets.token_bytes(KEY_BYTES))


def new_message_key() -> str:
    """Under which messages carry a code, as a setting."""
    return secrets.token_bytes(KEY_BYTES).hex()


def begin_rotation(path: Path) -> None:
    """Another key to wrap keys of data sets under; what was wrapped before still opens."""
    content = _read(path)
    known = Keys(content)._drawn
    if len(known) < 2:  # else one that died has begun
        fresh = secrets.token_bytes(KEY_BYTES)
        _replace(path, content[:KEY_BYTES] + fresh + b"".join(known))


def end_rotation(path: Path) -> None:
    """The key before is forgotten: call it when nothing is wrapped under it any more."""
    _replace(path, _read(path)[: 2 * KEY_BYTES])
    for unfinished in path.parent.glob(f"{_UNFINISHED}*"):  # of one that was killed
        unfinished.unlink()


def _read(path: Path) -> bytes:
    load_keys(path)
    return path.read_bytes()


def write_once(path: Path, content: bytes) -> bool:
    """A key in a file that only its owner can read, whole or not at all, also on a full disk. False where
    there is a file already: it stays."""
    unfinished = _beside(path, content)
    try:
        os.link(unfinished, path)
    except FileExistsError:
        return False
    finally:
        os.unlink(unfinished)
    _keep(path.parent)
    return True


def _replace(path: Path, content: bytes) -> None:
    """Whole or not at all."""
    os.replace(_beside(path, content), path)
    _keep(path.parent)


def _beside(path: Path, content: bytes) -> str:
    """On the disk, under another name, for its owner alone; nothing of it is left where that fails."""
    descriptor, unfinished = tempfile.mkstemp(prefix=_UNFINISHED, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(unfinished)
        raise
    return unfinished


def _keep(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def load_keys(path: Path) -> Keys:
    """Raises NotReady when the file is missing or others can read it."""
    try:
        mode = path.stat().st_mode
        master = path.read_bytes()
    except FileNotFoundError:
        raise NotReady(
            f"there is no master key at {path}: put its copy back, or begin a new zone with "
            "`dpgate zone begin --zone-folder FOLDER --database-url URL`; `dpgate up` does so by itself"
        ) from None
    if stat.S_IMODE(mode) & 0o077:
        raise NotReady(f"the master key at {path} can be read by others; run: chmod 600 {path}")
    if not master:
        raise NotReady(f"the master key must have {KEY_BYTES} bytes, and {path} is empty: put its copy back")
    return Keys(master)

"""What a backup holds, and who vouches for it: a code under a key of the worker zone."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from domain.errors import InvalidRequest
from domain.model import canonical
from store.keys import Keys

NAME = "manifest.json"
VERSION = 1
_PIECE = 1 << 20


@dataclass(frozen=True)
class Manifest:
    """`head` is the newest event of the audit trail, `ledger` the newest entry of the zone's own ledger and
    its code; `files` are digests by path in the backup."""

    made_at: str
    database: str
    head: tuple[int, str]
    ledger: tuple[int, str]
    files: dict[str, str]
    version: int = VERSION

    def write(self, folder: Path, keys: Keys) -> None:
        """Last of all: a backup without it is none."""
        content = asdict(self)
        (folder / NAME).write_bytes(canonical({"content": content, "code": _code(content, keys)}))

    @classmethod
    def read(cls, folder: Path, keys: Keys) -> Manifest:
        """Checked against its code and against every file. Raises InvalidRequest."""
        try:
            found = json.loads((folder / NAME).read_bytes())
            content, code = dict(found["content"]), str(found["code"])
        except (OSError, ValueError, KeyError, TypeError):
            raise _refused("it holds no manifest that can be read") from None
        if not hmac.compare_digest(_code(content, keys), code):
            raise _refused("its manifest was changed, or is of a zone with another key")
        if content["version"] != VERSION:
            raise _refused("it was made by another version of this program")
        content |= {"head": tuple(content["head"]), "ledger": tuple(content["ledger"])}
        manifest = cls(**content)
        manifest._check_files(folder)
        return manifest

    def _check_files(self, folder: Path) -> None:
        for path, known in self.files.items():
            place = folder / path
            if place.is_symlink() or not place.is_file() or digest(place) != known:
                raise _refused(f"{path} is missing, or not as it was copied")


def digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest()


def _code(content: object, keys: Keys) -> str:
    return hmac.new(keys.backups, canonical(content), hashlib.sha256).hexdigest()


def _refused(why: str) -> InvalidRequest:
    return InvalidRequest("backup", f"{why}.", "Take another backup; nothing was restored.")

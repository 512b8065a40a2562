"""Other names for people: the same one for the same person, in tables and paths, by a key that stays behind.

HMAC-SHA256 under the key: without it nobody can try names until one fits. With a key of one's own, a later
folder gives people the same names again; without one, the key is drawn and forgotten.
"""

from __future__ import annotations

import hmac
import re
from pathlib import Path

import numpy as np

from companions.siesta.new_folder import write_secret
from domain.people_in_paths import MISSING, label_of
from dpgate.errors import DpgateError
from privacy.keystream import process_keystream

KEY_BYTES = 32
_MENTION = re.compile(r"(sub-)([A-Za-z0-9+]+)", re.IGNORECASE)


class Pseudonyms:
    """Names given so far. Two people never share one."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._given: dict[str, str] = {}
        self._people: dict[str, str] = {}
        self._records = 0

    @property
    def people(self) -> int:
        return len(self._given) - self._records

    def of_label(self, label: str) -> str:
        """`p` and twelve hexadecimal digits. Raises DpgateError if somebody else has that name already."""
        if label not in self._given:
            name = "p" + hmac.digest(self._key, label.encode(), "sha256").hex()[:12]
            if self._people.setdefault(name, label) != label:
                raise DpgateError("two people would share a pseudonym; take another key")
            self._given[label] = name
        return self._given[label]

    def of_id(self, cell: str) -> str:
        """Of a cell that says who somebody is: `sub-01` and `01` are the same person."""
        if cell.strip() in MISSING:
            return cell
        label = label_of(cell.strip())
        return ("sub-" if cell.strip().startswith("sub-") else "") + self.of_label(label)

    def of_record(self, cell: str) -> str:
        """Of a cell that numbers a record: the name that a person of this number would have, so that tables
        still meet; it counts as nobody."""
        counted = len(self._given)
        name = self.of_id(cell)
        self._records += len(self._given) - counted
        return name

    def in_text(self, text: str) -> str:
        """Each `sub-XX` in a path or a cell."""
        return _MENTION.sub(lambda match: "sub-" + self.of_label(match.group(2)), text)


def fresh_key() -> bytes:
    return process_keystream().words(KEY_BYTES, np.uint8).tobytes()


def key_of(path: Path) -> bytes:
    """The key in a file; made, for its owner alone to read, if the file is not there.

    Raises DpgateError for a file that holds no key.
    """
    if not path.exists():
        write_secret(path, fresh_key().hex() + "\n")
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise DpgateError(
            f"{path} holds no key: {2 * KEY_BYTES} hexadecimal digits; name a file that is absent"
        )
    return key

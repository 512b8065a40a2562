"""The outer tar of an image archive: which file lies where in it."""

import hashlib
import json
import posixpath
import re
from typing import Any

from .caps import Caps
from .refusal import Refused, shown
from .streams import Stretch, read_exactly
from .tar import Kind, Tar

_MOST_FILES = 100_000
_MOST_LINKS = 8
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Archive:
    """Files by name. docker save stores a layer that occurs twice as a symbolic link to the first."""

    def __init__(self, fd: int, size: int, caps: Caps) -> None:
        self._fd, self.caps = fd, caps
        self._files: dict[bytes, tuple[int, int]] = {}
        self._links: dict[bytes, bytes] = {}
        self._twice: set[bytes] = set()
        tar = Tar(Stretch(fd, 0, size), caps)
        for count, member in enumerate(tar):
            if count >= _MOST_FILES:
                raise Refused(f"the archive holds more than {_MOST_FILES} files")
            name = posixpath.normpath(member.name)
            if name in self._files or name in self._links:
                self._twice.add(name)
            if member.kind is Kind.FILE:
                self._files[name] = (tar.position(), member.size)
            elif member.kind in (Kind.LINK, Kind.HARD_LINK):
                base = posixpath.dirname(name) if member.kind is Kind.LINK else b""
                self._links[name] = posixpath.normpath(posixpath.join(base, member.target))

    def __contains__(self, name: str) -> bool:
        return name.encode() in self._files

    def open(self, name: str) -> Stretch:
        return Stretch(self._fd, *self._place(name))

    def size(self, name: str) -> int:
        return self._place(name)[1]

    def read(self, name: str) -> bytes:
        """A short text."""
        offset, size = self._place(name)
        if size > self.caps.text_bytes:
            raise Refused(f"{shown(name.encode())} has {size} bytes, more than {self.caps.text_bytes}")
        return read_exactly(Stretch(self._fd, offset, size), size)

    def _place(self, name: str) -> tuple[int, int]:
        wanted = name.encode(errors="surrogateescape")
        for _ in range(_MOST_LINKS):
            if wanted in self._twice:
                raise Refused(f"the archive holds {shown(wanted)} twice")
            if wanted not in self._links:
                break
            wanted = self._links[wanted]
        if wanted not in self._files:
            raise Refused(f"the archive lacks {shown(wanted)}")
        return self._files[wanted]


def check_digest_text(text: object) -> str:
    if not isinstance(text, str) or not _DIGEST.fullmatch(text):
        raise Refused(f"{shown(str(text).encode(errors='replace'))} is no SHA-256 digest")
    return text


def digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def check_content(content: bytes, digest: str, what: str) -> None:
    found = digest_of(content)
    if found != digest:
        raise Refused(f"the {what} was changed: its digest is {found}, not {digest}")


def parse(text: bytes, what: str) -> Any:
    """JSON in which no key occurs twice: readers differ on which one counts."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the {what} is not readable: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("the archive describes itself with a key that occurs twice")
    return found


def expect(value: Any, kind: type, what: str) -> Any:
    """The value, if it is of this JSON type."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Refused(f"the {what} is missing or not as its format demands")
    return value

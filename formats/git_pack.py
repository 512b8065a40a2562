"""What a git server sends for one commit, read without trust: objects by their hash, then the commit's files.

Every object is named by the hash of what it holds, so whatever comes out is what the commit's own hash stands
for. Sizes are bounded before anything is inflated or put together from deltas.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

MAX_PACK_BYTES = 8 * 2**20
MAX_INFLATED = 32 * 2**20
MAX_OBJECTS = 5000
MAX_DEPTH = 20
_KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_OFFSET_DELTA, _NAMED_DELTA = 6, 7
_HEAD = re.compile(rb"tree ([0-9a-f]{40})\n")
_CHUNK = 64 * 1024


class PackRefused(ValueError):
    """The pack is broken, too large, or not of this commit. The text says which."""


@dataclass(frozen=True)
class GitObject:
    kind: bytes
    content: bytes

    @property
    def name(self) -> str:
        head = b"%s %d\0" % (self.kind, len(self.content))
        return hashlib.sha1(head + self.content, usedforsecurity=False).hexdigest()


def files_of(pack: bytes, commit: str, *, folder: str = "") -> list[tuple[str, bytes]]:
    """Path and content of every plain file of a commit, or of one folder in it. Raises PackRefused."""
    objects = read_pack(pack)
    head = _get(objects, commit, b"commit")
    found = _HEAD.match(head)
    if found is None:
        raise PackRefused("the commit names no tree")
    tree = found[1].decode()
    for part in filter(None, folder.split("/")):
        tree = _inner(objects, tree, part)
    return list(_walk(objects, tree, "", depth=0))


def read_pack(pack: bytes) -> Mapping[str, GitObject]:
    """All objects of a pack by name. Raises PackRefused."""
    if pack[:4] != b"PACK" or int.from_bytes(pack[4:8], "big") not in (2, 3) or len(pack) < 32:
        raise PackRefused("the server sent no pack")
    if len(pack) > MAX_PACK_BYTES:
        raise PackRefused(f"the commit has more than {MAX_PACK_BYTES >> 20} MiB")
    count = int.from_bytes(pack[8:12], "big")
    if count > MAX_OBJECTS:
        raise PackRefused(f"the commit has more than {MAX_OBJECTS} files and folders")
    reading = _Reading(pack)
    at = 12
    for _ in range(count):
        at = reading.take(at)
    return {found.name: found for found in reading.by_offset.values()}


@dataclass
class _Reading:
    """A pack while it is read. Deltas may name only what came before them."""

    pack: bytes
    by_offset: dict[int, GitObject] = field(default_factory=dict)
    by_name: dict[str, GitObject] = field(default_factory=dict)
    left: int = MAX_INFLATED

    def take(self, start: int) -> int:
        """Read the object that begins here; where the next one does."""
        kind, size, at = self._header(start)
        base: GitObject | None = None
        if kind == _OFFSET_DELTA:
            back, at = self._distance(at)
            base = self.by_offset.get(start - back)
        elif kind == _NAMED_DELTA:
            base = self.by_name.get(self.pack[at : at + 20].hex())
            at += 20
        elif kind not in _KINDS:
            raise PackRefused("the pack holds an object of no known kind")
        content, at = self._inflate(at, size)
        if kind in _KINDS:
            found = GitObject(_KINDS[kind], content)
        elif base is None:
            raise PackRefused("the pack builds on objects that it does not hold")
        else:
            found = GitObject(base.kind, self._patched(base.content, content))
        self.by_offset[start] = found
        self.by_name[found.name] = found
        return at

    def _header(self, at: int) -> tuple[int, int, int]:
        byte = self._byte(at)
        kind, size, shift = (byte >> 4) & 7, byte & 15, 4
        while byte & 0x80:
            at += 1
            byte = self._byte(at)
            size |= (byte & 0x7F) << shift
            shift += 7
            self._check_shift(shift)
        return kind, size, at + 1

    def _distance(self, at: int) -> tuple[int, int]:
        byte = self._byte(at)
        back = byte & 0x7F
        while byte & 0x80:
            at += 1
            byte = self._byte(at)
            back = ((back + 1) << 7) | (byte & 0x7F)
            self._check_shift(back.bit_length())
        return back, at + 1

    def _inflate(self, at: int, size: int) -> tuple[bytes, int]:
        self._spend(size)
        engine, content = zlib.decompressobj(), bytearray()
        while not engine.eof:
            piece = engine.unconsumed_tail
            if not piece:
                piece = self.pack[at : at + _CHUNK]
                at += len(piece)
            if not piece:
                raise PackRefused("the pack ends early")
            try:
                content += engine.decompress(piece, size + 1 - len(content))
            except zlib.error:
                raise PackRefused("the pack is damaged") from None
            if len(content) > size:
                raise PackRefused("an object is larger than the pack says")
        if len(content) != size:
            raise PackRefused("an object is smaller than the pack says")
        return bytes(content), at - len(engine.unused_data)

    def _patched(self, base: bytes, delta: bytes) -> bytes:
        """The target of a delta: copies from the base, and insertions."""
        base_size, at = _varint(delta, 0)
        size, at = _varint(delta, at)
        self._spend(size)
        if base_size != len(base):
            raise PackRefused("a delta is of another base")
        target = bytearray()
        while at < len(delta):
            order = delta[at]
            at += 1
            if order & 0x80:
                offset, at = _selected(delta, at, order & 0x0F, 4)
                length, at = _selected(delta, at, (order >> 4) & 0x07, 3)
                target += base[offset : offset + (length or 0x10000)]
            elif order:
                target += delta[at : at + order]
                at += order
            else:
                raise PackRefused("a delta has an unknown order")
            if len(target) > size:
                raise PackRefused("a delta gives more than it says")
        if len(target) != size:
            raise PackRefused("a delta gives less than it says")
        return bytes(target)

    def _spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise PackRefused(f"the commit has more than {MAX_INFLATED >> 20} MiB of files")

    def _byte(self, at: int) -> int:
        if at >= len(self.pack):
            raise PackRefused("the pack ends early")
        return self.pack[at]

    def _check_shift(self, shift: int) -> None:
        if shift > 60:
            raise PackRefused("the pack holds a number that is too large")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        if at >= len(data) or shift > 60:
            raise PackRefused("a delta ends early")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def _selected(data: bytes, at: int, mask: int, width: int) -> tuple[int, int]:
    """A number of which only some bytes are written, as the mask says."""
    value = 0
    for position in range(width):
        if mask >> position & 1:
            if at >= len(data):
                raise PackRefused("a delta ends early")
            value |= data[at] << (8 * position)
            at += 1
    return value, at


def _get(objects: Mapping[str, GitObject], name: str, kind: bytes) -> bytes:
    found = objects.get(name)
    if found is None or found.kind != kind:
        raise PackRefused("the server did not send all of the commit")
    return found.content


def _entries(tree: bytes) -> Iterator[tuple[bytes, str, str]]:
    """Mode, name and hash of each entry of a tree."""
    at = 0
    while at < len(tree):
        space, end = tree.find(b" ", at), tree.find(b"\0", at)
        if not at < space < end or end + 20 >= len(tree) + 1:
            raise PackRefused("a folder of the commit is damaged")
        name = tree[space + 1 : end].decode("utf-8", "replace")
        yield tree[at:space], name, tree[end + 1 : end + 21].hex()
        at = end + 21


def _inner(objects: Mapping[str, GitObject], tree: str, name: str) -> str:
    for mode, called, inner in _entries(_get(objects, tree, b"tree")):
        if called == name and mode in (b"40000", b"040000"):
            return inner
    raise PackRefused("there is no such folder in the commit")


def _walk(
    objects: Mapping[str, GitObject], tree: str, within: str, *, depth: int
) -> Iterator[tuple[str, bytes]]:
    if depth > MAX_DEPTH:
        raise PackRefused("folders of the commit are nested too deeply")
    for mode, name, inner in _entries(_get(objects, tree, b"tree")):
        if name.startswith("."):
            continue  # left out, as everywhere
        if mode in (b"40000", b"040000"):
            yield from _walk(objects, inner, f"{within}{name}/", depth=depth + 1)
        elif mode.startswith(b"100"):
            yield within + name, _get(objects, inner, b"blob")
        else:
            raise PackRefused(f"{(within + name)[:100]!r} is a link or another repository, no plain file")

"""Tar, read strictly: ustar, GNU long names and PAX, as the tools that write images use them.

Where readers are known to disagree with each other (two extended headers for one entry, a size that an
extended header gives to another header, negative numbers, sparse files) the archive is refused: an image
must not be one thing to us and another to whoever reviewed it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from .caps import Caps
from .refusal import Refused, shown
from .streams import PIECE, Source, Stretch, discard, read_exactly

BLOCK = 512
_ZEROS = bytes(BLOCK)
_LATEST_TIME = 2**33  # seconds: year 2242; what file systems take differs beyond


class Kind(Enum):
    FILE = "file"
    HARD_LINK = "hard link"
    LINK = "symbolic link"
    FOLDER = "folder"
    SPECIAL = "device or fifo"


_KINDS = {
    b"0": Kind.FILE,
    b"\0": Kind.FILE,
    b"7": Kind.FILE,  # "contiguous", which nobody does
    b"1": Kind.HARD_LINK,
    b"2": Kind.LINK,
    b"3": Kind.SPECIAL,
    b"4": Kind.SPECIAL,
    b"5": Kind.FOLDER,
    b"6": Kind.SPECIAL,
}
_PAX, _PAX_GLOBAL, _LONG_NAME, _LONG_TARGET = b"x", b"g", b"L", b"K"
_PAX_RECORD = re.compile(rb"(\d{1,9}) ([^=\0\n]+)=")


@dataclass(frozen=True)
class Member:
    """One entry. Its content, if it is a file, has not been read yet."""

    name: bytes  # as written: may be absolute or contain ..
    kind: Kind
    size: int  # of the content
    mode: int
    mtime: int  # seconds since 1970, never negative
    target: bytes  # of a link


@dataclass(frozen=True)
class _Extension:
    """What headers before an entry say about it."""

    name: bytes | None = None
    target: bytes | None = None
    size: int | None = None
    source: bytes = b""  # the types of the headers that said so


class Tar:
    """Iterate over it for the members; `content` is that of the last one, and need not be read."""

    def __init__(self, source: Source, caps: Caps) -> None:
        self._source, self._caps = source, caps
        self._unread = self._padding = 0

    def __iter__(self) -> Iterator[Member]:
        extension = _Extension()
        while (header := self._next_header()) is not None:
            kind, member = header
            if kind in (_PAX, _PAX_GLOBAL, _LONG_NAME, _LONG_TARGET):
                extension = self._extended(kind, member, extension)
                continue
            member = self._completed(kind, member, extension)
            extension = _Extension()
            self._expect(member.size)
            yield member
            self._skip_rest()
        if extension.source:
            raise Refused("a tar ends after a header that announces another entry")

    def content(self) -> Iterator[bytes]:
        while self._unread:
            piece = self._source.read(min(self._unread, PIECE))
            if not piece:
                raise Refused("the archive is cut short")
            self._unread -= len(piece)
            yield piece

    def position(self) -> int:
        """Where the content of the last member begins, for a source that knows."""
        if not isinstance(self._source, Stretch):
            raise TypeError("only a stretch of a file has positions")
        return self._source.position

    def _expect(self, size: int) -> None:
        self._unread, self._padding = size, -size % BLOCK

    def _skip_rest(self) -> None:
        discard(self._source, self._unread + self._padding)
        self._unread = self._padding = 0

    def _next_header(self) -> tuple[bytes, Member] | None:
        first = self._source.read(BLOCK)
        if not first:  # some tools leave the final zeros out
            return None
        block = first + read_exactly(self._source, BLOCK - len(first))
        if block != _ZEROS:
            return _parse_header(block)
        while piece := self._source.read(PIECE):
            if piece.count(0) != len(piece):
                raise Refused("a tar goes on after its end")
        return None

    def _extended(self, kind: bytes, header: Member, so_far: _Extension) -> _Extension:
        if header.size > self._caps.text_bytes:
            raise Refused(f"a tar has an extended header of {header.size} bytes")
        self._expect(header.size)
        text = b"".join(self.content())
        self._skip_rest()
        if kind == _PAX_GLOBAL:
            _check_global(_pax_records(text))
            return so_far
        if kind in so_far.source or (_PAX in so_far.source) or (kind == _PAX and so_far.source):
            raise Refused("a tar has several extended headers for one entry")
        source = so_far.source + kind
        if kind == _PAX:
            return _from_pax(_pax_records(text), source)
        value = text.rstrip(b"\0")
        if b"\0" in value:
            raise Refused(f"a tar has a name with NUL in it: {shown(value)}")
        if kind == _LONG_NAME:
            return replace(so_far, name=value, source=source)
        return replace(so_far, target=value, source=source)

    def _completed(self, kind: bytes, header: Member, extension: _Extension) -> Member:
        if kind not in _KINDS:
            what = "a sparse file" if kind == b"S" else f"an entry of the unknown type {shown(kind)}"
            raise Refused(f"a tar holds {what}: {shown(header.name)}")
        name = header.name if extension.name is None else extension.name
        target = header.target if extension.target is None else extension.target
        size = header.size if extension.size is None else extension.size
        is_folder = _KINDS[kind] is Kind.FOLDER or (_KINDS[kind] is Kind.FILE and name.endswith(b"/"))
        if not name or max(len(name), len(target)) > self._caps.path_bytes:
            raise Refused(f"a tar holds an entry with no name or one that is too long: {shown(name)}")
        if is_folder or _KINDS[kind] is not Kind.FILE:
            if size and _KINDS[kind] is Kind.FILE:
                raise Refused(f"a tar holds a folder with content: {shown(name)}")
            # Tools write the size of what a hard link points to, or none; no content follows either way.
            size = 0
        if size > self._caps.file_bytes:
            raise Refused(f"{shown(name)} has {size} bytes, more than {self._caps.file_bytes}")
        found = Kind.FOLDER if is_folder else _KINDS[kind]
        return replace(header, name=name, target=target, size=size, kind=found)


def _parse_header(block: bytes) -> tuple[bytes, Member]:
    unsigned = sum(block[:148]) + sum(b" " * 8) + sum(block[156:])
    signed = unsigned - 256 * sum(byte > 127 for byte in block[:148] + block[156:])
    if _number(block[148:156], "checksum") not in (unsigned, signed):
        raise Refused("a tar has a header whose checksum is wrong: it is damaged, or no tar")
    name = _text(block[0:100])
    prefix = _text(block[345:500]) if block[257:263] == b"ustar\0" else b""
    member = Member(
        name=prefix + b"/" + name if prefix else name,
        kind=Kind.FILE,
        size=_number(block[124:136], "size"),
        mode=_number(block[100:108], "mode") & 0o777,
        mtime=min(max(_number(block[136:148], "time", least=-(2**40)), 0), _LATEST_TIME),
        target=_text(block[157:257]),
    )
    return block[156:157], member


def _text(field: bytes) -> bytes:
    return field.split(b"\0", 1)[0]


def _number(field: bytes, what: str, *, least: int = 0) -> int:
    if field[0] & 0x80:  # GNU: the rest is a big-endian number in two's complement
        value = int.from_bytes(field, "big", signed=True)
        value = value + (1 << (8 * len(field) - 1)) if field[0] == 0x80 else value
    else:
        digits = field.strip(b" \0")
        if not re.fullmatch(rb"[0-7]*", digits):
            raise Refused(f"a tar has a header whose {what} is no number")
        value = int(digits or b"0", 8)
    if value < least:
        raise Refused(f"a tar has a header with a negative {what}")
    return value


def _pax_records(text: bytes) -> dict[bytes, bytes]:
    records: dict[bytes, bytes] = {}
    at = 0
    while at < len(text):
        found = _PAX_RECORD.match(text, at)
        end = at + int(found[1]) if found else 0
        if not found or end <= found.end() or end > len(text) or text[end - 1 : end] != b"\n":
            raise Refused("a tar has an extended header that is not made of records")
        if found[2] in records:
            raise Refused(f"a tar has an extended header that says {shown(found[2])} twice")
        records[found[2]] = text[found.end() : end - 1]
        at = end
    return records


def _check_global(records: dict[bytes, bytes]) -> None:
    for key in records:
        if key in (b"path", b"linkpath", b"size") or key.startswith(b"GNU.sparse."):
            raise Refused(f"a tar sets {shown(key)} for all its entries at once")


def _from_pax(records: dict[bytes, bytes], source: bytes) -> _Extension:
    """Extended attributes and everything else that is not a name or a size is left out."""
    size = records.get(b"size")
    for key in (b"path", b"linkpath"):
        if b"\0" in records.get(key, b""):
            raise Refused(f"a tar has a name with NUL in it: {shown(records[key])}")
    if any(key.startswith(b"GNU.sparse.") for key in records):
        raise Refused("a tar holds a sparse file")
    if size is not None and not re.fullmatch(rb"\d{1,19}", size):
        raise Refused(f"a tar has an extended header with the size {shown(size)}")
    return _Extension(
        name=records.get(b"path"),
        target=records.get(b"linkpath"),
        size=None if size is None else int(size),
        source=source,
    )

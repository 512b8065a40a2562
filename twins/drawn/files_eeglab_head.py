"""The head of an EEGLAB .set: channels, rate and length. Hostile: every length is checked before it is used.

From element to element over the MAT-file, unpacked as it is read where it is packed. Samples are passed over.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Literal

from formats import matlab5_numbers as mat
from twins.drawn.files_headers import MOST_CHANNELS, RecordingHead, electrodes

MOST_BYTES = 512 * 2**20
"""That are unpacked of a file."""

_KEPT = ("nbchan", "trials", "pnts", "srate", "chanlocs", "data")
_MOST_KEPT = 8 * 2**20
_MOST_NAMES = 64 * 1000
_PIECE = 2**18
_CODES = {
    mat.INT8: "b", mat.UINT8: "B", mat.INT16: "h", mat.UINT16: "H", mat.INT32: "i", mat.UINT32: "I",
    mat.INT64: "q", mat.UINT64: "Q", mat.SINGLE: "f", mat.DOUBLE: "d",
}  # fmt: skip
_DAMAGED = "it is damaged, or no struct of EEGLAB"


class _Source:
    """Bytes one after the other, plain or unpacked."""

    def __init__(self, file: BinaryIO, *, packed: int | None = None) -> None:
        self._file, self._packed, self._room = file, packed, MOST_BYTES
        self._unpacking, self._held = zlib.decompressobj(), b""

    def take(self, count: int) -> bytes:
        found = bytearray()
        while len(found) < count:
            piece = self._some(count - len(found))
            if not piece:
                raise ValueError(_DAMAGED)
            found += piece
        return bytes(found)

    def skip(self, count: int) -> None:
        if count < 0:
            raise ValueError(_DAMAGED)
        if self._packed is None:
            self._file.seek(count, 1)
            return
        while count:
            piece = self._some(min(count, _PIECE))
            if not piece:
                raise ValueError(_DAMAGED)
            count -= len(piece)

    def _some(self, most: int) -> bytes:
        """Up to so many bytes; none at the end."""
        if self._packed is None:
            return self._file.read(min(most, _PIECE))
        while not self._held and not self._unpacking.eof:
            piece = self._unpacking.unconsumed_tail
            if not piece:
                piece = self._file.read(min(_PIECE, self._packed))
                self._packed -= len(piece)
            try:
                self._held = self._unpacking.decompress(piece, _PIECE)
            except zlib.error:
                raise ValueError(_DAMAGED) from None
            if not piece and not self._held:
                return b""
        found, self._held = self._held[:most], self._held[most:]
        self._room -= len(found)
        if self._room < 0:
            raise ValueError(f"it unpacks to more than {MOST_BYTES >> 20} MiB: keep its samples in a .fdt")
        return found


@dataclass
class _Parts:
    """What was found: an array of each name, without its tag."""

    order: Literal["<", ">"]
    of: dict[str, bytes] = field(default_factory=dict)


def read_set(file: BinaryIO) -> RecordingHead:
    """Raises ValueError, without a word of the file, for what is no continuous recording of EEGLAB."""
    head = file.read(128)
    if head[:10] == b"MATLAB 7.3" or head[:8] == b"\x89HDF\r\n\x1a\n":
        raise ValueError("it is a MAT-file of version 7.3: save it with -v7")
    if len(head) < 128 or head[126:] not in (b"IM", b"MI"):
        raise ValueError("it is no MAT-file")
    parts = _Parts("<" if head[126:] == b"IM" else ">")
    size = file.seek(0, 2)
    at = 128
    while at + 8 <= size and len(parts.of) < len(_KEPT):
        file.seek(at)
        kind, length = struct.unpack(f"{parts.order}2I", file.read(8))
        if length > size - at - 8:
            raise ValueError(_DAMAGED)
        _variable(_Source(file, packed=length if kind == mat.COMPRESSED else None), kind, length, parts)
        at += 8 + length
    return _head(parts)


def _variable(source: _Source, kind: int, length: int, parts: _Parts) -> None:
    """A variable: EEG itself or, in newer files, one of its fields."""
    if kind == mat.COMPRESSED:
        kind, length = struct.unpack(f"{parts.order}2I", source.take(8))
    if kind != mat.MATRIX:
        return
    flags, (_, dims), (name, named) = source.take(16), _element(source, parts), _element(source, parts)
    if name == b"EEG" and _class(flags, parts) == mat.STRUCT:
        _fields(source, parts)
    elif (said := name.decode("latin-1")) in _KEPT:
        before = flags + dims + named
        _keep(said, before, source, length - len(before), parts)


def _fields(source: _Source, parts: _Parts) -> None:
    width, (packed, _) = _width(_element(source, parts)[0], parts), _element(source, parts)
    for start in range(0, len(packed), width):
        name = packed[start : start + width].split(b"\0", 1)[0].decode("latin-1")
        kind, length = struct.unpack(f"{parts.order}2I", source.take(8))
        if kind != mat.MATRIX:
            raise ValueError(_DAMAGED)
        if name in _KEPT:
            _keep(name, b"", source, length, parts)
        else:
            source.skip(length)
        if len(parts.of) == len(_KEPT):
            return


def _keep(name: str, before: bytes, source: _Source, length: int, parts: _Parts) -> None:
    """An array, whole, of which `before` was taken; of the samples only what they are."""
    if name == "data":
        flags = before or source.take(16)
        source.skip(length if before else length - len(flags))
        parts.of[name] = flags
        return
    if not 0 <= length <= _MOST_KEPT:
        raise ValueError(_DAMAGED)
    parts.of[name] = before + source.take(length)


def _class(flags: bytes, parts: _Parts) -> int:
    return flags[8 if parts.order == "<" else 11]


def _width(content: bytes, parts: _Parts) -> int:
    """Of the names of fields."""
    if len(content) == 4:
        (width,) = struct.unpack(f"{parts.order}i", content)
        if 0 < width <= 64:
            return int(width)
    raise ValueError(_DAMAGED)


def _head(parts: _Parts) -> RecordingHead:
    if lacking := [name for name in _KEPT if name not in parts.of]:
        raise ValueError(f"it has no {lacking[0]}: it is no file of EEGLAB")
    count, trials, points = (round(_number(parts, name)) for name in ("nbchan", "trials", "pnts"))
    rate = _number(parts, "srate")
    if trials > 1:
        raise ValueError("it is cut into epochs, which no twin is: declare a continuous recording")
    names = list(_labels(parts))
    if not 1 <= count <= MOST_CHANNELS or len(names) != count or not 0 < rate <= 1e6 or points < 1:
        raise ValueError("its numbers of channels, or its rate or length, make no sense")
    is_beside = _class(parts.of["data"], parts) == mat.CHAR
    return RecordingHead(electrodes(names, ["uV"] * count), rate, points / rate, 4, is_beside)


def _number(parts: _Parts, name: str) -> float:
    found = list(_split(parts.of[name], parts.order))
    kind, content = found[-1] if len(found) == 4 else (0, b"")
    code = _CODES.get(kind)
    if code is None or len(content) != struct.calcsize(f"<{code}"):
        raise ValueError(f"its {name} is no number")
    value = float(struct.unpack(parts.order + code, content)[0])
    if not (math.isfinite(value) and abs(value) < 2**53):
        raise ValueError(f"its {name} is no number")
    return value


def _labels(parts: _Parts) -> Iterator[str]:
    """Of the channels, from an array of structs."""
    found = list(_split(parts.of["chanlocs"], parts.order))
    if len(found) < 5:
        raise ValueError("its channels have no names")
    width, packed = _width(found[3][1], parts), found[4][1]
    fields = [packed[at : at + width].split(b"\0", 1)[0] for at in range(0, len(packed), width)]
    if b"labels" not in fields:
        raise ValueError("its channels have no names")
    for kind, content in found[5 + fields.index(b"labels") :: len(fields)]:
        if kind != mat.MATRIX:
            raise ValueError(_DAMAGED)
        last = list(_split(content, parts.order))[-1:]
        if not last:
            raise ValueError(_DAMAGED)
        yield _decoded(*last[0], parts.order)


def _decoded(form: int, text: bytes, order: str) -> str:
    if form in (mat.UINT16, mat.UTF16):
        return text.decode("utf-16-le" if order == "<" else "utf-16-be", "replace")
    return text.decode("utf-8" if form == mat.UTF8 else "latin-1", "replace")


def _split(content: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Types and contents of the parts of an array."""
    at = 0
    while at + 8 <= len(content):
        kind, length = struct.unpack_from(f"{order}2I", content, at)
        if kind >> 16:  # the short form
            yield kind & 0xFFFF, content[at + 4 : at + 4 + min(kind >> 16, 4)]
            at += 8
            continue
        if length > len(content) - at - 8:
            raise ValueError(_DAMAGED)
        yield kind, content[at + 8 : at + 8 + length]
        at += 8 + length + -length % 8


def _element(source: _Source, parts: _Parts) -> tuple[bytes, bytes]:
    """The content of a small part, and all of its bytes."""
    tag = source.take(8)
    kind, length = struct.unpack(f"{parts.order}2I", tag)
    if kind >> 16:  # the short form
        return tag[4 : 4 + min(kind >> 16, 4)], tag
    if length > _MOST_NAMES:
        raise ValueError(_DAMAGED)
    content = source.take(length + -length % 8)
    return content[:length], tag + content

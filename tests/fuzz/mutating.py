"""Files that are nearly valid: pieces changed, repeated, exchanged, cut; also inside of what is packed."""

from __future__ import annotations

import gzip
import random
import re
import struct
import zlib
from collections.abc import Callable, Sequence

LARGEST = 16 * 1024
_BYTES = (0, 1, 2, 7, 8, 9, 10, 13, 15, 16, 31, 32, 34, 44, 127, 128, 254, 255)
_WIDTHS = ((1, "B"), (2, "H"), (4, "I"), (8, "Q"))
_NUMBERS = (
    *(0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 4095, 4096, 4097, 65_535, 65_536),
    *(2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1),
)
_DIGITS = re.compile(rb"[0-9]+")


def mutated(content: bytes, chance: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """A file near `content`. `words`: what the format is spelled with; `others`: files to take pieces of."""
    for unpack, pack in chance.sample(_PACKINGS, len(_PACKINGS)):
        if chance.random() < 0.6 and (unpacked := unpack(content)) is not None:
            head, inner, tail = unpacked
            return (head + pack(_changed(inner, chance, words, others)) + tail)[:LARGEST]
    return _changed(content, chance, words, others)[:LARGEST]


def _changed(content: bytes, chance: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5, 9))):
        if not changed:
            changed += chance.choice(others) or b"0"
        change = chance.choice(_CHANGES)
        change(changed, chance, words, others)
    return bytes(changed)


def _flip(changed: bytearray, chance: random.Random, *_: Sequence[bytes]) -> None:
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)


def _byte(changed: bytearray, chance: random.Random, *_: Sequence[bytes]) -> None:
    changed[chance.randrange(len(changed))] = chance.choice(_BYTES)


def _number(changed: bytearray, chance: random.Random, *_: Sequence[bytes]) -> None:
    """A length, a count, an offset: one of the values at which such things go wrong, or near its own."""
    width, code = chance.choice(_WIDTHS)
    at = chance.randrange(len(changed))
    at -= at % chance.choice((1, width))
    if at + width > len(changed):
        return
    order = chance.choice("<>")
    own = struct.unpack_from(order + code, changed, at)[0]
    value = chance.choice((chance.choice(_NUMBERS), own + chance.randint(-9, 9), len(changed), own * 2))
    struct.pack_into(order + code, changed, at, value % 2 ** (8 * width))


def _digits(changed: bytearray, chance: random.Random, *_: Sequence[bytes]) -> None:
    """As `_number`, where numbers are text."""
    places = list(_DIGITS.finditer(changed))
    if places:
        place = chance.choice(places)
        longer = place[0] * chance.choice((1, 2, 30))
        changed[place.start() : place.end()] = chance.choice(
            (b"%d" % chance.choice(_NUMBERS), b"-" + place[0], longer, b"1e999", b"nan", b"0.5", b"")
        )


def _remove(changed: bytearray, chance: random.Random, *_: Sequence[bytes]) -> None:
    at = chance.randrange(len(changed))
    del changed[at : at + chance.choice((1, 2, 4, 8, 16, chance.randrange(1, 200)))]


def _cut(changed: bytearray, chance: random.Random, *_: Sequence[bytes]) -> None:
    del changed[chance.randrange(len(changed)) :]


def _repeat(changed: bytearray, chance: random.Random, *_: Sequence[bytes]) -> None:
    start = chance.randrange(len(changed))
    piece = changed[start : start + chance.choice((1, 2, 8, 56, chance.randrange(1, 400)))]
    at = chance.choice((start, chance.randrange(len(changed))))
    changed[at:at] = piece * chance.choice((1, 1, 2, 40))


def _copy(changed: bytearray, chance: random.Random, *_: Sequence[bytes]) -> None:
    """One piece over another: pointers that lead to the wrong place."""
    size = chance.choice((1, 2, 4, 8, 16, 64))
    start, at = chance.randrange(len(changed)), chance.randrange(len(changed))
    changed[at : at + size] = changed[start : start + size]


def _word(changed: bytearray, chance: random.Random, words: Sequence[bytes], *_: Sequence[bytes]) -> None:
    word, at = chance.choice(words), chance.randrange(len(changed))
    changed[at : at + chance.choice((0, len(word)))] = word


def _join(
    changed: bytearray, chance: random.Random, _words: Sequence[bytes], others: Sequence[bytes]
) -> None:
    other = chance.choice(others)
    at = chance.randrange(len(changed))
    changed[at:] = other[chance.choice((at, chance.randrange(len(other) + 1))) :]


def _put(changed: bytearray, chance: random.Random, _words: Sequence[bytes], others: Sequence[bytes]) -> None:
    other = chance.choice(others)
    start, at = chance.randrange(len(other) + 1), chance.randrange(len(changed))
    changed[at:at] = other[start : start + chance.choice((4, 16, 56, 200))]


_CHANGES: tuple[Callable[..., None], ...] = (
    *(_flip, _byte, _number, _number, _number, _digits, _digits),
    *(_remove, _cut, _repeat, _copy, _word, _word, _join, _put),
)


def _gunzip(content: bytes) -> tuple[bytes, bytes, bytes] | None:
    if not content.startswith(b"\x1f\x8b"):
        return None
    try:
        return b"", zlib.decompressobj(wbits=31).decompress(content, LARGEST), b""
    except zlib.error:
        return None


def _inflate_mat(content: bytes) -> tuple[bytes, bytes, bytes] | None:
    """The first packed variable of a MATLAB file of version 5. `pack` writes its length anew."""
    if content[126:128] != b"IM" or content[128:132] != b"\x0f\0\0\0":
        return None
    (size,) = struct.unpack_from("<I", content[132:136].ljust(4, b"\0"))
    try:
        inner = zlib.decompressobj().decompress(content[136 : 136 + size], LARGEST)
    except zlib.error:
        return None
    return content[:128], inner, content[136 + size :]


def _deflate_mat(inner: bytes) -> bytes:
    packed = zlib.compress(inner)
    return struct.pack("<II", 15, len(packed)) + packed


_PACKINGS: tuple[
    tuple[Callable[[bytes], tuple[bytes, bytes, bytes] | None], Callable[[bytes], bytes]], ...
] = (
    (_gunzip, lambda inner: gzip.compress(inner, mtime=0)),
    (_inflate_mat, _deflate_mat),
)

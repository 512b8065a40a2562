"""Small packed files that unpack to much, made in a moment: one packed piece again and again."""

from __future__ import annotations

import struct
import zlib

MIB = 1 << 20


def zlib_bomb(start: bytes, piece: bytes, times: int) -> bytes:
    """`start`, and a piece as often as this, packed by zlib."""
    checksum = zlib.adler32(start)
    for _ in range(times):
        checksum = zlib.adler32(piece, checksum)
    return _packed(start, piece, times, kind=15) + struct.pack(">I", checksum)


def gzip_bomb(start: bytes, piece: bytes, times: int) -> bytes:
    """`start`, and a piece as often as this, packed by gzip."""
    checksum = zlib.crc32(start)
    for _ in range(times):
        checksum = zlib.crc32(piece, checksum)
    size = (len(start) + len(piece) * times) & 0xFFFFFFFF
    return _packed(start, piece, times, kind=31) + struct.pack("<II", checksum, size)


def _packed(start: bytes, piece: bytes, times: int, *, kind: int) -> bytes:
    """All but the checksum. `kind` is zlib's number of what stands before and behind a stream."""
    pack = zlib.compressobj(9, zlib.DEFLATED, kind)
    first = pack.compress(start) + pack.flush(zlib.Z_FULL_FLUSH)
    # after a full flush nothing refers to what came before, so what follows can be repeated
    repeated = pack.compress(piece) + pack.flush(zlib.Z_FULL_FLUSH)
    return first + repeated * times + zlib.compressobj(9, zlib.DEFLATED, -15).flush()

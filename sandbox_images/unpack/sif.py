"""Apptainer's SIF: a header of 128 bytes, descriptors of 585 bytes each, and what they describe.

Only the descriptor of the primary system partition matters, but all that are in use are checked: a file
whose parts overlap or lie outside of it is one thing to us and another to the next reader.
"""

import os
import struct
from dataclasses import dataclass
from enum import IntEnum

from .refusal import Refused

MAGIC_AT, MAGIC = 32, b"SIF_MAGIC\0"
_HEADER = struct.Struct("<32s10s3s3s16sqqqqqqqq")
_DESCRIPTOR = struct.Struct("<iBIIIqqqqqqq128s384s")
_PARTITION_EXTRA = struct.Struct("<ii3s")
_PARTITION = 0x4004
_MOST_DESCRIPTORS = 1024
_SQUASHFS_MAGIC = b"hsqs"
# magic, inodes, time, block size, fragments, compressor, block log, flags, ids, version (two), root, size
_SUPERBLOCK = struct.Struct("<4sIIIIHHHHHHQQ")
_MACHINES = {
    b"01": "386",
    b"02": "x86_64",
    b"03": "armv7l",
    b"04": "aarch64",
    b"06": "ppc64le",
    b"10": "s390x",
}


class FileSystem(IntEnum):
    SQUASHFS = 1
    EXT3 = 2
    ARCHIVE = 3
    RAW = 4
    ENCRYPTED_SQUASHFS = 5


_PRIMARY = 2


@dataclass(frozen=True)
class Partition:
    """The squashfs that holds the root file system."""

    offset: int
    size: int
    inodes: int  # as it says itself


@dataclass(frozen=True)
class _Part:
    datatype: int
    offset: int
    size: int
    extra: bytes


def find_root(fd: int, size: int, machine: str) -> Partition:
    """`machine` in the kernel's words. Raises Refused for whatever is not one plain squashfs."""
    header = _read(fd, 0, _HEADER.size, size, "header")
    _, magic, version, _, _, _, _, _, total, table_at, table_size, _, _ = _HEADER.unpack(header)
    if magic != MAGIC or not version.startswith(b"01"):
        raise Refused("the file is no SIF of version 01")
    if not 0 < total <= _MOST_DESCRIPTORS:
        raise Refused(f"the SIF says that it has {total} descriptors")
    if table_at < _HEADER.size or not 0 < table_size <= size - table_at:
        raise Refused("the SIF's list of descriptors lies outside the file")
    if total * _DESCRIPTOR.size > table_size:
        raise Refused("the SIF's list of descriptors is cut short")
    table = _read(fd, table_at, total * _DESCRIPTOR.size, size, "list of descriptors")
    parts = _used(table)
    _check_places(parts, size, table_end=table_at + len(table))
    return _squashfs(fd, _primary(parts, machine), size)


def _used(table: bytes) -> list[_Part]:
    parts = []
    for datatype, used, _, _, _, offset, length, _, _, _, _, _, _, extra in _DESCRIPTOR.iter_unpack(table):
        if used not in (0, 1):
            raise Refused("the SIF has a descriptor that is neither used nor unused")
        if used:
            parts.append(_Part(datatype, offset, length, extra))
    return parts


def _check_places(parts: list[_Part], size: int, *, table_end: int) -> None:
    end = table_end
    for part in sorted(parts, key=lambda part: part.offset):
        if part.offset < 0 or part.size < 0 or part.offset > size or part.size > size - part.offset:
            raise Refused(f"the SIF has a part at {part.offset} of {part.size} bytes, outside the file")
        if part.offset < end:
            raise Refused(f"the SIF has a part at {part.offset} that overlaps with another")
        end = part.offset + part.size


def _primary(parts: list[_Part], machine: str) -> _Part:
    found = []
    for part in parts:
        if part.datatype != _PARTITION:
            continue
        kind, role, made_for = _PARTITION_EXTRA.unpack_from(part.extra)
        if kind == FileSystem.ENCRYPTED_SQUASHFS:
            raise Refused("the SIF is encrypted: build it without encryption")
        if role == _PRIMARY:
            found.append((part, kind, made_for))
    if len(found) != 1:
        raise Refused(f"the SIF has {len(found)} primary system partitions, where there must be one")
    part, kind, made_for = found[0]
    if kind != FileSystem.SQUASHFS:
        name = FileSystem(kind).name.lower() if kind in list(FileSystem) else "an unknown file system"
        raise Refused(f"the SIF's system partition holds {name}, where there must be squashfs")
    architecture = _MACHINES.get(made_for[:2], "an unknown machine")
    if architecture != machine:
        raise Refused(f"the SIF is made for {architecture}, and this machine is {machine}")
    return part


def _squashfs(fd: int, part: _Part, size: int) -> Partition:
    if part.size < _SUPERBLOCK.size:
        raise Refused("the SIF's system partition is too short for a squashfs")
    fields = _SUPERBLOCK.unpack(_read(fd, part.offset, _SUPERBLOCK.size, size, "squashfs"))
    magic, inodes, used = fields[0], fields[1], fields[12]
    if magic != _SQUASHFS_MAGIC:
        raise Refused("the SIF's system partition holds no squashfs")
    if used > part.size:
        raise Refused(f"the SIF's squashfs has {used} bytes, and its partition {part.size}")
    return Partition(part.offset, part.size, inodes)


def _read(fd: int, offset: int, amount: int, size: int, what: str) -> bytes:
    if amount > size - offset:
        raise Refused(f"the SIF is cut short: its {what} is not all there")
    return os.pread(fd, amount, offset)

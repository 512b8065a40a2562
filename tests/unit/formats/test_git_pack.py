"""Packs of a git server read without trust."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable

import pytest

from formats.git_pack import MAX_INFLATED, MAX_OBJECTS, PackRefused, files_of, read_pack

COMMIT, TREE, BLOB, OFFSET_DELTA, NAMED_DELTA = 1, 2, 3, 6, 7
KIND = {COMMIT: b"commit", TREE: b"tree", BLOB: b"blob"}


def name_of(kind: int, content: bytes) -> bytes:
    return hashlib.sha1(KIND[kind] + b" %d\0" % len(content) + content).digest()


def head(kind: int, size: int) -> bytes:
    byte, size = (kind << 4) | (size & 15), size >> 4
    found = bytearray()
    while size:
        found.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    found.append(byte)
    return bytes(found)


def entry(kind: int, content: bytes, *, before: bytes = b"", says: int | None = None) -> bytes:
    return head(kind, len(content) if says is None else says) + before + zlib.compress(content)


def pack(*entries: bytes, count: int | None = None) -> bytes:
    body = b"PACK" + struct.pack(">II", 2, len(entries) if count is None else count) + b"".join(entries)
    return body + hashlib.sha1(body).digest()


def tree(*files: tuple[bytes, bytes, bytes]) -> bytes:
    return b"".join(mode + b" " + name + b"\0" + digest for mode, name, digest in files)


def commit(files: dict[str, bytes], *, mode: bytes = b"100644") -> tuple[bytes, str]:
    """A pack with one commit of these files, and the commit's name."""
    blobs = [entry(BLOB, content) for content in files.values()]
    listing = tree(*((mode, name.encode(), name_of(BLOB, content)) for name, content in files.items()))
    message = b"tree " + name_of(TREE, listing).hex().encode() + b"\nauthor a\n\nm\n"
    packed = pack(*blobs, entry(TREE, listing), entry(COMMIT, message))
    return packed, name_of(COMMIT, message).hex()


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def test_the_files_of_a_commit():
    packed, name = commit({"dpgate.yaml": b"name: x\n", "main.py": b"print(1)\n", ".env": b"SECRET"})
    assert files_of(packed, name) == [("dpgate.yaml", b"name: x\n"), ("main.py", b"print(1)\n")]


def test_a_delta_is_put_together():
    base = b"hello world, hello world"
    delta = varint(len(base)) + varint(11) + b"\x90\x05" + b"\x06 there"
    first = entry(BLOB, base)
    second = entry(OFFSET_DELTA, delta, before=bytes([len(first)]))
    found = read_pack(pack(first, second))
    assert name_of(BLOB, b"hello there").hex() in found
    by_name = entry(NAMED_DELTA, delta, before=name_of(BLOB, base))
    assert set(read_pack(pack(first, by_name))) == set(found)


def _copy_bomb() -> bytes:
    """A small delta that copies its base thousands of times."""
    base = bytes(0xFFFF)
    orders = b"\xb0\xff\xff" * 5000
    delta = varint(len(base)) + varint(0xFFFF * 5000) + orders
    first = entry(BLOB, base)
    return pack(first, entry(NAMED_DELTA, delta, before=name_of(BLOB, base)))


def _quiet_copy_bomb() -> bytes:
    """The same, and it says that it gives little."""
    base = bytes(0xFFFF)
    delta = varint(len(base)) + varint(10) + b"\xb0\xff\xff" * 5000
    return pack(entry(BLOB, base), entry(NAMED_DELTA, delta, before=name_of(BLOB, base)))


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "no pack": (lambda: b"<html>", "no pack"),
    "empty": (lambda: b"", "no pack"),
    "another version": (lambda: b"PACK" + struct.pack(">II", 9, 0) + bytes(20), "no pack"),
    "too many objects": (lambda: pack(count=MAX_OBJECTS + 1), "files and folders"),
    "ends early": (lambda: pack(count=3), "ends early|no known kind|damaged"),
    "a bomb": (lambda: pack(entry(BLOB, bytes(MAX_INFLATED + 1))), "MiB of files"),
    "a bomb that lies": (lambda: pack(entry(BLOB, bytes(MAX_INFLATED + 1), says=10)), "larger"),
    "too small": (lambda: pack(entry(BLOB, b"x", says=10)), "smaller"),
    "no zlib": (lambda: pack(head(BLOB, 5) + b"\xff" * 30), "damaged"),
    "an endless number": (lambda: pack(b"\xff" * 100), "number"),
    "a delta of nothing": (
        lambda: pack(entry(NAMED_DELTA, b"\x01\x01\x01x", before=bytes(20))),
        "does not hold",
    ),
    "copies": (_copy_bomb, "MiB of files"),
    "copies that lie": (_quiet_copy_bomb, "more than it says"),
}


def test_hostile_packs_are_refused(subtests: pytest.Subtests):
    for name in HOSTILE:
        with subtests.test(name=name):
            make, words = HOSTILE[name]
            with pytest.raises(PackRefused, match=words):
                read_pack(make())


def test_another_commit_than_asked_for_is_refused():
    """The server cannot choose what runs: names are hashes of what they name."""
    packed, name = commit({"main.py": b"print(1)\n"})
    forged, _ = commit({"main.py": b"print('forged')\n"})
    assert files_of(packed, name)
    with pytest.raises(PackRefused, match="did not send all"):
        files_of(forged, name)


@pytest.mark.parametrize("mode", [b"120000", b"160000"])
def test_links_and_other_repositories_are_refused(mode: bytes):
    packed, name = commit({"main.py": b"/etc/passwd"}, mode=mode)
    with pytest.raises(PackRefused, match="no plain file"):
        files_of(packed, name)


def test_a_folder_that_is_not_there_is_refused():
    packed, name = commit({"main.py": b"1"})
    with pytest.raises(PackRefused, match="no such folder"):
        files_of(packed, name, folder="analysis/mean")


def test_every_cut_of_a_pack_is_refused():
    packed, name = commit({"main.py": b"print(1)\n"})
    for length in range(len(packed) - 20):
        with pytest.raises(PackRefused):
            files_of(packed[:length], name)

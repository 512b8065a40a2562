"""Make an unpacked tree one that nobody can change and every slot can read, and write down what is in it.

Runs outside of the sandbox, after everything in it has ended, so it looks at the tree as a stranger's: links
are never followed, and only files, folders and links stay. The listing has three fields for each entry, each
ended by NUL: kind and mode, content (SHA-256 of a file, target of a link), path. Its SHA-256 is the tree's
digest.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox_images.unpack.caps import Caps
from sandbox_images.unpack.refusal import shown

from .refusal import ImageRefused
from .walk import Entry, TooDeep, walk

# Where a run mounts something of its own.
MOUNT_POINTS = ("in", "out", "tmp", "dev", "dev/shm", "proc", "pipeline", "run", "run/dpgate")
_FOLDER_MODE, _FILE_MODE, _PROGRAM_MODE = 0o555, 0o444, 0o555
_LONG_AGO = 946_684_800  # 2000-01-01: when the folders of every image were made
_CONTENT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Sealed:
    listing: bytes
    size: int  # bytes of all files

    @property
    def tree_digest(self) -> str:
        return f"sha256:{hashlib.sha256(self.listing).hexdigest()}"


def make_mount_points(rootfs: Path) -> None:
    """A run covers them, so a link at one of them is replaced; what it points to stays. A file is refused."""
    for name in MOUNT_POINTS:
        place = rootfs / name  # the folder that it is in is no link: it comes earlier in the list
        if place.is_symlink():
            place.unlink()
        try:
            found = place.lstat()
        except FileNotFoundError:
            place.mkdir()
            continue
        if not stat.S_ISDIR(found.st_mode):
            raise ImageRefused(f"the image holds a file at /{name}, where every run has a folder of its own")
        place.chmod(0o700)  # for the next to be made in it


def seal(rootfs: Path, caps: Caps) -> Sealed:
    """Raises ImageRefused. The tree may be half sealed then: throw it away."""
    listing, size, count = bytearray(), 0, 0
    try:
        for entry in walk(rootfs, depth=caps.depth, opened=_seal_folder):
            line = _sealed_line(entry)
            listing += line
            count += 1
            size += entry.found.st_size if stat.S_ISREG(entry.found.st_mode) else 0
            if count > caps.entries or size > caps.total_bytes:
                raise ImageRefused(f"the image holds more than {caps.entries} files, or too many bytes")
    except TooDeep as deep:
        raise ImageRefused(f"{shown(os.fsencode(str(deep)))} lies deeper than {caps.depth} folders") from deep
    return Sealed(bytes(listing), size)


def lines(rootfs: Path, *, depth: int) -> Iterator[tuple[bytes, bytes, bytes]]:
    """The tree as it is now, in the fields of the listing. Reads every file."""
    for entry in walk(rootfs, depth=depth):
        yield _kind_and_mode(entry.found), _content(entry), entry.path


def parse_listing(listing: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    fields = listing.split(b"\0")[:-1]
    return zip(fields[0::3], fields[1::3], fields[2::3], strict=True)


def _seal_folder(folder: int) -> None:
    """Leave out what is no file, folder or link, while that is still allowed."""
    os.fchmod(folder, 0o700)
    for name in os.listdir(folder):
        kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)):
            os.unlink(name, dir_fd=folder)
    os.fchown(folder, os.getuid(), os.getgid())
    os.fchmod(folder, _FOLDER_MODE)
    os.utime(folder, (_LONG_AGO, _LONG_AGO))


def _sealed_line(entry: Entry) -> bytes:
    mode = entry.found.st_mode
    if stat.S_ISDIR(mode):
        sealed, content = b"d%04o" % _FOLDER_MODE, b""
    elif stat.S_ISLNK(mode):
        os.chown(entry.name, os.getuid(), os.getgid(), dir_fd=entry.parent, follow_symlinks=False)
        sealed, content = b"l", os.readlink(entry.name, dir_fd=entry.parent)
    else:
        wanted = _PROGRAM_MODE if mode & 0o111 else _FILE_MODE
        os.chmod(entry.name, wanted, dir_fd=entry.parent)  # nobody writes here: it is still that file
        with open(os.open(entry.name, _CONTENT, dir_fd=entry.parent), "rb", buffering=0) as file:
            os.fchown(file.fileno(), os.getuid(), os.getgid())
            os.fchmod(file.fileno(), wanted)  # again: a change of owner drops bits
            content = hashlib.file_digest(file, "sha256").hexdigest().encode()
        sealed = b"f%04o" % wanted
    return b"\0".join((sealed, content, entry.path, b""))


def _kind_and_mode(found: os.stat_result) -> bytes:
    if found.st_uid != os.getuid():
        return b"owned by somebody else"
    if stat.S_ISLNK(found.st_mode):
        return b"l"
    kind = b"d" if stat.S_ISDIR(found.st_mode) else b"f" if stat.S_ISREG(found.st_mode) else b"?"
    return kind + b"%04o" % stat.S_IMODE(found.st_mode)


def _content(entry: Entry) -> bytes:
    mode = entry.found.st_mode
    if stat.S_ISLNK(mode):
        return os.readlink(entry.name, dir_fd=entry.parent)
    if not stat.S_ISREG(mode):
        return b""
    with open(os.open(entry.name, _CONTENT, dir_fd=entry.parent), "rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest().encode()

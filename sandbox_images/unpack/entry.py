"""Runs inside the sandbox: unpack one archive, then say what it was. Started by worker/images as

python -I -S -B -c "..." ARCHIVE FOLDER KIND CAPS

`FOLDER` is the only place that can be written; the tree becomes `FOLDER/rootfs`. The answer on standard
output is one JSON object: {"refused": sentence}, or {"digest", "name", "environment"}.
"""

import errno
import json
import os
import sys
from pathlib import Path

from .archive import Archive
from .caps import Caps
from .compression import plain
from .docker_archive import MANIFEST, read_docker_archive
from .layers import lay
from .oci_layout import INDEX, read_oci_layout
from .plan import Plan
from .refusal import Refused, shown
from .sif import find_root
from .squashfs import extract
from .streams import PIECE, Budget, Hashed, Source, Stretch
from .tar import Tar
from .tree import FOLDER_MODE, Tree

SIF, TAR = "sif", "tar"


def main() -> None:
    archive, folder, kind, caps = sys.argv[1:]
    try:
        answer = unpack(Path(archive), Path(folder), kind, Caps.from_text(caps))
    except Refused as refusal:
        answer = {"refused": str(refusal)}
    except OSError as error:
        answer = {"refused": _reason(error)}
    sys.stdout.write(json.dumps(answer))


def unpack(archive: Path, folder: Path, kind: str, caps: Caps) -> dict[str, object]:
    """Returns the answer; raises Refused and OSError."""
    machine = os.uname().machine
    os.umask(0o022)
    fd = os.open(archive, os.O_RDONLY | os.O_CLOEXEC)
    rootfs = folder / "rootfs"
    try:
        size = os.fstat(fd).st_size
        if kind == SIF:
            extract(archive, find_root(fd, size, machine), rootfs, caps)
            return {"digest": None, "name": None, "environment": []}
        rootfs.mkdir(mode=FOLDER_MODE)
        total = Budget(caps.total_bytes, "bytes when unpacked")
        opened = _opened(fd, size, folder, total, caps)
        image = _plan(opened, machine)
        _lay_all(opened, image, folder, total, caps)
    finally:
        os.close(fd)
    return {
        "digest": image.digest,
        "name": image.name,
        "environment": image.environment,
        "entry_point": image.entry_point,
    }


def _opened(fd: int, size: int, folder: Path, total: Budget, caps: Caps) -> Archive:
    """Blobs are read in any order, so a compressed archive is unpacked to the side first."""
    whole = Stretch(fd, 0, size)
    source = plain(whole, os.pread(fd, 8, 0), folder)
    if source is whole:
        return Archive(fd, size, caps)
    aside = os.open(folder / "plain", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    amount = 0
    while piece := source.read(PIECE):
        total.spend(len(piece))
        amount += len(piece)
        while piece:
            piece = piece[os.write(aside, piece) :]
    return Archive(aside, amount, caps)


def _plan(archive: Archive, machine: str) -> Plan:
    """Where both are there they describe the same image, and only the index has digests for everything."""
    if INDEX in archive:
        return read_oci_layout(archive, machine)
    if MANIFEST in archive:
        return read_docker_archive(archive, machine)
    raise Refused(
        f"the archive has neither {MANIFEST} nor {INDEX}: it is no image as `docker save` or an OCI tool "
        "writes it (`docker export` writes none: it loses the image's configuration)"
    )


def _lay_all(archive: Archive, image: Plan, folder: Path, total: Budget, caps: Caps) -> None:
    tree = Tree(folder / "rootfs", caps)
    entries = Budget(caps.entries, "files")
    try:
        for number, layer in enumerate(image.layers, start=1):
            packed = Hashed(archive.open(layer.name)) if layer.digest else None
            stored: Source = packed or archive.open(layer.name)
            unpacked = Hashed(plain(stored, archive.open(layer.name).read(8), folder), total)
            lay(Tar(unpacked, caps), tree, caps, entries)
            _check(unpacked, layer.diff_id, f"content of layer {number}")
            if packed is not None and layer.digest:
                _check(packed, layer.digest, f"layer {number}")
    finally:
        tree.close()


def _check(read: Hashed, wanted: str, what: str) -> None:
    found = read.digest()
    if found != wanted:
        raise Refused(f"the {what} was changed: its digest is {found}, not {wanted}")


def _reason(error: OSError) -> str:
    name = error.filename if isinstance(error.filename, bytes) else str(error.filename or "").encode()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "there is no room left for the image"
    if error.errno == errno.EFBIG:
        return "the image holds a file that is larger than allowed"
    return f"the image cannot be unpacked: {error.strerror} ({shown(name)})"

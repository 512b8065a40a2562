"""Which compression a layer or a whole archive has, told by its first bytes and not by what it is called."""

import os
import shutil
import subprocess
from pathlib import Path

from .refusal import Refused
from .streams import PIECE, Gunzipped, Source, Stretch

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_OTHERS = {b"\xfd7zXZ\0": "xz", b"BZh": "bzip2", b"\x5d\0\0": "lzma", b"\x04\x22\x4d\x18": "lz4"}
_ZSTD_MEMORY = "--memory=512MB"  # a frame may ask for a window of gigabytes


def plain(stored: Source, first: bytes, folder: Path) -> Source:
    """What `stored` holds. `first` are its first bytes, which are still to be read; `folder` is for a decoder
    that needs a file.
    """
    if first.startswith(GZIP):
        return Gunzipped(stored)
    if first.startswith(ZSTD):
        return _zstd(stored, folder)
    for magic, name in _OTHERS.items():
        if first.startswith(magic):
            raise Refused(f"the image is compressed with {name}: save it with gzip or uncompressed")
    return stored


def _zstd(stored: Source, folder: Path) -> Source:
    """By the command of that name: Python's own module is younger than the Python we ask for."""
    decoder = shutil.which("zstd")
    if decoder is None:
        raise Refused(
            "a layer is compressed with zstd, for which this host has no decoder: install the "
            "distribution's zstd package, or save the image with gzip or uncompressed"
        )
    packed, unpacked = folder / "packed", folder / "unpacked"
    with packed.open("wb") as file:
        while piece := stored.read(PIECE):
            file.write(piece)
    with packed.open("rb") as source, unpacked.open("wb") as target:
        ended = subprocess.run(
            [decoder, "-dcq", _ZSTD_MEMORY],
            stdin=source,
            stdout=target,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    fd = os.open(unpacked, os.O_RDONLY | os.O_CLOEXEC)  # stays by its name, where the quota sees it
    if ended.returncode != 0:
        os.close(fd)
        raise Refused("compressed data are broken: zstd does not read them to the end within its limits")
    return Stretch(fd, 0, os.fstat(fd).st_size)

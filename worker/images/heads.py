"""The first bytes of a file of an image: enough to tell a script from a program."""

import os
from contextlib import suppress
from pathlib import Path

from sandbox_images.unpack.rooted import Root

HEAD_BYTES = 256


def head_of(rootfs: Path, path: str) -> bytes | None:
    """The first bytes of a file of an image, opened as the image sees its own paths, if there is one."""
    with suppress(OSError), Root(rootfs) as root:
        fd = root.open(os.fsencode(path), os.O_RDONLY | os.O_NONBLOCK)
        try:
            return os.read(fd, HEAD_BYTES)
        finally:
            os.close(fd)
    return None

"""Find a Python in an image that can carry the platform's own part of a run, by asking it in a sandbox."""

import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path

from sandbox_images.unpack.rooted import Root
from worker.sandbox.core.images import HostImage
from worker.sandbox.host_image import OLDEST_PYTHON

from .confinement import run_confined
from .program import Confined
from .refusal import ImageRefused

_PLACES = ("/usr/bin", "/usr/local/bin", "/bin")
_EACH_BELOW = "/opt"  # /opt/conda/bin and the like
_MOST_ASKED = 12
_QUESTION = "import sys, ctypes, _ctypes, resource; print(*sys.version_info[:2])"
_ASKED_S = 60.0


def find_interpreter(rootfs: Path, environment: Mapping[str, str], host: HostImage) -> str | None:
    """Its absolute path in the image. None: the image has none, or only older ones."""
    with Root(rootfs) as root:
        candidates = [name for name in _candidates(root, environment) if _is_there(root, name)]
    return next((name for name in candidates[:_MOST_ASKED] if _fits(rootfs, name, host)), None)


def _candidates(root: Root, environment: Mapping[str, str]) -> list[str]:
    folders = [*environment.get("PATH", "").split(":"), *_PLACES]
    folders += [f"{_EACH_BELOW}/{name}/bin" for name in _names(root, _EACH_BELOW)]
    return list(dict.fromkeys(f"{folder.rstrip('/')}/python3" for folder in folders if folder))


def _names(root: Root, folder: str) -> list[str]:
    try:
        fd = root.open(folder.encode(), os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return []
    try:
        return sorted(os.listdir(fd))
    finally:
        os.close(fd)


def _is_there(root: Root, name: str) -> bool:
    try:
        os.close(root.open(os.fsencode(name), os.O_PATH))
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES):
            raise
        return False
    return True


def _fits(rootfs: Path, name: str, host: HostImage) -> bool:
    try:
        ended = run_confined(
            Confined(
                command=(name, "-I", "-S", "-B", "-c", _QUESTION),
                mounts=("--ro-bind", str(rootfs), "/"),
                python=host.interpreter,
                wall_s=_ASKED_S,
                answer_bytes=64,
            )
        )
    except ImageRefused:  # it was asked a question and went on for ever: no interpreter of ours
        return False
    version = re.fullmatch(rb"(\d{1,3}) (\d{1,3})\n", ended.answer)
    return ended.code == 0 and version is not None and (int(version[1]), int(version[2])) >= OLDEST_PYTHON

"""An image of the store's kind that holds this host's Python, made in a second."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from worker.images.sealing import make_mount_points
from worker.sandbox.core.images import StoredImage

PYTHON = Path("/usr/bin/python3")
SHELL = Path("/bin/sh")
_LEFT_OUT = ("test", "__pycache__", "idlelib", "lib2to3", "tkinter", "config-*")


def python_image(root: Path) -> StoredImage:
    """Below `root`, which is empty; on the disk, not only on its way there."""
    root.chmod(0o755)
    library = Path("/usr/lib") / PYTHON.resolve().name
    shutil.copytree(
        library,
        root / library.relative_to("/"),
        ignore=shutil.ignore_patterns(*_LEFT_OUT),
        ignore_dangling_symlinks=True,
    )
    programs = (PYTHON, SHELL, *library.glob("lib-dynload/*.so"))
    for path in {*programs, *(needed for program in programs for needed in _libraries(program))}:
        target = root / path.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path.resolve(), target)
    make_mount_points(root)
    for parent, _, names in os.walk(root):
        os.chmod(parent, 0o755)
        for name in names:
            _write_out(Path(parent, name))
    digest = f"sha256:{os.urandom(32).hex()}"
    return StoredImage("python", digest, root, digest, str(PYTHON))


def _libraries(program: Path) -> list[Path]:
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in re.findall(r"(/\S+) \(0x", listed)]


def _write_out(path: Path) -> None:
    """What is not on the disk yet cannot be forgotten by the page cache."""
    path.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
    with path.open("rb") as file:
        os.fsync(file.fileno())

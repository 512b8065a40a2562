"""Base images for tests: built by the real builder on first use, then kept between sessions.

They lie below `$DPGATE_TEST_CACHE`, else the user's cache folder, under a key over everything that goes into
a build but the mirror's state: remove the folder to take newer packages. Sessions side by side build once.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILDER = ROOT / "sandbox_images" / "bases"
NAMES = ("minimal", "python", "r", "octave")
KEPT_DAYS = 14  # after its last use


def base_archive(name: str) -> Path:
    """The archive of one base image; its bill of materials is `base_sbom(name)`."""
    folder = _cache() / _key()
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{name}.tar"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            _remove_old()
            build(name, archive)
    os.utime(folder)
    return archive


def base_sbom(name: str) -> Path:
    return base_archive(name).with_name(f"{name}.sbom.json")


def base_tree(name: str, folder: Path) -> Path:
    """The unpacked root file system of one base image, in a new folder below `folder`."""
    tree, archive = folder / name, base_archive(name)
    tree.mkdir()
    blobs = folder / f"{name}-blobs"
    blobs.mkdir()
    subprocess.run(["tar", "-xf", archive, "-C", blobs], check=True)
    layer = max((blobs / "blobs/sha256").iterdir(), key=lambda blob: blob.stat().st_size)
    subprocess.run(["tar", "-xf", layer, "--no-same-owner", "-C", tree], check=True)
    shutil.rmtree(blobs)
    return tree


def build(name: str, out: Path) -> str:
    """Build one image and return its digest."""
    command = [sys.executable, "-m", "sandbox_images.bases", "build", name, "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


def _cache() -> Path:
    if chosen := os.environ.get("DPGATE_TEST_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dpgate-tests"


def _key() -> str:
    total = hashlib.sha256()
    for path in sorted(BUILDER.iterdir()):
        if path.suffix in (".py", ".lock"):
            total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]


def _remove_old() -> None:
    for folder in _cache().iterdir():
        if folder.is_dir() and time.time() - folder.stat().st_mtime > KEPT_DAYS * 86400:
            shutil.rmtree(folder, ignore_errors=True)

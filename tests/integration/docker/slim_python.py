"""The Python base image without its scientific libraries: an eighth of the size, and no test here needs them.

Its interpreter, system and configuration are the base image's own. Kept beside it, and made anew when either
of the two changes.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import tarfile
from pathlib import Path

from base_images import base_archive
from made_images import Recipe, pack

TAG = "dpgate/python:slim"
_LIBRARIES = "/dist-packages/"


def slim_python() -> Path:
    """The archive."""
    base = base_archive("python")
    recipe = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    archive = base.with_name(f"python-slim-{recipe}.tar")
    with archive.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            part = archive.with_suffix(".part")
            pack(_files(base), part)
            part.rename(archive)
    return archive


def _files(base: Path) -> dict[str, bytes]:
    with tarfile.open(base) as outer:
        (manifest,) = json.loads(_read(outer, "manifest.json"))
        config = json.loads(_read(outer, manifest["Config"]))["config"]
        (layer,) = manifest["Layers"]
        held = outer.extractfile(layer)
        assert held is not None
        files = Recipe([_without_libraries(held)], {"config": config}).docker()
    (manifest,) = json.loads(files["manifest.json"])
    return files | {"manifest.json": json.dumps([manifest | {"RepoTags": [TAG]}]).encode()}


def _without_libraries(layer) -> bytes:
    kept = io.BytesIO()
    with tarfile.open(fileobj=layer) as found, tarfile.open(fileobj=kept, mode="w") as slim:
        for member in found:
            if _LIBRARIES not in f"/{member.name}":
                slim.addfile(member, found.extractfile(member) if member.isreg() else None)
    return kept.getvalue()


def _read(outer: tarfile.TarFile, name: str) -> bytes:
    held = outer.extractfile(name)
    assert held is not None
    return held.read()

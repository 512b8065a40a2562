"""A small image archive as `docker save` writes it, for tests that need an image and not its content."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

PROGRAM = b"#!/bin/sh\nexit 0\n"


def save_small_image(path: Path, *, marker: str = "small", tag: str = "small:1") -> Path:
    """One layer: a program and a file that says `marker`, so that each marker is another image."""
    layer = _tar({"usr/bin/program": (PROGRAM, 0o755), "etc/marker": (marker.encode(), 0o644)})
    config = json.dumps(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Env": ["PATH=/usr/bin"]},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        }
    ).encode()
    name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = json.dumps([{"Config": name, "RepoTags": [tag], "Layers": ["layer.tar"]}]).encode()
    files = {name: (config, 0o644), "layer.tar": (layer, 0o644), "manifest.json": (manifest, 0o644)}
    path.write_bytes(_tar(files))
    return path


def digest_of(path: Path) -> str:
    """The image's own name: the digest of its configuration."""
    with tarfile.open(path) as archive:
        name = next(name for name in archive.getnames() if name.endswith(".json") and len(name) > 60)
    return f"sha256:{name.removesuffix('.json')}"


def _tar(files: dict[str, tuple[bytes, int]]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (content, mode) in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))
    return made.getvalue()

"""One archive for `docker load`, skopeo and `dpgate image add`: an OCI layout with Docker's manifest in it.

The same tree gives the same bytes: sorted entries, one time, owner 0, no names of users or hosts.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from sandbox_images.bases.recipe import SUITE

LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
ENVIRONMENT = ("PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC")
RUNNER = "1000:1000"  # whoever starts the image by hand is not root in it


@dataclass(frozen=True)
class Appearance:
    """What the image's configuration says of it."""

    name: str
    title: str
    architecture: str
    entry: tuple[str, ...]
    when: str  # ISO 8601


def write_archive(root: Path, out: Path, appearance: Appearance, seconds: int, scratch: Path) -> str:
    """Write the archive and return the image's digest, `sha256:` of its configuration.

    Args:
        seconds: the time of every file, since 1970.
        scratch: a folder with room for the layer.
    """
    layer = scratch / "layer.tar"
    layer_digest = _write_layer(root, layer, seconds)
    config = _json(_configuration(appearance, layer_digest))
    manifest = _json(_manifest(config, layer_digest, layer.stat().st_size))
    tag = f"dpgate/{appearance.name}:{SUITE}"
    index = {
        "schemaVersion": 2,
        "manifests": [
            _descriptor(MANIFEST_TYPE, manifest)
            | {"annotations": {"io.containerd.image.name": tag, "org.opencontainers.image.ref.name": SUITE}}
        ],
    }
    blobs = {_blob(_digest(content)): content for content in (config, manifest)}
    docker = [{"Config": _blob(_digest(config)), "RepoTags": [tag], "Layers": [_blob(layer_digest)]}]
    texts = blobs | {
        "index.json": _json(index),
        "manifest.json": _json(docker),
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
    }
    with out.open("wb") as file, tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for folder in ("blobs", "blobs/sha256"):
            archive.addfile(_entry(folder, stat.S_IFDIR | 0o755, seconds))
        for name in sorted([*texts, _blob(layer_digest)]):
            if name in texts:
                _add(archive, name, io.BytesIO(texts[name]), len(texts[name]), seconds)
            else:
                with layer.open("rb") as content:
                    _add(archive, name, content, layer.stat().st_size, seconds)
    layer.unlink()
    return _digest(config)


def _write_layer(root: Path, layer: Path, seconds: int) -> str:
    """The tree as one tar file; its digest."""
    with layer.open("wb") as file, tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(root.rglob("*"), key=lambda path: path.relative_to(root).parts):
            name, found = path.relative_to(root).as_posix(), path.lstat()
            if stat.S_ISLNK(found.st_mode):
                link = _entry(name, stat.S_IFLNK | 0o777, seconds)
                link.linkname = os.readlink(path)
                archive.addfile(link)
            elif stat.S_ISDIR(found.st_mode):
                archive.addfile(_entry(name, stat.S_IFDIR | (0o1777 if name == "tmp" else 0o755), seconds))
            elif stat.S_ISREG(found.st_mode):
                entry = _entry(name, stat.S_IFREG | (0o755 if found.st_mode & 0o100 else 0o644), seconds)
                entry.size = found.st_size
                with path.open("rb") as content:
                    archive.addfile(entry, content)
    with layer.open("rb") as written:
        return "sha256:" + hashlib.file_digest(written, "sha256").hexdigest()


def _entry(name: str, mode: int, seconds: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type = {stat.S_IFLNK: tarfile.SYMTYPE, stat.S_IFDIR: tarfile.DIRTYPE}.get(
        stat.S_IFMT(mode), tarfile.REGTYPE
    )
    entry.mode, entry.mtime = stat.S_IMODE(mode), seconds
    return entry


def _add(archive: tarfile.TarFile, name: str, content: BinaryIO, size: int, seconds: int) -> None:
    entry = _entry(name, stat.S_IFREG | 0o644, seconds)
    entry.size = size
    archive.addfile(entry, content)


def _configuration(appearance: Appearance, layer_digest: str) -> dict[str, Any]:
    return {
        "architecture": appearance.architecture,
        "os": "linux",
        "created": appearance.when,
        "config": {
            "Env": list(ENVIRONMENT),
            "Cmd": list(appearance.entry),
            "User": RUNNER,
            "WorkingDir": "/tmp",  # noqa: S108 - inside the image
            "Labels": {
                "org.opencontainers.image.title": f"dpgate/{appearance.name}",
                "org.opencontainers.image.description": appearance.title,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [layer_digest]},
        "history": [
            {"created": appearance.when, "created_by": f"sandbox_images.bases build {appearance.name}"}
        ],
    }


def _manifest(config: bytes, layer_digest: str, layer_size: int) -> dict[str, Any]:
    return {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "config": _descriptor(CONFIG_TYPE, config),
        "layers": [{"mediaType": LAYER_TYPE, "digest": layer_digest, "size": layer_size}],
    }


def _descriptor(media_type: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": _digest(content), "size": len(content)}


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _blob(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/")


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()

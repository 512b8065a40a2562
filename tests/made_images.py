"""Image archives made by hand, byte by byte where a test needs what no tool would write."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import struct
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
_SIF_MACHINE = {"x86_64": b"02\0", "aarch64": b"04\0"}.get(os.uname().machine, b"00\0")


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def member(name: str | bytes, content: bytes = b"", kind: bytes = b"0", **fields: Any) -> bytes:
    """One tar entry. `fields`: target, mode, mtime, magic, prefix, the size as said, or its raw bytes."""
    raw_name = os.fsencode(name)
    if len(raw_name) > 100:
        return pax({b"path": raw_name}) + member(b"long", content, kind, **fields)
    header = bytearray(512)
    header[0 : len(raw_name)] = raw_name
    header[100:108] = b"%07o\0" % fields.get("mode", 0o644)
    header[108:116] = header[116:124] = b"%07o\0" % 0
    header[124:136] = fields.get("raw_size") or b"%011o\0" % fields.get("size", len(content))
    header[136:148] = b"%011o\0" % fields.get("mtime", 1_700_000_000)
    header[156:157] = kind
    target = os.fsencode(fields.get("target", b""))
    header[157 : 157 + len(target[:100])] = target[:100]
    header[257:265] = fields.get("magic", b"ustar\x0000")
    header[329:337] = header[337:345] = b"%07o\0" % 1
    prefix = os.fsencode(fields.get("prefix", b""))
    header[345 : 345 + len(prefix)] = prefix
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + content + bytes(-len(content) % 512)


def folder(name: str | bytes, **fields: Any) -> bytes:
    return member(name, kind=b"5", mode=0o755, **fields)


def link(name: str | bytes, target: str | bytes) -> bytes:
    return member(name, kind=b"2", target=target)


def hard_link(name: str | bytes, target: str | bytes) -> bytes:
    return member(name, kind=b"1", target=target)


def pax(records: dict[bytes, bytes], kind: bytes = b"x") -> bytes:
    text = b""
    for key, value in records.items():
        body = b" " + key + b"=" + value + b"\n"
        length = len(body) + 1
        while len(str(length)) + len(body) != length:
            length += 1
        text += str(length).encode() + body
    return member("pax", text, kind)


def gnu_long(name: bytes, kind: bytes = b"L") -> bytes:
    return member("././@LongLink", name + b"\0", kind)


def layer(*members: bytes, end: bytes = bytes(1024)) -> bytes:
    return b"".join(members) + end


@dataclass
class Recipe:
    """An image; change what a test wants to be wrong."""

    layers: list[bytes]
    config: dict[str, Any] = field(default_factory=dict)
    compress: bool = False

    def stored(self) -> list[bytes]:
        return [gzip.compress(part, 1, mtime=0) if self.compress else part for part in self.layers]

    def configuration(self) -> bytes:
        whole = {
            "architecture": ARCHITECTURE,
            "os": "linux",
            "config": {"Env": ["PATH=/usr/bin:/bin"]},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha(part)}" for part in self.layers]},
            **self.config,
        }
        return json.dumps(whole).encode()

    def docker(self) -> dict[str, bytes]:
        """Files of a docker save archive."""
        config, stored = self.configuration(), self.stored()
        names = [f"{number}/layer.tar" for number in range(len(stored))]
        manifest = [{"Config": f"{sha(config)}.json", "RepoTags": ["made:1"], "Layers": names}]
        files = dict(zip(names, stored, strict=True))
        return {**files, f"{sha(config)}.json": config, "manifest.json": json.dumps(manifest).encode()}

    def oci(self) -> dict[str, bytes]:
        """Files of an OCI layout."""
        blobs: dict[str, bytes] = {}

        def put(content: bytes, kind: str) -> dict[str, Any]:
            blobs[f"blobs/sha256/{sha(content)}"] = content
            return {"mediaType": kind, "digest": f"sha256:{sha(content)}", "size": len(content)}

        image = "application/vnd.oci.image"
        packed = "+gzip" if self.compress else ""
        manifest = {
            "schemaVersion": 2,
            "mediaType": f"{image}.manifest.v1+json",
            "config": put(self.configuration(), f"{image}.config.v1+json"),
            "layers": [put(part, f"{image}.layer.v1.tar{packed}") for part in self.stored()],
        }
        descriptor = put(json.dumps(manifest).encode(), f"{image}.manifest.v1+json")
        descriptor["annotations"] = {"org.opencontainers.image.ref.name": "made:1"}
        index = {"schemaVersion": 2, "manifests": [descriptor]}
        layout = json.dumps({"imageLayoutVersion": "1.0.0"}).encode()
        return {"oci-layout": layout, "index.json": json.dumps(index).encode(), **blobs}


def pack(files: dict[str, bytes], path: Path) -> Path:
    """The outer tar."""
    with tarfile.open(path, "w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def sif_part(kind: int, content: bytes, **fields: Any) -> dict[str, Any]:
    extra = struct.pack("<ii3s", fields.get("fs", 1), fields.get("role", 2), fields.get("arch", _SIF_MACHINE))
    return {"kind": kind, "content": content, "extra": extra, **fields}


def sif(*parts: dict[str, Any], total: int | None = None, table_at: int = 128) -> bytes:
    """A SIF file; a part's `offset` and `size` may lie."""
    count = len(parts)
    at = 4096
    table, data = b"", b""
    for number, part in enumerate(parts, start=1):
        offset, size = part.get("offset", at + len(data)), part.get("size", len(part["content"]))
        table += struct.pack(
            "<iBIIIqqqqqqq128s384s",
            *(part["kind"], part.get("used", 1), number, 1, 0, offset, size, size, 0, 0, 0, 0),
            b"part",
            part["extra"],
        )
        data += part["content"] + bytes(-len(part["content"]) % 4096)
    header = struct.pack(
        "<32s10s3s3s16sqqqqqqqq",
        *(b"#!/usr/bin/env run-singularity\n", b"SIF_MAGIC\0", b"01\0", _SIF_MACHINE, bytes(16), 0, 0, 0),
        *(count if total is None else total, table_at, max(len(table), 585), at, len(data)),
    )
    return (header + table).ljust(at, b"\0") + data

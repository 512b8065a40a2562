"""Lists of SHA-256 checksums that come with data: the platform's own, and those that are in common use."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

MANIFEST = "dpgate-manifest.json"
"""Written by `dpgate dataset add` beside the files that it delivers: the checksum of each of them."""

LISTS = ("SHA256SUMS", "SHA256SUMS.txt", "manifest-sha256.txt")
"""As `sha256sum` writes them, and as a BagIt bag holds one."""

MAX_LIST_BYTES = 2**28

_SHA256 = re.compile(r"[0-9a-f]{64}")
_LINE = re.compile(r"([0-9A-Fa-f]{64})(?: [ *]|[ \t]+)(\S.*)")


def parse_list(name: str, content: bytes) -> dict[str, str]:
    """SHA-256 in hex by path, from lines `<hex>  <path>`. Raises ValueError, with the line, for any other."""
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8") from None
    found: dict[str, str] = {}
    for number, line in enumerate((line.removesuffix("\r") for line in lines), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"line {number} of {name} is no checksum and path")
        path = match.group(2).removeprefix("./")
        if found.setdefault(path, match.group(1).lower()) != match.group(1).lower():
            raise ValueError(f"line {number} of {name} gives a file a second checksum")
    return found


def parse_manifest(content: bytes) -> dict[str, str]:
    """The platform's own list, as `manifest` writes it. Raises ValueError for anything else."""
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        read = None
    files = read.get("files") if isinstance(read, dict) and read.get("version") == 1 else None
    if not isinstance(files, dict) or not all(
        isinstance(digest, str) and _SHA256.fullmatch(digest) for digest in files.values()
    ):
        raise ValueError(f"{MANIFEST} is not as it was written")
    return files


def manifest(files: Mapping[str, str]) -> bytes:
    """The platform's own list of these checksums by path; one list for one meaning."""
    content = {"version": 1, "algorithm": "sha256", "files": dict(sorted(files.items()))}
    return json.dumps(content, indent=0, ensure_ascii=False).encode() + b"\n"

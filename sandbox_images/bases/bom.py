"""The bill of materials of an image, in CycloneDX 1.5: every Debian package and wheel, with its hash."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sandbox_images.bases.debian import Package
from sandbox_images.bases.recipe import SUITE
from sandbox_images.bases.wheels import Wheel

PLACE = "usr/share/dpgate/sbom.json"


def bill_of_materials(
    name: str, root: Path, packages: Sequence[Package], wheels: Sequence[Wheel], when: str
) -> bytes:
    """The document as bytes: the same for the same parts.

    Args:
        name: of the image.
        root: its unpacked tree, for the packages' copyright files.
        when: ISO 8601 time of the image.
    """
    components = [_of_package(root, package) for package in packages] + [_of_wheel(wheel) for wheel in wheels]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": when,
            "component": {"type": "container", "name": f"dpgate/{name}", "version": SUITE},
        },
        "components": components,
    }
    return json.dumps(document, indent=1, sort_keys=True).encode() + b"\n"


def _of_package(root: Path, package: Package) -> dict[str, Any]:
    name, version = quote(package.name, safe=""), quote(package.version, safe="+.~-")
    component = {
        "type": "library",
        "bom-ref": f"deb/{package.name}",
        "name": package.name,
        "version": package.version,
        "purl": f"pkg:deb/debian/{name}@{version}?arch={package.architecture}&distro={SUITE}",
        "hashes": [{"alg": "SHA-256", "content": package.sha256}],
        "properties": [{"name": "debian:architecture", "value": package.architecture}],
    }
    return component | _licences(_stated(root / "usr/share/doc" / package.name / "copyright"))


def _of_wheel(wheel: Wheel) -> dict[str, Any]:
    component = {
        "type": "library",
        "bom-ref": f"pypi/{wheel.name}",
        "name": wheel.name,
        "version": wheel.version,
        "purl": f"pkg:pypi/{wheel.name}@{wheel.version}",
        "hashes": [{"alg": "SHA-256", "content": wheel.sha256}],
    }
    return component | _licences([wheel.licence] if wheel.licence else [])


def _licences(names: Sequence[str]) -> dict[str, Any]:
    return {"licenses": [{"license": {"name": name}} for name in names]} if names else {}


def _stated(copyright_file: Path) -> list[str]:
    """Short names of the licences, where the file is written for machines."""
    if not copyright_file.is_file():
        return []
    text = copyright_file.read_text(encoding="utf-8", errors="replace")
    return sorted({found.strip() for found in re.findall(r"^License: *(\S.*)$", text, flags=re.MULTILINE)})

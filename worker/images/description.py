"""What the store writes down about an image, beside its tree, and how it is read back."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worker.sandbox.core.images import StoredImage

from .refusal import ImageDamaged

ROOTFS, DESCRIPTION, LISTING = "rootfs", "image.json", "listing"
_FORMAT = 1
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,199}")


@dataclass(frozen=True)
class Described:
    """An image, and the file that it came in."""

    image: StoredImage
    archive_digest: str
    size: int  # bytes of all its files


def is_digest(text: str) -> bool:
    return _DIGEST.fullmatch(text) is not None


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def write(folder: Path, described: Described) -> None:
    image = described.image
    content = {
        "format": _FORMAT,
        "name": image.name,
        "digest": image.digest,
        "tree_digest": image.tree_digest,
        "interpreter": image.interpreter,
        "environment": dict(image.environment),
        "entry_point": list(image.entry_point),
        "archive_digest": described.archive_digest,
        "size": described.size,
    }
    path = folder / DESCRIPTION
    path.write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")
    path.chmod(0o400)


def read(folder: Path) -> Described:
    """Raises ImageDamaged, FileNotFoundError."""
    try:
        content = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        return _parsed(content, folder)
    except (ValueError, TypeError, KeyError) as error:
        raise ImageDamaged(
            f"{folder / DESCRIPTION} cannot be read: remove the image and add its archive again"
        ) from error


def _parsed(content: dict[str, Any], folder: Path) -> Described:
    digest, tree_digest = content["digest"], content["tree_digest"]
    if content["format"] != _FORMAT or not is_digest(tree_digest):
        raise ValueError
    if digest != f"sha256:{folder.name}":
        raise ValueError
    image = StoredImage(
        name=content["name"],
        digest=digest,
        rootfs=folder / ROOTFS,
        tree_digest=tree_digest,
        interpreter=content["interpreter"],
        environment={str(name): str(value) for name, value in content["environment"].items()},
        entry_point=tuple(map(str, content.get("entry_point", []))),
    )
    return Described(image, content["archive_digest"], content["size"])

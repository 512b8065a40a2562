"""The worker's image store, from the command line of an operator on the worker's host."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from domain.errors import InvalidRequest
from domain.model import SLUG
from dpgate.errors import DpgateError
from worker.images.refusal import ImageNotFound, ImageRefused
from worker.images.store import ImageStore


def add_image(archive: Path, *, name: str, folder: Path) -> dict[str, Any]:
    """Unpack an archive into the store; what is there now. Raises DpgateError for a refused archive."""
    if not re.fullmatch(SLUG, name):
        raise InvalidRequest(
            "name", f"{name[:100]!r} cannot stand in a manifest.", "Use small letters, digits and hyphens."
        )
    try:
        image = _open(folder).add(archive, name=name)
    except ImageRefused as refused:
        raise DpgateError(str(refused)) from None
    return {
        "name": image.name,
        "digest": image.digest,
        "tree_digest": image.tree_digest,
        "interpreter": image.interpreter,
        "environment": dict(image.environment),
    }


def check_removable(digest: str, *, folder: Path) -> None:
    """Raises DpgateError when this store has no such image."""
    try:
        _open(folder).get(digest)
    except ImageNotFound:
        raise DpgateError(
            f"the store {folder} holds no image {digest}; for the host's own, or one that lies elsewhere, "
            "take the approval back with: dpgate image withdraw"
        ) from None


def remove_image(digest: str, *, folder: Path) -> None:
    """Its files are gone when this returns."""
    _open(folder).remove(digest)


def _open(folder: Path) -> ImageStore:
    if not folder.parent.is_dir():
        raise DpgateError(
            f"there is no worker zone {folder.parent}; run this where the worker is, after its first start, "
            "or name its image store with --store"
        )
    return ImageStore(folder)

"""Puts the images of this worker's store on record, so that an operator can approve them."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from datetime import datetime

from domain.image import ImageKind
from domain.model import SLUG
from store import images
from store.database import Database
from worker.images import description
from worker.images.held import HeldImages
from worker.sandbox.core.images import StoredImage
from worker.sandbox.protocol import SandboxUnavailable

log = logging.getLogger(__name__)


def announce_images(database: Database, held: HeldImages, *, now: datetime) -> int:
    """Announce what is not on record yet; how many that were. Cheap enough for every sweep."""
    try:
        stored = held.listed()
    except SandboxUnavailable as problem:
        log.error("the image store cannot be announced: %s", problem)
        return 0
    with database.reading() as connection:
        known = {image.digest for image in images.listed(connection)}
    new = [image for image in stored if image.digest not in known and _has_a_good_name(image)]
    if new:
        _announce(database, new, now=now)
    return len(new)


def _announce(database: Database, new: Sequence[StoredImage], *, now: datetime) -> None:
    with database.transaction() as connection:
        for image in new:
            described = description.read(image.rootfs.parent)
            images.announce(
                connection,
                digest=image.digest,
                name=image.name,
                description=ImageKind.IMPORTED.use,
                now=now,
                origin=images.Origin(
                    kind=ImageKind.IMPORTED,
                    tree_digest=image.tree_digest,
                    source_digest=described.archive_digest,
                    size=described.size,
                ),
            )
            log.warning("the image %s (%s) waits for approval", image.name, image.digest)


def _has_a_good_name(image: StoredImage) -> bool:
    """A manifest names images by small letters, digits and hyphens."""
    good = re.fullmatch(SLUG, image.name) is not None
    if not good:
        log.error(
            "remove the image %s and add it again with --name: nobody can name %r", image.digest, image.name
        )
    return good

"""Which image an author could name instead, when theirs lacks a library or a command."""

from __future__ import annotations

import logging

from store import images
from store.database import Database
from worker.images.held import HeldImages
from worker.images.libraries import holding
from worker.sandbox.protocol import SandboxUnavailable

log = logging.getLogger(__name__)


def approved_with(database: Database, held: HeldImages, name: str) -> tuple[str, ...]:
    """Images of this worker that hold a library or a command, and that the operator has approved."""
    try:
        stored = held.listed()
    except SandboxUnavailable as problem:
        log.error("the image store cannot be read: %s", problem)
        return ()
    with database.reading() as connection:
        approved = {image.digest for image in images.listed(connection) if image.is_approved}
    return holding(name, (image for image in stored if image.digest in approved))

"""What a worker checks before it takes original data, and what it tells the platform about itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from domain.errors import NotReady
from store import audit, images, releases
from store.database import Database
from store.keys import load_keys
from worker.certificate import public_key_pem
from worker.config import WorkerSettings
from worker.sandbox.host_image import HostImage
from worker.sandbox.preflight import check_host
from worker.sandbox.protocol import Feature


def check_worker(settings: WorkerSettings, image: HostImage) -> None:
    """Raises NotReady when this host cannot isolate runs or a key is missing."""
    keys = load_keys(settings.key_file)
    features = check_host(settings.scratch_folder, image)
    database = Database(settings.database_url)
    try:
        introduce(database, image, features, public_key=public_key_pem(keys.signing))
    finally:
        database.close()
    if problems := missing(features):
        raise NotReady("this host cannot isolate runs of original data:\n" + "\n".join(problems))


def missing(features: Sequence[Feature]) -> list[str]:
    """One line per required feature that is absent, with its fix."""
    return [
        f"- {feature.name}: {feature.detail}. {feature.fix}"
        for feature in features
        if feature.required and not feature.present
    ]


def introduce(database: Database, image: HostImage, features: Sequence[Feature], *, public_key: str) -> None:
    """Put the image, the certificate key and the isolation report on record."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        images.announce(
            connection,
            digest=image.digest,
            name=image.name,
            description="the host's own /usr and Python; for development and for data sets that allow it",
            now=now,
        )
        releases.publish_key(connection, public_key)
        audit.append(
            connection,
            at=now,
            actor="worker",
            action="worker.start",
            subject=image.digest,
            isolation={feature.name: feature.present for feature in features},
        )

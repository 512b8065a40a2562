"""What a worker checks before it takes original data, and what it tells the platform about itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from domain.errors import NotReady
from domain.image import ImageKind
from store import agreement, audit, images, releases
from store.database import Database
from store.keys import load_keys
from store.zone_ledger import ZoneLedger
from worker.announce import announce_images
from worker.certificate import public_key_pem
from worker.config import WorkerSettings
from worker.images.held import HeldImages
from worker.sandbox.backend_check import check_backend
from worker.sandbox.core.images import HostImage
from worker.sandbox.profiles import Feature, Profile


def check_worker(settings: WorkerSettings, image: HostImage) -> Sequence[Feature]:
    """What was found. Raises NotReady when this host cannot isolate runs, or the key or ledger is missing."""
    keys = load_keys(settings.key_file)
    ledger = ZoneLedger(settings.ledger_file, key=keys.ledger, sealing=keys.drawn)
    with ledger.reading():
        pass  # it is there; else each job would wait for it
    features = check_backend(settings, image, slots=settings.own_slots)
    database = Database(settings.database_url)
    try:
        agreement.enrol(ledger, database)
        introduce(database, image, features, settings.isolation, public_key=public_key_pem(keys.signing))
        held = HeldImages(image, settings.image_store_folder)
        announce_images(database, held, now=datetime.now(UTC))
    finally:
        database.close()
    if problems := missing(features, settings.isolation):
        raise NotReady(
            f"this host lacks what profile {settings.isolation.value} needs to isolate runs:\n"
            + "\n".join(problems)
        )
    return features


def missing(features: Sequence[Feature], profile: Profile) -> list[str]:
    """One line per absent feature that this profile needs, with its fix."""
    return [
        f"- {feature.name}: {feature.detail}. {feature.fix}" for feature in features if feature.stops(profile)
    ]


def introduce(
    database: Database,
    image: HostImage,
    features: Sequence[Feature],
    profile: Profile,
    *,
    public_key: str,
) -> None:
    """Put the image, the certificate key and the isolation report on record."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        images.announce(
            connection,
            digest=image.digest,
            name=image.name,
            description=ImageKind.HOST.use,
            now=now,
        )
        releases.publish_key(connection, public_key)
        audit.append(
            connection,
            at=now,
            actor="worker",
            action="worker.start",
            subject=image.digest,
            profile=profile.value,
            isolation={feature.name: feature.present for feature in features},
        )

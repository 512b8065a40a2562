"""The worker zone as one object: what a worker process may open. Made once per process, after the fork."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol

from domain.errors import NotReady
from store.data_keys import DataKeys
from store.database import Database
from store.keys import Keys, load_keys
from store.people import CohortPeople
from store.sealed_areas import SealedAreas
from store.zone_ledger import ZoneLedger
from worker.config import WorkerSettings
from worker.host_leases import HostLeases, leases_of
from worker.host_turns import HostTurns
from worker.images.held import HeldImages
from worker.images.in_memory import ImagesInMemory
from worker.sandbox.choice import BACKENDS, OpenSandbox, images_bytes, open_sandbox
from worker.sandbox.core.images import HostImage
from worker.sandbox.host_image import Looks
from worker.sandbox.profiles import Profile
from worker.sandbox.slot_cores import core_of, cores

LOCK_S = 10
"""The longest wait for what somebody holds in the database. The gateway's account may hold a row, a table or
the turn for ever; each message about it would keep one more process. The sweep sends it again."""


class Messages(Protocol):
    """What the route sends to the workers: ids, never data."""

    def run_job(self, job_id: str, *, in_s: float = 0) -> None: ...
    def run_chunk(self, job_id: str, number: int, *, in_s: float = 0) -> None: ...
    def publish(self, job_id: str, *, in_s: float) -> None: ...
    def import_dataset(self, dataset_id: str) -> None: ...
    def rehearse(self, rehearsal_id: str) -> None: ...
    def profile(self, profile_id: str) -> None: ...


@dataclass(frozen=True)
class WorkerZone:
    settings: WorkerSettings
    database: Database
    keys: Keys
    ledger: ZoneLedger
    sealed: SealedAreas
    people: CohortPeople
    images: HeldImages
    sandbox: OpenSandbox
    turns: HostTurns
    leases: HostLeases
    messages: Messages
    slot: int
    now: Callable[[], datetime]

    @property
    def image(self) -> HostImage:
        """This host's own."""
        return self.images.host

    @property
    def core(self) -> frozenset[int] | None:
        """Of this process's slot, for runs that go on beside others; None where the host has too few."""
        slots = self.settings.first_slot + self.settings.own_slots
        return core_of(self.slot, slots=slots, all_cores=cores())

    def is_isolated(self) -> bool:
        """Whether this process can isolate runs. A yes is kept; after a no the host is looked at again."""
        try:
            _check_isolation(self.sandbox, self.settings.isolation)  # type: ignore[arg-type]  # by identity
        except NotReady:
            return False
        return True

    def close(self) -> None:
        self.sandbox.close()
        self.images.close()
        self.database.close()


@lru_cache(maxsize=1)  # does not keep what it raises
def _check_isolation(sandbox: OpenSandbox, profile: Profile) -> None:
    if any(feature.stops(profile) for feature in sandbox.probe()):
        raise NotReady("this host cannot isolate runs")


def _memory_for_images(settings: WorkerSettings) -> ImagesInMemory | None:
    """None for a sandbox whose images are not of our store."""
    if not BACKENDS[settings.sandbox].has_own_images:
        return None
    return ImagesInMemory(settings.scratch_folder, most_bytes=images_bytes(settings))


def open_zone(settings: WorkerSettings, *, image: HostImage, messages: Messages, slot: int) -> WorkerZone:
    """Raises NotReady when a key or folder is missing."""
    keys = load_keys(settings.key_file)
    sandbox = open_sandbox(settings, image)
    return WorkerZone(
        settings=settings,
        database=Database(settings.database_url, lock_s=LOCK_S),
        keys=keys,
        ledger=ZoneLedger(settings.ledger_file, key=keys.ledger, sealing=keys.drawn),
        sealed=SealedAreas(
            snapshots=settings.snapshots_folder,
            participants=settings.participants_folder,
            keys=keys,
            data_keys=DataKeys(settings.data_keys_folder, lambda: load_keys(settings.key_file)),
        ),
        people=CohortPeople(settings.cohorts_folder, keys),
        images=HeldImages(
            image,
            settings.image_store_folder,
            _memory_for_images(settings),
            looks=Looks(image),
        ),
        sandbox=sandbox,
        turns=HostTurns(settings.scratch_folder, settings.sandbox, end_leftovers=sandbox.reap),
        leases=leases_of(settings),
        messages=messages,
        slot=settings.first_slot + slot,
        now=lambda: datetime.now(UTC),
    )

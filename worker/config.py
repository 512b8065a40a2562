"""Settings of a worker process. Read once from the environment (`DPGATE_...`); wrong ones fail at start."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.model import Slug
from domain.operation import LEAST_FREE_MIB
from worker.sandbox.choice import BACKENDS
from worker.sandbox.core.slot_user import FIRST_SLOT_UID
from worker.sandbox.profiles import Profile

if TYPE_CHECKING:
    BackendName = str
else:
    BackendName = Literal[tuple(BACKENDS)]


class WorkerSettings(BaseSettings):
    """Everything that differs between the embedded default and a full deployment."""

    model_config = SettingsConfigDict(env_prefix="DPGATE_", frozen=True)

    database_url: str
    broker_url: str
    # the worker zone: keys, sealed snapshots, deliveries, cohorts. No other process may read it
    zone_folder: Path
    # plain blocks live here while they run; must be a tmpfs
    scratch_folder: Path
    allow_disk_scratch: bool = False
    # how much of isolation this worker insists on before it takes original data
    isolation: Profile = Profile.STANDARD
    # how runs are isolated: a supervisor per slot, or a container per level of a run
    sandbox: BackendName = "supervised"
    # the largest input of one run: a larger one fails; default: what each slot's part of scratch holds
    input_mib: int | None = Field(None, ge=1, le=1_048_576)
    # of the scratch folder, for copies of images, which then never leave memory; default: a quarter of it
    images_in_memory_mib: int | None = Field(None, ge=0, le=1_048_576)
    # for the sandbox docker: its socket, the keeper's image by digest, a runtime it knows
    docker_socket: Path | None = None
    docker_keeper_image: str | None = None
    docker_runtime: str = "runc"
    # the host user of slot 0, and the runs that one keeper serves; the proxy must be given the same
    docker_first_uid: int = Field(FIRST_SLOT_UID, gt=0)
    docker_batch: int = Field(25, ge=1, le=200)
    # the most that is sent to a container for one run, and the largest input; the same for the proxy
    docker_block_mib: int = Field(256, ge=1, le=1_048_576)
    docker_view_mib: int = Field(2048, ge=1, le=1_048_576)
    # imported images: where slot users can get to; default: in the zone folder
    images_folder: Path | None = None
    # an environment that pipelines may use beside the host's /usr
    python_env: Path | None = None
    # parallel runs that a job may count on, over all workers: a public number, it fixes the time of release
    slots: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1, le=10_000)
    # of this worker alone: the processes that it starts; default: as many as there are slots
    processes: int | None = Field(None, ge=1, le=10_000)
    # hosts on which a job may count whose runs are alone on theirs: as public, and one run at a time on each
    hosts: int = Field(1, ge=1, le=10_000)
    # charged jobs of one user that have not ended: as public; default: 4, or as many as there are slots
    running_jobs: int | None = Field(None, ge=1, le=100_000)
    # the first slot of this worker on its host: two workers on one host need disjoint ranges
    first_slot: int = Field(0, ge=0, le=10_000)
    late_tick_s: float = Field(60, gt=0)
    max_attempts: int = Field(5, ge=1)
    prepare_timeout_s: float = Field(60, gt=0)
    lease_margin_s: float = Field(15, gt=0)
    sweep_every_s: float = Field(5, gt=0)
    resend_after_s: float = Field(30, gt=0)
    # what a trusted query's scan may use; it never spills to disk
    scan_memory_mib: int = Field(1024, ge=256, le=1_048_576)
    scan_threads: int = Field(2, ge=1, le=256)
    # how the operator's pages call this worker; default: after its host and first slot
    worker_name: Slug | None = None
    # whether data that came without a key of their rights holder may be charged without a mandate
    mandates: Literal["enrolled", "required"] = "enrolled"
    # what this process logs: as text, or each line a JSON object
    log_format: Literal["text", "json"] = "text"
    # a collector of OpenTelemetry traces (OTLP over HTTP)
    traces_endpoint: str | None = Field(None, pattern=r"^https?://")
    # written when the worker takes messages, for whoever started it
    ready_file: Path | None = None
    # what a participant level wrote is kept, sealed, for the next job of the same pipeline; days without use
    participant_outputs_days: float = Field(30, gt=0, le=3650)
    # with less than so many MiB left in its zone, the worker says that its disk is full
    least_free_mib: int = Field(LEAST_FREE_MIB, ge=0, le=1_048_576)
    max_delivery_file_bytes: int = Field(4 * 1024**3, gt=0)

    @field_validator("sandbox", mode="before")
    @classmethod
    def _one_that_is_left(cls, name: object) -> object:
        if name == "bubblewrap":
            raise ValueError(
                "there is no sandbox bubblewrap any more: set DPGATE_SANDBOX=supervised, which has the same "
                "walls and leaves fewer channels, or docker where `dpgate doctor` finds that none starts"
            )
        return name

    @property
    def own_slots(self) -> int:
        """Of this worker, one for each of its processes: nobody counts on them but its host."""
        return self.processes or self.slots

    @property
    def most_running(self) -> int:
        """Jobs of one user under way at once."""
        return self.running_jobs or max(4, self.slots)

    @property
    def name(self) -> str:
        if self.worker_name is not None:
            return self.worker_name
        host = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().partition(".")[0].lower()).strip("-")
        return f"{host[:50].rstrip('-') or 'worker'}-{self.first_slot}"

    @property
    def image_store_folder(self) -> Path:
        return self.images_folder or self.zone_folder / "images"

    @property
    def key_file(self) -> Path:
        return self.zone_folder / "master.key"

    @property
    def ledger_file(self) -> Path:
        return self.zone_folder / "ledger.sqlite"

    @property
    def data_keys_folder(self) -> Path:
        return self.zone_folder / "data-keys"

    @property
    def snapshots_folder(self) -> Path:
        return self.zone_folder / "snapshots"

    @property
    def cohorts_folder(self) -> Path:
        return self.zone_folder / "cohorts"

    @property
    def participants_folder(self) -> Path:
        return self.zone_folder / "participants"

    @property
    def deliveries_folder(self) -> Path:
        return self.zone_folder / "deliveries"

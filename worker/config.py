"""Settings of a worker process. Read once from the environment (`DPGATE_...`); wrong ones fail at start."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, SecretStr, field_validator
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
    """The same database as the gateway's."""
    broker_url: str
    """The same Redis as the gateway's."""
    message_key: SecretStr | None = None
    """The key under which messages carry a code, 64 hexadecimal digits as `openssl rand -hex 32`
    prints them; the same as the gateway's. Without it, the worker does not start."""
    zone_folder: Path
    """The worker zone: master key, sealed snapshots, deliveries, cohorts. No other process may read it."""
    scratch_folder: Path
    """Where plain blocks lie while they run; on a tmpfs. Workers of one host take turns there: give all of
    them the same folder, also where they are in containers."""
    allow_disk_scratch: bool = False
    """Let plain blocks lie on a disk. Not for original data."""
    isolation: Profile = Profile.STANDARD
    """The profile: how much of isolation the worker insists on before it takes original data. `dev` takes
    synthetic data sets only, `strict` data sets with padded timing only."""
    sandbox: BackendName = "supervised"
    """How runs are isolated: `supervised` forks each run from a supervisor per slot, `docker` starts a
    container for each level of a run."""
    input_mib: int | None = Field(None, ge=1, le=1_048_576)
    """The largest input of one run, in MiB; a larger one is a failed run. It must fit into the scratch
    folder's file system twice for each slot, and be the same for all workers. Default: what just fits beside
    the room for images. The sandbox `docker` has two settings of its own."""
    images_in_memory_mib: int | None = Field(None, ge=0, le=1_048_576)
    """Room of the scratch folder, in MiB, for copies of imported images, for all workers of a host together.
    Runs in a copy do not tell which files of their image others have read; those in an image without one do,
    and their certificates say so. `0`: no copies. Default: a quarter of the scratch folder's file system."""
    docker_socket: Path | None = None
    """For the sandbox `docker`: the socket of the proxy before the Docker daemon."""
    docker_keeper_image: str | None = None
    """For the sandbox `docker`: the image, by digest, of the platform's own part in a container."""
    docker_runtime: str = "runc"
    """For the sandbox `docker`: a runtime that the daemon knows, such as `runc`, `runsc` or `kata`."""
    # the proxy must be given the same, here and of the batch
    docker_first_uid: int = Field(FIRST_SLOT_UID, gt=0)
    """The host user of slot 0 in containers; a rootless daemon has 65536 at most."""
    docker_batch: int = Field(25, ge=1, le=200)
    """Runs that one keeper container serves; more cost less each."""
    docker_block_mib: int = Field(256, ge=1, le=1_048_576)
    """For the sandbox `docker`: the most that is sent to a container for one run. The proxy must be given the
    same."""
    docker_view_mib: int = Field(2048, ge=1, le=1_048_576)
    """For the sandbox `docker`: the largest input of a run whose parts others share. A slot takes up to twice
    as much memory for them. The proxy must be given the same."""
    images_folder: Path | None = None
    """Where imported images lie unpacked; default: `images` in the zone folder. Users of slots must be able
    to pass every folder on the way."""
    python_env: Path | None = None
    """A Python environment that pipelines find beside the host's `/usr`."""
    slots: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1, le=10_000)
    """Parallel runs that a job may count on, over all workers. Public: it fixes the time of release."""
    processes: int | None = Field(None, ge=1, le=10_000)
    """Processes of this worker, each with a slot of its own. Left out: as many as `slots`. With several
    hosts, each has its part of `slots`; more make nothing earlier that is padded, fewer over all hosts make
    releases late."""
    hosts: int = Field(1, ge=1, le=10_000)
    """Hosts on which a job may count whose runs are alone on theirs (policy `isolation: exclusive`), with one
    run at a time on each. Public, like `slots`."""
    running_jobs: int | None = Field(None, ge=1, le=100_000)
    """Jobs of one user that may be charged and not ended at the same time; further ones wait, uncharged.
    Public, like `slots`. Default: 4, or as many as there are slots."""
    first_slot: int = Field(0, ge=0, le=10_000)
    """The first slot of this worker on its host; two workers on one host need disjoint ranges."""
    late_tick_s: float = Field(60, gt=0)
    """A release that misses its public time waits for the next multiple of these seconds after it."""
    max_attempts: int = Field(5, ge=1)
    """How often the platform tries a step before the job becomes `ERRORED`."""
    prepare_timeout_s: float = Field(60, gt=0)
    """After this long in `PREPARING` the worker counts as gone."""
    lease_margin_s: float = Field(15, gt=0)
    """After so long without a sign of life a worker at its runs counts as gone; before its runs after four
    times as long, or the chunk's longest time and this, if that is less."""
    sweep_every_s: float = Field(5, gt=0)
    """How often lost messages and dead workers are looked for."""
    resend_after_s: float = Field(30, gt=0)
    """A message counts as lost after this long."""
    scan_memory_mib: int = Field(1024, ge=256, le=1_048_576)
    """Memory of the engine that answers trusted queries; it never writes to disk."""
    scan_threads: int = Field(2, ge=1, le=256)
    """Its threads."""
    worker_name: Slug | None = None
    """How the operator's pages call this worker; left out: after its host and first slot."""
    mandates: Literal["enrolled", "required"] = "enrolled"
    """`required`: data that came without a key of their rights holder are not charged either."""
    log_format: Literal["text", "json"] = "text"
    """`json`: each line of the log is a JSON object."""
    traces_endpoint: str | None = Field(None, pattern=r"^https?://")
    """A collector of OpenTelemetry traces (OTLP over HTTP); needs the extra `traces`."""
    ready_file: Path | None = None
    """Written when the worker takes messages."""
    participant_outputs_days: float = Field(30, gt=0, le=3650)
    """What participant levels wrote, sealed in the zone folder, goes after so many days without use. To drop
    it all now, remove the folder `participants` there while no job runs."""
    least_free_mib: int = Field(LEAST_FREE_MIB, ge=0, le=1_048_576)
    """With less than so many MiB left in its zone, the worker says that its disk is full, and the gateway is
    not ready."""
    max_delivery_file_bytes: int = Field(4 * 1024**3, gt=0)
    """The largest file that is imported."""

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

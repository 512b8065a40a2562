"""`dpgate doctor`: what this host offers an embedded platform, and what hostile pipelines achieve on it."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.channels import ChannelName, beyond_default_of
from domain.errors import NotReady
from domain.image import SyscallTable
from domain.operation import LEAST_FREE_MIB, is_full
from domain.surroundings import Backend as Made
from dpgate.embedded.home import Home
from dpgate.embedded.redis_binary import find_redis_server
from dpgate.errors import DpgateError
from dpgate.host_outlets import hidden_processes, quiet_log
from worker.host_turns import this_host
from worker.sandbox.backend_check import check_backend
from worker.sandbox.choice import open_sandbox
from worker.sandbox.core.images import HostImage
from worker.sandbox.core.scratch import default_scratch_root
from worker.sandbox.core.slot_user import FIRST_SLOT_UID
from worker.sandbox.host_features import check_bubblewrap, check_machine, check_worker_process
from worker.sandbox.host_image import describe
from worker.sandbox.needs import CONTROL, IMAGES_KEPT
from worker.sandbox.profiles import Feature, Profile
from worker.sandbox.protocol import Image, SandboxUnavailable

if TYPE_CHECKING:
    from worker.sandbox.battery import ProbeResult
    from worker.sandbox.gate.report import Report


MOST_PATHS = 6_000  # that a look of the gate looks at


@dataclass(frozen=True)
class Diagnosis:
    """What was found, judged by one profile."""

    profile: Profile
    features: tuple[Feature, ...]
    probes: tuple[ProbeResult, ...]  # empty: not run, or nothing could run
    gate: tuple[Report, ...] = ()  # of each way of running; empty: not asked for, or nothing could run
    sandbox: str = "supervised"

    @property
    def missing(self) -> tuple[Feature, ...]:
        """What the profile needs and this host lacks."""
        return tuple(feature for feature in self.features if feature.stops(self.profile))

    @property
    def failed(self) -> tuple[ProbeResult, ...]:
        """Attacks that worked."""
        return tuple(probe for probe in self.probes if probe.outcome.value == "failed")

    @property
    def residual(self) -> tuple[ProbeResult, ...]:
        """Channels that are known and documented, and stay open."""
        return tuple(probe for probe in self.probes if probe.outcome.value == "residual")

    @property
    def is_isolated(self) -> bool:
        return not self.missing and not self.failed and not self.open

    @property
    def open(self) -> tuple[Report, ...]:
        """Ways of running in which something moved that is on no list."""
        return tuple(report for report in self.gate if not report.is_closed)

    def channels_to_accept(self) -> dict[str, tuple[ChannelName, ...]]:
        """By image: what is open here for runs under the strict table, beyond the default sandbox."""
        strict = SyscallTable.STRICT
        if self.sandbox == "docker":
            return {"every image": beyond_default_of(Made.DOCKER, strict)}
        kept = any(feature.name == IMAGES_KEPT and feature.present for feature in self.features)
        return {
            "host-python": beyond_default_of(Made.COLD, strict, in_memory=False),
            "imported": beyond_default_of(Made.COLD, strict, in_memory=kept),
        }

    def counts(self) -> dict[str, int]:
        return dict(sorted(Counter(probe.outcome.value for probe in self.probes).items()))

    def as_json(self) -> dict[str, Any]:
        features = [
            vars(feature)
            | {"needed_from": feature.needed_from and feature.needed_from.value}
            | {"stops": feature.stops(self.profile)}
            for feature in self.features
        ]
        return {
            "isolation": self.profile.value,
            "is_isolated": self.is_isolated,
            "features": features,
            "channels_to_accept": {image: list(names) for image, names in self.channels_to_accept().items()},
            "battery": {
                "counts": self.counts(),
                "probes": [vars(probe) | {"outcome": probe.outcome.value} for probe in self.probes],
            },
            "gate": [report.as_json() for report in self.gate],
        }


@dataclass(frozen=True)
class Backend:
    """How a worker here would isolate runs: the settings of the same names, `own_slots` its processes."""

    sandbox: str = "supervised"
    docker_socket: Path | None = None
    docker_keeper_image: str | None = None
    docker_runtime: str = "runc"
    docker_first_uid: int = FIRST_SLOT_UID
    docker_batch: int = 25
    docker_block_mib: int = 256
    docker_view_mib: int = 2048
    own_slots: int = 1
    input_mib: int | None = None
    images_in_memory_mib: int | None = None
    scratch_folder: Path = field(default_factory=default_scratch_root)
    allow_disk_scratch: bool = False
    least_free_mib: int = LEAST_FREE_MIB


def diagnose(
    profile: Profile,
    *,
    backend: Backend,
    python_env: Path | None = None,
    slots: int | None = None,
    battery: bool = True,
    deep: bool = False,
    home: Home | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> Diagnosis:
    """Redis, room on the disks of a platform in `home`, the image, every feature that isolation rests on, and
    the quick part of the battery; `deep`: the gate, too.

    Raises nothing: an absence is a row. `slots` is how many runs a worker here would do at the same time.
    """
    slots = slots or os.cpu_count() or 1
    backend = replace(backend, own_slots=slots)
    places = [backend.scratch_folder] if home is None else [home.root, backend.scratch_folder]
    room = [_room(place, backend.least_free_mib) for place in places]
    if home is not None and home.has_database:
        room.append(_doors(home))
    try:
        image = describe(python_env)
    except SandboxUnavailable as error:
        lacking = _feature("image", present=False, detail=str(error))
        worker = check_worker_process(backend.scratch_folder, slots=slots)
        machine = check_machine(slots=slots)
        features = (
            _redis(),
            quiet_log(),
            hidden_processes(),
            *room,
            lacking,
            *check_bubblewrap(),
            *worker,
            *machine,
        )
        return Diagnosis(profile, features, (), (), backend.sandbox)
    say("looking at the host")
    named = _feature("image", present=True, detail=f"{image.name} {image.digest[:19]}...")
    features = (
        _redis(),
        quiet_log(),
        hidden_processes(),
        *room,
        named,
        *check_backend(backend, image, slots=slots),
    )
    runs = any(feature.name == CONTROL and feature.present for feature in features)
    probes = _battery(backend, image, say) if battery and runs else ()
    gate = _gate(backend, image, home, say) if deep and runs else ()
    return Diagnosis(profile, features, probes, gate, backend.sandbox)


def keep(found: Diagnosis, home: Home) -> str:
    """Put counts and names into the audit trail of the platform in `home`; a sentence on what came of it.

    Directly, not through the gateway: the platform need not be up, and whoever can read the operator's token
    and write the database is its operator.
    """
    if reason := _why_not(home):
        return f"The report was not kept: {reason}"
    from store.reports import keep_report

    try:
        keep_report(
            home.database_url,
            token=home.operator_token.read_text(encoding="ascii").strip(),
            action="doctor.report",
            subject="host",
            now=datetime.now(UTC),
            isolation=found.profile.value,
            features=len(found.features),
            absent=[feature.name for feature in found.features if not feature.present],
            missing=[feature.name for feature in found.missing],
            battery=found.counts(),
            failed=[probe.name for probe in found.failed],
            residual=[probe.name for probe in found.residual],
            gate={report.mode: len(report.findings) for report in found.gate},
        )
    except (NotReady, OSError) as error:
        return f"The report was not kept: {getattr(error, 'strerror', None) or error}."
    return f"The report is in the audit trail of the platform in {home.root}."


def _why_not(home: Home) -> str | None:
    if not home.has_database or not home.operator_token.exists():
        return f"there is no platform in {home.root}; name its folder with --home."
    if not home.is_ours:
        return f"the platform in {home.root} belongs to another user; run the doctor as that user."
    return None


def _battery(backend: Backend, image: HostImage, say: Callable[[str], None]) -> tuple[ProbeResult, ...]:
    from worker.sandbox.battery import Outcome, ProbeResult, run_quick

    say("running the quick part of the battery of hostile pipelines")
    try:
        with closing(open_sandbox(backend, image)) as sandbox:
            return run_quick(sandbox, _attacked(backend, image))
    except SandboxUnavailable as error:
        # the platform's own failure counts as an attack that nothing stopped
        return (ProbeResult("battery", "control", Outcome.FAILED, str(error).strip()[-300:]),)


def _gate(
    backend: Backend, image: HostImage, home: Home | None, say: Callable[[str], None]
) -> tuple[Report, ...]:
    """Of each way of running in the host's own image, and in R in whichever has it."""
    from worker.images.store import ImageStore
    from worker.sandbox.gate.host import search_host

    there = home is not None and home.images.is_dir()
    imported = ImageStore(home.images, host=image).listed() if home is not None and there else ()
    return tuple(
        search_host(lambda: closing(open_sandbox(backend, image)), image, imported, most=MOST_PATHS, say=say)
    )


def _attacked(backend: Backend, image: HostImage) -> Image:
    if backend.sandbox != "docker":
        return image
    from worker.sandbox.docker_engine.features import KeeperImage

    return KeeperImage(str(backend.docker_keeper_image))


def _redis() -> Feature:
    try:
        return _feature("redis-server", present=True, detail=str(find_redis_server()))
    except DpgateError as error:
        return _feature("redis-server", present=False, detail=str(error))


def _doors(home: Home) -> Feature:
    """Of this host's workers on record. Advised: they start all the same, and hold runs back."""
    from store.doors import doors_of_host

    found = doors_of_host(home.database_url, host=this_host())
    is_one = found is not None and len(set(found.values())) <= 1
    if found is None:
        detail = f"the platform in {home.root} does not say which workers it has"
    else:
        detail = f"{' and '.join(sorted(found)) or 'no worker'} of the platform in {home.root}"
    fix = "start all workers of this host again, as one user and with one DPGATE_SCRATCH_FOLDER"
    return Feature("one door for all runs of this host", None, is_one, detail, fix=fix)


def _room(place: Path, least_mib: int) -> Feature:
    """Where nothing is yet, of the folder in which it would be made. Advised: what lies there can be removed
    while the platform is up, and by it."""
    there = next(folder for folder in (place.absolute(), *place.absolute().parents) if folder.is_dir())
    free = shutil.disk_usage(there).free
    return Feature(
        f"room in {place}",
        None,
        present=not is_full(free=free, least_mib=least_mib),
        detail=f"{free >> 20} MiB are left",
        fix=f"free some, to have {least_mib} MiB at least, or take a larger disk",
    )


def _feature(name: str, *, present: bool, detail: str) -> Feature:
    # without these nothing of the platform starts, whatever its profile
    return Feature(name, Profile.DEV, present, detail, fix="")

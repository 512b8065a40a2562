"""What isolation by Docker rests on, asked of the daemon, and of a control pipeline that runs on it."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worker.sandbox.preflight import check_runs
from worker.sandbox.profiles import Feature, Profile
from worker.sandbox.protocol import MIB, SandboxUnavailable

from .engine import Engine
from .image_check import environment_of
from .settings import DockerSettings

if TYPE_CHECKING:
    from .sandbox import DockerSandbox

_SHARING_DRIVERS = ("overlay2", "overlayfs", "fuse-overlayfs", "btrfs", "zfs")
_MACHINES = {"x86_64": ("x86_64", "amd64"), "aarch64": ("aarch64", "arm64")}


@dataclass(frozen=True)
class KeeperImage:
    """The operator's image, in which the control pipeline runs too."""

    digest: str
    name: str = "of the keeper"


def check_daemon(sandbox: "DockerSandbox") -> tuple[Feature, ...]:
    """A few seconds. Never raises for an absent feature: it says what is absent and what to do."""
    settings = sandbox.settings
    try:
        engine = Engine(settings)
    except SandboxUnavailable as unavailable:
        return (_daemon(str(unavailable), present=False),)
    try:
        info = engine.info()
        features = (
            _daemon(f"version {engine.version()}", present=True),
            _runtime(settings, info),
            _machine(info),
            _filter(info),
            *_limits(info),
            _memory(settings, info),
            _keeper_image(engine, settings),
            _storage(info),
            _root_is_not_root(info),
        )
    except SandboxUnavailable as unavailable:
        return (_daemon(str(unavailable), present=False),)
    finally:
        engine.close()
    return (*features, *check_runs(sandbox, KeeperImage(settings.keeper_image)))


def _daemon(detail: str, *, present: bool) -> Feature:
    fix = "start the Docker daemon (20.10 or newer) and the proxy, and let the worker's user use its socket"
    return Feature("Docker daemon answers", Profile.DEV, present, detail, fix)


def _runtime(settings: DockerSettings, info: Mapping[str, Any]) -> Feature:
    known = sorted(info.get("Runtimes") or {})
    return Feature(
        "container runtime",
        Profile.DEV,
        settings.runtime in known,
        f"{settings.runtime} is chosen, the daemon has {', '.join(known)}",
        "choose one that the daemon has, or add it to the daemon's configuration",
    )


def _machine(info: Mapping[str, Any]) -> Feature:
    ours, theirs = platform.machine(), str(info.get("Architecture"))
    return Feature(
        "daemon and worker are of one kind of machine",
        Profile.DEV,
        theirs in _MACHINES.get(ours, ()),
        f"the worker's is {ours}, the daemon's {theirs}",
        "run the worker on the daemon's kind of machine: the system-call filter is made for the worker's",
    )


def _filter(info: Mapping[str, Any]) -> Feature:
    options = [str(option) for option in info.get("SecurityOptions") or ()]
    present = any(option.startswith("name=seccomp") for option in options)
    fix = "use a daemon and a kernel with seccomp: every container is started with a filter"
    return Feature("daemon can filter system calls", Profile.DEV, present, _listed(options), fix)


def _limits(info: Mapping[str, Any]) -> list[Feature]:
    """A limit that the kernel cannot keep is dropped by the daemon, with a warning at most."""
    wanted = (
        ("memory", "MemoryLimit", Profile.STANDARD),
        ("number of processes", "PidsLimit", Profile.STANDARD),
        ("processor time", "CpuCfsQuota", Profile.STRICT),
        ("swap", "SwapLimit", Profile.STRICT),
    )
    version = info.get("CgroupVersion", "1")
    fix = "enable the memory, pids and cpu controllers for the daemon (boot parameter swapaccount=1 for swap)"
    return [
        Feature(
            f"daemon can limit {what}",
            needed_from,
            bool(info.get(key)),
            f"control groups of version {version}, {info.get('CgroupDriver', 'no')} driver",
            fix,
        )
        for what, key, needed_from in wanted
    ]


def _memory(settings: DockerSettings, info: Mapping[str, Any]) -> Feature:
    """Where it lacks, an input that is allowed could still end as an error of its job."""
    needed, there = settings.slots * 2 * (settings.block_bytes + settings.view_bytes), info.get("MemTotal", 0)
    return Feature(
        "daemon's host has memory for the largest inputs",
        Profile.STRICT,
        needed <= there,
        f"{needed // MIB} MiB for {settings.slots} slots, of {there // MIB} MiB",
        "lower DPGATE_DOCKER_VIEW_MIB (and --view-mib of the proxy) or DPGATE_PROCESSES, or add memory",
    )


def _keeper_image(engine: Engine, settings: DockerSettings) -> Feature:
    fix = (
        "load an image of sandbox_images.bases with Python onto the daemon, and give its digest to the worker"
    )
    try:
        environment_of(engine, settings.keeper_image, name="of the keeper")
    except SandboxUnavailable as unavailable:
        return Feature("keeper's image", Profile.DEV, False, str(unavailable), fix)
    return Feature("keeper's image", Profile.DEV, True, settings.keeper_image, fix)


def _storage(info: Mapping[str, Any]) -> Feature:
    driver = str(info.get("Driver"))
    fix = "use the storage driver overlay2: others copy the image for each run"
    return Feature("containers share their image", None, driver in _SHARING_DRIVERS, driver, fix)


def _root_is_not_root(info: Mapping[str, Any]) -> Feature:
    options = [str(option) for option in info.get("SecurityOptions") or ()]
    present = any(option in ("name=userns", "name=rootless") for option in options)
    fix = "run the daemon rootless: a way out of a container then ends at an ordinary user"
    return Feature("root in a container is not the host's", None, present, _listed(options), fix)


def _listed(options: list[str]) -> str:
    return ", ".join(options) or "no security options"

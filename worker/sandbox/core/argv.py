"""The bwrap command line of a supervisor. What its runs get, the supervisor itself makes (confine.py)."""

from dataclasses import dataclass
from pathlib import Path

from worker.sandbox.protocol import MIB

from .given import ROOTS
from .images import HostImage, StoredImage
from .surroundings import BwrapImage, device_flags, interpreter_of, root_flags

RESEARCHERS_ROOT = "/img"
_START = """
import sys
sys.path.insert(0, "/run/dpgate/lib")
from sandbox_images.supervisor.main import main
main(sys.argv[1:])
"""
# Capabilities over the sandbox's own user namespace, each for a step of confine.py: namespaces and mounts;
# dropping the rest; ending a run; mapping a user (kernels since 5.12 refuse user 0 without it); answering
# (answers.py) into the memory of a run.
_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_KILL", "CAP_SETFCAP", "CAP_SYS_PTRACE")
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    # One thread: a fork copies only the thread that forks, and locks that others held stay locked.
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "BLIS")},
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # Arrow's allocator starts one at import
}


@dataclass(frozen=True)
class Places:
    """On the host, under opaque names; only the supervisor sees them."""

    library: Path  # our own code
    code: Path  # the researcher's
    blocks: Path  # blocks and parts that are too large to copy for each run
    roots: tuple[Path, ...] = ()  # below which parts lie already


def base_of(image: BwrapImage, host: HostImage, *, warm: bool) -> BwrapImage:
    """In which root the supervisor itself runs: never in a researcher's, whose Python nobody trusts."""
    return image if warm or isinstance(image, HostImage) else host


def build_argv(
    bwrap: Path,
    base: BwrapImage,
    image: BwrapImage,
    places: Places,
    *,
    etc: dict[str, int],
    channel: int,
) -> list[str]:
    """`etc` and `channel` are the descriptors that bwrap or the supervisor inherits."""
    flags = [
        *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        "--unshare-cgroup-try",
        *("--hostname", "sandbox"),
        *("--uid", "0", "--gid", "0"),  # bwrap grants capabilities only so; of its own user namespace
        *("--cap-drop", "ALL"),
        *(part for name in _CAPABILITIES for part in ("--cap-add", name)),
        "--as-pid-1",  # otherwise bwrap's own init shows the worker's environment in /proc/1/environ
        "--die-with-parent",
        "--new-session",
        *root_flags(base, etc),
        *device_flags(),
        *("--proc", "/proc"),  # uncovered: the kernel lets a run mount its own only where this one is whole
        *_places(base, places),
        *_researchers_root(base, image),
        *_environment(),
        *("--remount-ro", "/run/dpgate"),
        # last of the mounts: from here on nothing in here can be written, which the supervisor checks
        *("--remount-ro", "/"),
    ]
    return [str(bwrap), *flags, "--", interpreter_of(base), "-I", "-B", "-c", _START, str(channel)]


def _places(base: BwrapImage, places: Places) -> list[str]:
    made = () if isinstance(base, StoredImage) else ("/in", "/out", "/tmp", "/pipeline", RESEARCHERS_ROOT)  # noqa: S108
    flags = [part for place in made for part in ("--perms", "0755", "--dir", place)]
    flags += ["--perms", "0755", "--size", str(MIB), "--tmpfs", "/run/dpgate"]
    for name in ("in", "out", "empty"):
        flags += ["--perms", "0755", "--dir", f"/run/dpgate/{name}"]
    for name, path in (("lib", places.library), ("code", places.code), ("blocks", places.blocks)):
        flags += ["--ro-bind", str(path), f"/run/dpgate/{name}"]
    for number, root in enumerate(places.roots):
        flags += ["--ro-bind", str(root), f"{ROOTS}/{number}"]
    return [*flags, "--ro-bind", str(places.code), "/pipeline"]


def _researchers_root(base: BwrapImage, image: BwrapImage) -> list[str]:
    if base is image or not isinstance(image, StoredImage):
        return []
    return ["--ro-bind", str(image.rootfs), RESEARCHERS_ROOT]


def _environment() -> list[str]:
    flags = ["--clearenv", "--chdir", "/"]
    for name, value in _ENVIRONMENT.items():
        flags += ["--setenv", name, value]
    return flags

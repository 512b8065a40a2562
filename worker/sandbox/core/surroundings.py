"""What every pipeline finds around it, and its supervisor: root, devices, environment."""

from collections.abc import Mapping

from worker.sandbox.protocol import MIB, SandboxUnavailable, SlotOrder

from .images import HostImage, StoredImage

BwrapImage = HostImage | StoredImage

INSIDE_ID = 1000  # user and group in the sandbox, whatever they are outside
# Mapped but never touched: allocators and arrow reserve far more than they use.
ADDRESS_SPACE_SLACK = 2048 * MIB

# For the host image only; an imported image brings its own /etc.
ETC_FILES = {
    "passwd": "sandbox:x:1000:1000::/tmp:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
    "group": "sandbox:x:1000:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost sandbox\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_THREAD_COUNTS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "BLIS")
_DEFAULTS = {"PATH": DEFAULT_PATH, "LANG": "C.UTF-8"}  # an image may have its own
_FIXED = {
    "HOME": "/tmp",  # noqa: S108 - inside the sandbox
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
    # one core per slot: more threads would only fight, and each counts against the process limit
    **{f"{library}_NUM_THREADS": "1" for library in _THREAD_COUNTS},
}

# No /dev/zero: a shared mapping of it is memory that no process's resident size shows. No tty, no ptmx.
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}


def environment_for(image: BwrapImage, order: SlotOrder) -> dict[str, str]:
    """The image's own, then the platform's, then the pipeline's, which cannot name any of the platform's."""
    own = {"PATH": image.search_path} if isinstance(image, HostImage) else dict(image.environment)
    return {**_DEFAULTS, **own, **_FIXED, **order.environment}


def interpreter_of(image: BwrapImage) -> str:
    """The Python that runs a supervisor inside the image."""
    if image.interpreter is None:
        raise SandboxUnavailable(
            f"the image {image.name} has no Python 3.11 for a warm supervisor: approve it without --warm"
        )
    return str(image.interpreter)


def root_flags(image: BwrapImage, etc: Mapping[str, int]) -> list[str]:
    """The image, read-only. `etc` holds the descriptors of ETC_FILES; only a host image needs them."""
    if isinstance(image, StoredImage):
        return ["--ro-bind", str(image.rootfs), "/"]
    flags = [word for path in image.binds for word in ("--ro-bind", str(path), str(path))]
    for target, link in image.links:
        flags += ["--symlink", target, str(link)]
    flags += ["--perms", "0755", "--dir", "/etc"]
    for name, fd in etc.items():
        flags += ["--perms", "0444", "--file", str(fd), f"/etc/{name}"]
    return flags


def etc_files(image: BwrapImage) -> Mapping[str, str]:
    return {} if isinstance(image, StoredImage) else ETC_FILES


def device_flags() -> list[str]:
    """Not --dev: that is a writable tmpfs without a limit, with a terminal and a pseudo-terminal maker."""
    flags = ["--perms", "0755", "--size", str(MIB), "--tmpfs", "/dev"]
    flags += ["--perms", "0755", "--dir", "/dev/shm"]  # noqa: S108 - inside the sandbox
    for path in _DEVICES:
        flags += ["--dev-bind", path, path]
    for name, target in _DEVICE_LINKS.items():
        flags += ["--symlink", target, f"/dev/{name}"]
    return [*flags, "--remount-ro", "/dev"]

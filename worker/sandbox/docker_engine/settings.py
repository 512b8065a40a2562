"""What an operator chooses for the Docker backend, and what the backend and the proxy must agree on."""

import re
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox.core.slot_user import FIRST_SLOT_UID
from worker.sandbox.protocol import MIB, SandboxUnavailable

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class DockerSettings:
    """The worker needs no root, no path that the daemon shares, and no other right than to this socket."""

    socket: Path  # the daemon's or, better, the proxy's; a remote daemon's through a forwarded socket
    keeper_image: str  # sha256:... of an operator's image with Python 3.11 or newer
    keeper_python: str = "python3"  # as that image calls it
    runtime: str = "runc"  # or runsc, kata...: one of those that the daemon lists
    first_uid: int = FIRST_SLOT_UID  # a rootless daemon has 65536 users at most: take 20000 there
    batch: int = 25  # runs that one keeper serves; more cost less each, and hold more mounts
    block_bytes: int = 256 * MIB  # the most that is sent for one run, and the largest pipeline code
    view_bytes: int = 2048 * MIB  # the largest view; a slot takes up to twice as much memory for views
    slots: int = 1  # at the same time, over all workers: what the daemon's host must have memory for
    cores: tuple[int, ...] = ()  # slot n runs on core cores[n % len]; empty: wherever the kernel likes

    def __post_init__(self) -> None:
        check_digest(self.keeper_image, "the keeper's image")
        if not _NAME.fullmatch(self.runtime):
            raise SandboxUnavailable(f"not a runtime's name: {self.runtime!r}")
        if not self.socket.is_absolute():
            raise SandboxUnavailable(
                f"the Docker daemon must be reached through a socket file, not {str(self.socket)!r}; "
                "forward a remote daemon's socket with ssh -L"
            )
        if self.first_uid <= 0 or not 0 < self.batch <= 200 or min(self.block_bytes, self.view_bytes) < MIB:
            raise SandboxUnavailable(
                "first_uid must be above 0, batch 1 to 200, block_bytes and view_bytes 1 MiB or more"
            )

    def user(self, slot: int) -> int:
        """Kernel quotas are counted per host user, so slots share none."""
        return self.first_uid + slot

    def core(self, slot: int) -> str:
        return str(self.cores[slot % len(self.cores)]) if self.cores else ""


def check_digest(text: str, whose: str) -> None:
    """A tag may mean something else tomorrow, and asking for one may make a daemon fetch it."""
    if not _DIGEST.fullmatch(text):
        raise SandboxUnavailable(
            f"{whose} must be named by the digest that `docker image inspect --format '{{{{.Id}}}}'` "
            f"prints (sha256: and 64 hexadecimal digits), not {text!r}"
        )

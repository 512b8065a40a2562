"""What a run is given, in the form in which its supervisor takes it. A slot does not know who makes it."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from worker.sandbox.protocol import MIB

# Below this a view is copied into the run's own file system: no inode that another run sees, too.
VIEW_ABOVE_BYTES = 64 * MIB
BLOCKS, ROOTS = "/run/dpgate/blocks", "/run/dpgate/roots"  # where a supervisor sees what lies on this host


@dataclass(frozen=True)
class Given:
    """Memory files, by descriptor; -1: none. Without a block, `folder` is the name of a staged one."""

    block: int = -1
    folder: str | None = None
    before: int = -1
    parts: int = -1

    def request(self) -> tuple[dict[str, Any], list[int]]:
        """The message, and the descriptors in the order in which the supervisor takes them."""
        request = {"view": self.folder, "before": self.before >= 0, "parts": self.parts >= 0}
        return request, [fd for fd in (self.block, self.before, self.parts) if fd >= 0]


class Giver(Protocol):
    """One slot's."""

    @property
    def roots(self) -> tuple[Path, ...]:
        """Folders of this host below which inputs lie already; the supervisor sees them."""
        ...

    def takes(self, block: Mapping[str, bytes]) -> bool:
        """Whether a run may be given this; a larger one is the pipeline's failure."""
        ...

    def checked(self, block: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """What `given` takes. ValueError for a name that leaves the input."""
        ...

    def given(
        self, block: Mapping[str, bytes], before: Mapping[str, bytes]
    ) -> AbstractContextManager[Given]: ...

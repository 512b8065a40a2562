"""The images that this worker process can run pipelines in: the host's own, and those of the store."""

import logging
from pathlib import Path

from worker.sandbox.core.images import HostImage, StoredImage
from worker.sandbox.protocol import SandboxUnavailable

from .refusal import ImageDamaged, ImageNotFound
from .store import ImageStore

log = logging.getLogger(__name__)


class HeldImages:
    """Each stored image is verified once per process, before its first run."""

    def __init__(self, host: HostImage, folder: Path) -> None:
        self.host, self._folder = host, folder
        self._verified: dict[str, StoredImage] = {}

    def get(self, digest: str) -> HostImage | StoredImage | None:
        """None: this worker has no such image, or not unchanged; the log says which."""
        if digest == self.host.digest:
            return self.host
        if digest in self._verified and self._verified[digest].rootfs.is_dir():
            return self._verified[digest]
        try:
            store = self._store()
            image = store.get(digest)
            store.verify(image)
        except ImageNotFound:
            return None
        except (ImageDamaged, SandboxUnavailable) as problem:
            log.error("image %s: %s", digest, problem)
            return None
        self._verified[digest] = image
        return image

    def listed(self) -> tuple[StoredImage, ...]:
        """Those of the store; none where there is no store."""
        return self._store().listed() if self._folder.exists() else ()

    def _store(self) -> ImageStore:
        if not self._folder.exists():
            raise ImageNotFound(f"there is no image store at {self._folder}")
        return ImageStore(self._folder, host=self.host)

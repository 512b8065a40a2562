"""The images that this worker process can run pipelines in: the host's own, and those of the store."""

import logging
from pathlib import Path

from worker.sandbox.core.images import HostImage, StoredImage
from worker.sandbox.host_image import Looks
from worker.sandbox.protocol import SandboxUnavailable

from .in_memory import ImagesInMemory
from .refusal import ImageDamaged, ImageNotFound
from .store import ImageStore

log = logging.getLogger(__name__)


class HeldImages:
    """Each stored image is copied to memory, if that can be, and verified once per process, before its first
    run.
    """

    def __init__(
        self,
        host: HostImage,
        folder: Path,
        memory: ImagesInMemory | None = None,
        *,
        looks: Looks | None = None,
    ) -> None:
        """Without `memory`, runs are made in the store itself; without `looks`, the host's own image is taken
        to be as it was."""
        self.host, self._folder, self._memory, self._looks = host, folder, memory, looks
        self._verified: dict[str, StoredImage] = {}
        self._stored: dict[str, StoredImage] = {}  # the same in the store: what leaves it is not run any more

    def get(self, digest: str) -> HostImage | StoredImage | None:
        """None: this worker has no such image, or not unchanged; the log says which."""
        if digest == self.host.digest:
            return self.host if self._is_as_it_was() else None
        if digest in self._verified and self._is_there(digest):
            return self._verified[digest]
        try:
            image = self._ready(digest)
        except ImageNotFound:
            self._forget(digest)
            return None
        except (ImageDamaged, SandboxUnavailable) as problem:
            log.error("image %s: %s", digest, problem)
            return None
        self._verified[digest] = image
        return image

    def is_in_memory(self, digest: str) -> bool:
        """Whether runs in this image read a copy of which no part is ever fetched. Ask after `get`."""
        image = self._verified.get(digest)
        return (
            self._memory is not None
            and image is not None
            and self._memory.is_copy(image)
            and self._memory.why_not() is None
        )

    def remove_leftovers(self) -> None:
        """Copies in memory that dead workers have left."""
        if self._memory is not None:
            self._memory.remove_leftovers()

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()

    def listed(self) -> tuple[StoredImage, ...]:
        """Those of the store; none where there is no store."""
        return self._store().listed() if self._folder.exists() else ()

    def _is_as_it_was(self) -> bool:
        if self._looks is None or self._looks.is_unchanged():
            return True
        log.error("what runs see of this host was changed: start its workers again, and approve the image")
        return False

    def _is_there(self, digest: str) -> bool:
        return self._verified[digest].rootfs.is_dir() and self._stored[digest].rootfs.is_dir()

    def _forget(self, digest: str) -> None:
        image = self._verified.pop(digest, None)
        if self._memory is not None and image is not None:
            self._memory.drop(image)

    def _ready(self, digest: str) -> StoredImage:
        """What is verified is what runs are made in."""
        store = self._store()
        self._stored[digest] = image = store.get(digest)
        copy = self._memory.copy_of(image) if self._memory is not None else None
        if copy is None and self._let_go_of_others(digest):
            assert self._memory is not None
            copy = self._memory.copy_of(image)
        if self._memory is None or copy is None:
            store.verify(image)
            return image
        try:
            store.verify(copy)
        except ImageDamaged:
            self._memory.drop(image)
            raise
        return copy

    def _let_go_of_others(self, digest: str) -> bool:
        """Whether there were copies that this process held. It asks for an image between its runs, never
        beside one, so none is in use here; what another process of the host holds stays.
        """
        if self._memory is None or self._memory.why_not() is not None:
            return False
        held = [
            other
            for other, image in self._verified.items()
            if other != digest and self._memory.is_copy(image)
        ]
        for other in held:
            self._forget(other)
        return bool(held)

    def _store(self) -> ImageStore:
        if not self._folder.exists():
            raise ImageNotFound(f"there is no image store at {self._folder}")
        return ImageStore(self._folder, host=self.host)

"""Copies of stored images in memory, for runs to be made in: what one reads of its image, no other can tell.

A file on a disk is in memory from when somebody has read it until the host forgets it, and each run is told
by the kernel how much had to be fetched for it. A copy in the scratch folder is there from before the first
run on, with all that names and describes it.

All workers of a host with this scratch folder have one copy: `<scratch>/images/<tree digest>/`. Whoever uses
it holds a shared lock on that folder until he ends, however he ends. The last one to end in order removes
it; what the dead have left goes with a sweep, or when another copy is made. A copy is no better than its
source: who makes runs in it verifies it.
"""

import errno
import fcntl
import logging
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from sandbox_images.unpack.caps import Caps
from worker.sandbox.capacity import FILE_OVERHEAD
from worker.sandbox.core.images import StoredImage
from worker.sandbox.core.scratch import remove_tree
from worker.sandbox.kept_in_memory import why_not_kept

from .description import ROOTFS
from .walk import Entry, TooDeep, walk

log = logging.getLogger(__name__)
_FOLDER, _UNFINISHED = "images", ".unfinished"
_PASSABLE = 0o711
_PIECE = 1024 * 1024
_DEPTH = Caps().depth
_OPENED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CONTENT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ImagesInMemory:
    """Of one process, which must not fork while it has some: a child would hold its locks."""

    def __init__(self, scratch_root: Path, *, most_bytes: int) -> None:
        """`most_bytes`: of all copies of this host together."""
        self._scratch, self._most_bytes = scratch_root, most_bytes
        self._folder = scratch_root / _FOLDER
        self._held: dict[Path, int] = {}

    def why_not(self) -> str | None:
        """Why no copy is made on this host, or why one does not do what it is for; in words."""
        if self._most_bytes == 0:
            return "no room is set aside for it (DPGATE_IMAGES_IN_MEMORY_MIB)"
        return why_not_kept(self._scratch)

    def copy_of(self, image: StoredImage) -> StoredImage | None:
        """The image, its files in memory, not verified; this process holds them from here on. None: the log
        says why there is no copy.
        """
        reason = self.why_not() or self._made_and_held(image)
        if reason is not None:
            log.warning("the image %s (%s) is not kept in memory: %s", image.name, image.digest, reason)
            return None
        return replace(image, rootfs=self._place(image) / ROOTFS)

    def is_copy(self, image: StoredImage) -> bool:
        place = self._place(image)
        return place in self._held and image.rootfs == place / ROOTFS

    def drop(self, image: StoredImage) -> None:
        """Let go of it, and remove it unless others hold it, too."""
        place = self._place(image)
        if (held := self._held.pop(place, -1)) >= 0:
            os.close(held)
            with self._alone():
                _remove_if_nobody_holds(place)

    def remove_leftovers(self) -> None:
        """What the dead have left, unless somebody is at the copies just now."""
        with suppress(FileNotFoundError, BlockingIOError), self._alone(waits=False):
            self._remove_what_nobody_holds()

    def close(self) -> None:
        """Let go of all."""
        if not self._held:
            return
        with self._alone():
            while self._held:
                place, held = self._held.popitem()
                os.close(held)
                _remove_if_nobody_holds(place)

    def _place(self, image: StoredImage) -> Path:
        return self._folder / image.tree_digest.removeprefix("sha256:")

    def _made_and_held(self, image: StoredImage) -> str | None:
        place = self._place(image)
        with self._alone():
            try:
                if not place.exists():
                    entries = list(walk(image.rootfs, depth=_DEPTH))
                    needed = sum(map(_room_of, entries))
                    if not self._make_room(needed):
                        return f"it needs {needed} bytes, and copies in use leave less of {self._most_bytes}"
                    self._copy(image.rootfs, place)
                self._hold(place)
            except (OSError, TooDeep) as error:
                words = error.strerror if isinstance(error, OSError) else "folders lie too deep"
                return f"it cannot be copied to {self._folder}: {words}"
        return None

    @contextmanager
    def _alone(self, *, waits: bool = True) -> Iterator[None]:
        """While nobody else makes, takes or removes a copy. Without waiting it makes no folder either."""
        if waits:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._folder.chmod(_PASSABLE)
        folder = os.open(self._folder, _OPENED)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(folder)

    def _make_room(self, needed: int) -> bool:
        """Remove what the dead have left, finished or not; whether there is room then."""
        self._remove_what_nobody_holds()
        taken = sum(_room_of(entry) for entry in walk(self._folder, depth=_DEPTH + 2))
        return taken + needed <= self._most_bytes

    def _remove_what_nobody_holds(self) -> None:
        for place in list(self._folder.iterdir()):
            _remove_if_nobody_holds(place)

    def _hold(self, place: Path) -> None:
        folder = os.open(place, _OPENED)
        fcntl.flock(folder, fcntl.LOCK_SH)
        if (before := self._held.get(place, -1)) >= 0:  # of a copy that somebody has removed
            os.close(before)
        self._held[place] = folder

    def _copy(self, rootfs: Path, place: Path) -> None:
        """Under another name until it is whole."""
        unfinished = self._folder / _UNFINISHED  # of one process at a time
        unfinished.mkdir(mode=0o700)
        try:
            copy = unfinished / ROOTFS
            copy.mkdir(mode=0o700)
            folders = [(copy, rootfs.stat())]
            for entry in walk(rootfs, depth=_DEPTH):
                target = copy / os.fsdecode(entry.path)
                _copy_entry(entry, target)
                if entry.is_folder:
                    folders.append((target, entry.found))
            for folder, found in reversed(folders):
                _seal(folder, found)
            unfinished.chmod(_PASSABLE)
            unfinished.rename(place)
        except BaseException:
            remove_tree(unfinished)
            raise


def _remove_if_nobody_holds(place: Path) -> None:
    with suppress(FileNotFoundError):
        folder = os.open(place, _OPENED)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(place)
        except BlockingIOError:
            pass
        finally:
            os.close(folder)


def _room_of(entry: Entry) -> int:
    return entry.found.st_size * stat.S_ISREG(entry.found.st_mode) + FILE_OVERHEAD


def _copy_entry(entry: Entry, target: Path) -> None:
    """A file is written to its last byte: a hole is filled by who reads it first, and others see that."""
    if entry.is_folder:
        target.mkdir(mode=0o700)
    elif stat.S_ISLNK(entry.found.st_mode):
        target.symlink_to(os.readlink(entry.name, dir_fd=entry.parent))
        os.utime(target, ns=_times(entry.found), follow_symlinks=False)
    elif not stat.S_ISREG(entry.found.st_mode):
        raise OSError(errno.EINVAL, "it holds what is no file, folder or link")
    else:
        opened = os.open(entry.name, _CONTENT, dir_fd=entry.parent)
        with open(opened, "rb", buffering=0) as source, target.open("xb", buffering=0) as file:
            shutil.copyfileobj(source, file, _PIECE)
        _seal(target, entry.found)


def _seal(target: Path, found: os.stat_result) -> None:
    target.chmod(stat.S_IMODE(found.st_mode))
    os.utime(target, ns=_times(found))


def _times(found: os.stat_result) -> tuple[int, int]:
    return found.st_mtime_ns, found.st_mtime_ns

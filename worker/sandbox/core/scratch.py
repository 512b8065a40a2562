"""Where blocks lie while a run reads them: in memory, private, under names that say nothing, then gone.

One folder and one locked file per worker process: `<root>/<random>/` and `<root>/<random>.lock`. The kernel
drops the lock when the process dies, however it dies, which is how leftovers.py tells what is left from
folders in use. A process that forks shares the lock with its child, so open a Scratch after forking.
"""

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import Self

from worker.sandbox.protocol import SandboxUnavailable

from .slot_user import check_open_to_slots

_LONG_AGO = 946_684_800  # 2000-01-01: the time of every staged file, whenever it was staged
_DEPTH = 32
# Slots with users of their own must get to their blocks, but not see what else there is. Set by chmod: a
# worker's umask may be strict.
_PASSABLE = 0o711
_SHARED_LOCK = "slots"  # beside the folders of workers; it is empty and stays
_TMPFS, _RAMFS = "tmpfs", "ramfs"


def default_scratch_root() -> Path:
    """A tmpfs on every Linux that we know of, and open to all users."""
    return Path(f"/dev/shm/dpgate-{os.getuid()}")  # noqa: S108 - checked for owner and kind before use


def check_scratch_root(root: Path, *, allow_disk_scratch: bool) -> None:
    """Create it if need be. Refuses a folder that someone else could have prepared, and a disk."""
    if not root.exists():
        root.mkdir(mode=0o700)
        root.chmod(_PASSABLE)
    found = root.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise SandboxUnavailable(f"{root} must be a folder that only this worker's user can write")
    kind = file_system_of(root)
    if kind not in (_TMPFS, _RAMFS) and not allow_disk_scratch:
        raise SandboxUnavailable(
            f"{root} lies on {kind}, and blocks of original data must not reach a disk: "
            "choose a scratch root on tmpfs, or set allow_disk_scratch"
        )
    check_open_to_slots(root, listed=False)


def file_system_of(path: Path) -> str:
    """The kernel's name for the file system that holds `path`."""
    device = os.stat(path).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in Path("/proc/self/mountinfo").read_text(errors="replace").splitlines():
        fields, _, source = line.partition(" - ")
        if fields.split()[2] == wanted:
            return source.split()[0]
    return "an unknown file system"


class Scratch:
    """This process's folder. Close it, or let the next worker's leftovers.py do so."""

    def __init__(self, root: Path | None = None, *, allow_disk_scratch: bool = False) -> None:
        root = root or default_scratch_root()
        try:
            check_scratch_root(root, allow_disk_scratch=allow_disk_scratch)
            self._lock, self._lock_path = _new_lock(root)
            self.path = self._lock_path.with_suffix("")
            self.path.mkdir(mode=0o700)
            self.path.chmod(_PASSABLE)
        except OSError as error:
            raise SandboxUnavailable(
                f"{root} cannot be used for scratch: {error.strerror}; "
                "choose another scratch root on a tmpfs that this worker can write"
            ) from error

    def new_folder(self) -> Path:
        """An empty folder to stage in: for others to pass through, not to list."""
        folder = self.path / secrets.token_hex(16)
        folder.mkdir(mode=0o700)
        folder.chmod(_PASSABLE)
        return folder

    def stage(
        self,
        files: Mapping[str, bytes],
        *,
        owner: int,
        within: Path | None = None,
        executable: bool = False,
        folders: Collection[str] = (),
    ) -> Path:
        """Write `files` and `folders` below a new folder, for `owner` to read and for nobody to write."""
        for name in (*files, *folders):
            check_relative_path(name)
        folder = (within or self.path) / secrets.token_hex(
            16
        )  # the payload sees this name in /proc/self/mountinfo
        with ExitStack() as undo:
            try:
                folder.mkdir(mode=0o700)
                undo.callback(remove_tree, folder)
                _write_tree(folder, files)
                for name in folders:
                    (folder / PurePosixPath(name)).mkdir(mode=0o700, parents=True, exist_ok=True)
                seal_tree(folder, owner, mode=0o500 if executable else 0o400)
            except OSError as error:
                raise SandboxUnavailable(f"scratch could not be written: {error.strerror}") from error
            undo.pop_all()
        return folder

    @contextmanager
    def shared_lock(self) -> Iterator[int]:
        """A descriptor of its own of a file that all workers with this scratch root have in common."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self.path.parent / _SHARED_LOCK, flags, 0o600)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def close(self) -> None:
        if self._lock < 0:
            return
        try:
            remove_tree(self.path)
            self._lock_path.unlink()
        except OSError as error:  # out of descriptors: the next worker's reaper removes what is left
            raise SandboxUnavailable(f"{self.path} could not be removed: {error.strerror}") from error
        finally:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_relative_path(name: str) -> None:
    """Names come from the worker's own staging or from a parsed order; a bad one is a bug or a bad order."""
    parts = name.split("/")
    usable = all(part not in ("", ".", "..") and len(part.encode()) <= 255 for part in parts)
    if not usable or "\0" in name or len(parts) > _DEPTH:
        raise ValueError(f"not a relative path below a mount: {name!r}")


def remove_tree(folder: Path) -> None:
    """By descriptor and without recursion: a deep tree exhausts a recursive walker, a swapped name misleads
    one.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    stack = [(os.open(folder.parent, flags), [folder.name])]
    try:
        while stack:
            here, pending = stack[-1]
            if not pending:
                os.close(here)
                stack.pop()
            elif _removed(here, pending[-1]):
                pending.pop()
            else:
                there = os.open(pending[-1], flags, dir_fd=here)
                stack.append((there, os.listdir(there)))
                os.fchmod(there, 0o700)  # sealed folders do not let their owner delete
    finally:
        for here, _ in stack:
            os.close(here)


def _removed(here: int, name: str) -> bool:
    """False: a folder that is not empty yet."""
    try:
        os.unlink(name, dir_fd=here)
    except FileNotFoundError:
        return True
    except IsADirectoryError:
        try:
            os.rmdir(name, dir_fd=here)
        except OSError as error:
            if error.errno == errno.ENOTEMPTY:
                return False
            raise
    return True


def _write_tree(folder: Path, files: Mapping[str, bytes]) -> None:
    for parent in dict.fromkeys(name.rpartition("/")[0] for name in files):
        (folder / parent).mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in files.items():
        with open(f"{folder}/{name}", "wb") as file:
            file.write(content)


def seal_tree(folder: Path, owner: int, *, mode: int) -> None:
    """For `owner` to read and for nobody to write, at a time that says nothing."""
    for parent, _, names in os.walk(folder, topdown=False):
        for name in names:
            _seal(f"{parent}/{name}", mode, owner)
        _seal(parent, 0o500, owner)


def _seal(path: str, mode: int, owner: int) -> None:
    if os.getuid() == 0:
        os.chown(path, owner, owner)
        mode |= mode >> 3  # a slot's seats have users of their own, and its group
    os.chmod(path, mode)
    os.utime(path, (_LONG_AGO, _LONG_AGO))


def _new_lock(root: Path) -> tuple[int, Path]:
    while True:
        path = root / f"{secrets.token_hex(16)}.lock"
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if try_lock(lock) and os.fstat(lock).st_nlink == 1:
            return lock, path
        os.close(lock)  # a reaper took it between the two calls: it is gone, take another name


def try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
